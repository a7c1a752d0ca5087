// SPDX-License-Identifier: Apache-2.0
// Morphology: a thread makes one word of 32 voxels; the rows of a ball of radius 5 are 81 times three words, nearly all
// of which neighbours have read before into the first cache. Distances: a thread for each voxel, neighbours in x side
// by side, so that columns along y and z are read in whole lines.
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"
#include "device/cuda/volume_kernels.h"
#include "device/device.h"
#include "project/ball_rows.h"
#include "project/bit_distance.h"

namespace lepus::cuda {
namespace {

constexpr unsigned threads_in_block = 256;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + threads_in_block - 1) / threads_in_block); }

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void spread_words(const std::uint32_t* bits, std::uint32_t* out, BitShape s, const BallRow* rows, int count,
                             std::uint32_t flip) {
  const std::int64_t i = thread_number();
  if (i >= s.words()) return;
  const std::int64_t row = i / s.row_words;
  out[i] = ball_word(bits, s, rows, count, flip, i % s.row_words, row % s.ny, row / s.ny);
}

__global__ void along_rows(const std::uint32_t* bits, std::int32_t* out, BitShape s) {
  const std::int64_t i = thread_number();
  if (i >= s.voxels()) return;
  out[i] = distance_in_row(bits + i / s.nx * s.row_words, s.nx, i % s.nx, no_distance);
}

// Columns of n values, `stride` apart: voxel i is number i / stride % n of its column.
__global__ void along_columns(const std::int32_t* in, std::int32_t* out, std::int64_t voxels, std::int64_t n,
                              std::int64_t stride) {
  const std::int64_t i = thread_number();
  if (i >= voxels) return;
  const std::int64_t at = i / stride % n;
  out[i] = minimum_in_column(in + (i - at * stride), n, stride, at);
}

class CudaVolumeKernels final : public VolumeKernels {
public:
  explicit CudaVolumeKernels(int device) : device_(device) {}

  void dilate(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
              Queue& queue) override {
    spread(bits, out, shape, radius, 0, queue);
  }
  void erode(const std::uint32_t* bits, std::uint32_t* out, const BitShape& shape, double radius,
             Queue& queue) override {
    spread(bits, out, shape, radius, ~std::uint32_t{0}, queue);
  }
  void squared_distances(const std::uint32_t* bits, std::int32_t* out, const BitShape& s, Queue& queue) override {
    use_device(device_);
    const ScratchScope scope(queue);
    std::int32_t* const between = queue.scratch<std::int32_t>(s.voxels());
    const unsigned blocks = blocks_for(s.voxels());
    along_rows<<<blocks, threads_in_block, 0, stream_of(queue)>>>(bits, out, s);
    check_launch("along_rows");
    along_columns<<<blocks, threads_in_block, 0, stream_of(queue)>>>(out, between, s.voxels(), s.ny, s.nx);
    along_columns<<<blocks, threads_in_block, 0, stream_of(queue)>>>(between, out, s.voxels(), s.nz, s.nx * s.ny);
    check_launch("along_columns");
  }

private:
  // `flip`: all ones to spread the zeros instead.
  void spread(const std::uint32_t* bits, std::uint32_t* out, const BitShape& s, double radius, std::uint32_t flip,
              Queue& queue) const {
    use_device(device_);
    const ScratchScope scope(queue);
    const std::vector<BallRow> rows = ball_rows(radius);
    BallRow* const there = queue.scratch<BallRow>(static_cast<std::int64_t>(rows.size()));
    queue.device().copy(there, rows.data(), static_cast<std::int64_t>(rows.size() * sizeof(BallRow)), queue);
    spread_words<<<blocks_for(s.words()), threads_in_block, 0, stream_of(queue)>>>(bits, out, s, there,
                                                                                   static_cast<int>(rows.size()), flip);
    check_launch("spread_words");
  }

  int device_;
};

}  // namespace

std::unique_ptr<VolumeKernels> make_volume_kernels(int device) { return std::make_unique<CudaVolumeKernels>(device); }

}  // namespace lepus::cuda
