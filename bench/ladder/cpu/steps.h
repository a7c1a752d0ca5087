// SPDX-License-Identifier: Apache-2.0
// The CPU's steps. Each adds all views of a problem to a volume, x fastest, in single precision, on all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/threads.h"
#include "bench/ladder/problem.h"

namespace lepus::ladder {

// View after view, voxel after voxel, as the definition is written.
void cpu_naive(const Problem& problem, float* volume, ThreadPool& threads);
// Blocks of voxels that stay in the cache while all views pass by.
void cpu_blocked(const Problem& problem, float* volume, ThreadPool& threads);
// The same with as many voxels of a line at once as a vector has lanes.
void cpu_simd(const Problem& problem, float* volume, ThreadPool& threads);
std::string cpu_simd_target();  // of the vectors: "AVX3"

// lepus' own kernels (src/device/host): for any matrices, and where the orbit is a circle with views a quarter turn
// apart as groups of four that share their coordinates.
class CpuOurs {
public:
  CpuOurs(const Problem& problem, ThreadPool& threads);  // brings the views into the kernels' order
  ~CpuOurs();
  CpuOurs(const CpuOurs&) = delete;
  CpuOurs& operator=(const CpuOurs&) = delete;

  std::string description() const;
  void run();                                           // sums all views from zero
  void read(const Truth& truth, float* sampled) const;  // the sum at the sampled voxels

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus::ladder
