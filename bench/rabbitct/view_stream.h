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

#include "core/threads.h"
#include "run/view_accumulator.h"

namespace lepus::rabbitct {

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

struct StreamSetup {
  std::int64_t columns = 0, rows = 0;  // of a view
  std::int64_t size = 0;               // of the volume
  std::int64_t block = 0;              // views that are summed at once; 0: what the device likes
};

class ViewStream {
public:
  // The device outlives it.
  ViewStream(const StreamSetup& setup, Device& device, ThreadPool& threads);

  std::string device() const { return device_.info().name; }          // what computes
  std::string description() const { return accumulator_->kernel(); }  // the kernel; known after the first block

  // How many views will come in all, where that is known before the first: the last blocks are then smaller, so that
  // little is left to do when the last view has come.
  void expect(std::int64_t views) { expected_ = views; }
  // Waits for views that came before where too many are still on their way: whoever hands them over is held to the
  // pace of the link. The view must not change before release_views returns.
  void add(const Matrix34& matrix, const float* view);
  void release_views() { accumulator_->release(); }
  // The sum of all views; nothing is added afterwards.
  void finish(float* volume);

private:
  std::int64_t next_size() const;

  Device& device_;
  ThreadPool& threads_;
  std::int64_t block_, views_ = 0;
  std::int64_t expected_ = 0, filling_ = 0;  // views in all (0: not known), of the block that is being filled
  VolumeGrid grid_;
  MatrixScale scale_;
  std::vector<Matrix34> waiting_;  // of the views of the block so far
  std::unique_ptr<ViewAccumulator> accumulator_;
};

// Floats on the host that the device reads and writes fastest, not initialised.
std::shared_ptr<float> host_floats(std::int64_t count, Device& device);

}  // namespace lepus::rabbitct
