// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/view_stream.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include "bench/rabbitct/format.h"
#include <lepus/error.h>

namespace lepus::rabbitct {
namespace {

// On a device the last blocks are half of what is still to come, but not smaller: below, a block is the volume's own
// way in and out.
constexpr std::int64_t smallest_block = 8;

AccumulatorSetup accumulator_setup(const StreamSetup& setup) {
  AccumulatorSetup accumulator;
  accumulator.detector.columns = setup.columns;
  accumulator.detector.rows = setup.rows;
  accumulator.grid = grid_of(setup.size);
  accumulator.rows = {0, setup.rows};
  return accumulator;
}

}  // namespace

Matrix34 MatrixScale::scaled(const Matrix34& matrix, std::int64_t view) {
  (void)normalised(matrix, Beam::cone, view);  // refuses what cannot be used
  const double w = matrix(2, 3);
  // Kernels ask whether w is above some hundredths before they trust their coordinates.
  if (common_ == 0) common_ = std::abs(w) >= 0.25 && std::abs(w) <= 4 ? 1 : std::abs(w);
  if (const double ratio = std::abs(w) / common_; !(ratio >= 0.05 && ratio <= 20))
    throw Error(
        ErrorKind::geometry,
        {.what = "the matrices of the views differ too much in scale",
         .where = format("view {}", view),
         .why = format("the depth w of the volume's middle is {:.6g}, in the first view about {:.6g}", w, common_),
         .hint = "check the matrix: its weight 1/w^2 would drown the other views, or drown in them"});
  Matrix34 scaled = matrix;
  for (double& number : scaled.m) number /= w < 0 ? -common_ : common_;
  return scaled;
}

ViewStream::ViewStream(const StreamSetup& setup, Device& device, ThreadPool& threads)
    : device_(device), threads_(threads), block_(setup.block), grid_(grid_of(setup.size)) {
  AccumulatorSetup accumulator = accumulator_setup(setup);
  if (block_ == 0) block_ = ViewAccumulator::usual_block(accumulator, device);
  accumulator.block = block_;
  accumulator_ = std::make_unique<ViewAccumulator>(accumulator, device, threads);
}

// Of the block that begins with the next view.
std::int64_t ViewStream::next_size() const {
  const std::int64_t to_come = expected_ - views_;
  if (to_come <= 0 || device_.info().host) return block_;
  return std::min(block_, std::max(smallest_block, to_come / 2));
}

void ViewStream::add(const Matrix34& matrix, const float* view) {
  if (waiting_.empty()) filling_ = next_size();
  waiting_.push_back(scale_.scaled(matrix, views_));
  ++views_;
  accumulator_->send(static_cast<std::int64_t>(waiting_.size()) - 1, view);
  if (static_cast<std::int64_t>(waiting_.size()) < filling_) return;
  accumulator_->sum(waiting_);
  waiting_.clear();
}

void ViewStream::finish(float* volume) {
  accumulator_->finish(waiting_, volume);
  waiting_.clear();
  const auto factor = static_cast<float>(scale_.volume_factor());
  if (factor == 1.0F) return;
  threads_.parallel_for(0, grid_.voxels(), 1 << 20, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) volume[i] *= factor;
  });
}

std::shared_ptr<float> host_floats(std::int64_t count, Device& device) {
  const Block memory = device.allocate(count * static_cast<std::int64_t>(sizeof(float)), Place::host);
  return {memory, reinterpret_cast<float*>(memory.get())};
}

}  // namespace lepus::rabbitct
