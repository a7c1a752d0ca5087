// SPDX-License-Identifier: Apache-2.0
// Views come one after another, as from a scanner, and the volume is ready when the last has come: RabbitCT's protocol.
// In: filtered views (rows x columns, u fastest) with their matrices, in any scaling. Out: size^3 voxels, x fastest,
//   f += bilinear(u, v) / w^2 with w as the matrix gives it.
// Views are kept until there are as many as the kernel likes to sum at once; the matrices of views to come need not be
// known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/backend.h"
#include "core/threads.h"
#include <lepus/geometry.h>

namespace lepus::rabbitct {

struct StreamSetup {
  std::int64_t columns = 0, rows = 0;  // of a view
  std::int64_t size = 0;               // of the volume
  std::int64_t block = 0;              // views that are summed at once; 0: what the kernel likes
  int device = 0;                      // which GPU
  Precision precision = Precision::exact;
};

class ViewStream {
public:
  virtual ~ViewStream() = default;
  virtual std::string device() const = 0;       // what computes
  virtual std::string description() const = 0;  // the kernel; known after the first block
  // Host memory that views come from, and the volume goes to, fastest (page-locked for a GPU).
  virtual std::shared_ptr<float> host_memory(std::int64_t floats) const = 0;

  // How many views will come in all, where that is known before the first: the last blocks are then smaller, so that
  // little is left to do when the last view has come.
  virtual void expect(std::int64_t /*views*/) {}
  // Waits for views that came before where too many are still on their way: whoever hands them over is held to the
  // pace of the link. The view must not change before release_views returns.
  virtual void add(const Matrix34& matrix, const float* view) = 0;
  // Returns when the views that were added may be overwritten.
  virtual void release_views() = 0;
  // The sum of all views; nothing is added afterwards.
  virtual void finish(float* volume) = 0;
};

// Any backend that works on the host: "cpu", "reference", or one of make_cpu_backend's targets in tests.
std::unique_ptr<ViewStream> make_host_stream(std::unique_ptr<Backend> backend, const StreamSetup& setup,
                                             ThreadPool& threads);
// A GPU. Throws Error(unsupported) where there is none.
std::unique_ptr<ViewStream> make_device_stream(const StreamSetup& setup);
// By name: "cpu", "cuda", "reference", or "auto" (cuda where a GPU can be used, else cpu).
std::unique_ptr<ViewStream> make_view_stream(const std::string& backend, const StreamSetup& setup, ThreadPool& threads);

// RabbitCT's matrices as our kernels want them: w > 0 in front of the source and about 1 in the middle. Kernels divide
// by w^2 as the matrix gives it, so that views may differ in scale; all are divided by one common number, and the sum
// by its square. That number is 1 unless w is far from 1.
class MatrixScale {
public:
  // Throws Error(geometry) that names the view where the matrix cannot be used.
  Matrix34 scaled(const Matrix34& matrix, std::int64_t view);
  double volume_factor() const { return common_ == 0 ? 1 : 1 / (common_ * common_); }

private:
  double common_ = 0;  // 0: before the first view
};

}  // namespace lepus::rabbitct
