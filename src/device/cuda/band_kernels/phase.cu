// SPDX-License-Identifier: Apache-2.0
// The steps of phase retrieval around cuFFT's transform: tiles of frames out of a band, mirrored and shuffled; pairs of
// coefficients times the filter; rows back into the band.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/beam_kernels.h"

namespace lepus::cuda {
namespace {

constexpr unsigned phase_block = 128, phase_maximum = 65535;

unsigned phase_blocks(std::int64_t n) { return static_cast<unsigned>((n + phase_block - 1) / phase_block); }
unsigned phase_capped(std::int64_t n) { return static_cast<unsigned>(n < phase_maximum ? n : phase_maximum); }

__device__ float* tile_row(const TileBatch& batch, const PhaseTiles& tiles, std::int64_t item, std::int64_t y) {
  return batch.data + (item * tiles.height() + y) * batch.row_floats;
}

__global__ void gather_tiles(Planes frames, std::int64_t band_first, PhaseTiles tiles, TileBatch batch) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= frames.width) return;
  const std::int64_t height = tiles.height(), to = shuffled(x, frames.width);
  for (std::int64_t item = blockIdx.z; item < batch.views * batch.tiles; item += gridDim.z) {
    const std::int64_t view = batch.first_view + item / batch.tiles, tile = batch.first_tile + item % batch.tiles;
    for (std::int64_t y = blockIdx.y; y < height; y += gridDim.y)
      tile_row(batch, tiles, item, shuffled(y, height))[to] = frames.row(view, tiles.row(tile, y) - band_first)[x];
  }
}

__global__ void filter_tiles(PhaseFilter filter, const float2* row_twiddles, const float2* column_twiddles,
                             TileBatch batch) {
  const std::int64_t k2 = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k2 > filter.width / 2) return;
  const Complex32 w2{column_twiddles[k2].x, column_twiddles[k2].y};
  for (std::int64_t item = blockIdx.z; item < batch.views * batch.tiles; item += gridDim.z)
    for (std::int64_t k1 = blockIdx.y; k1 <= filter.height / 2; k1 += gridDim.y) {
      const std::int64_t partner = k1 == 0 ? 0 : filter.height - k1;
      auto* first = reinterpret_cast<float2*>(batch.data + (item * filter.height + k1) * batch.row_floats) + k2;
      auto* second = reinterpret_cast<float2*>(batch.data + (item * filter.height + partner) * batch.row_floats) + k2;
      const Complex32 w1{row_twiddles[k1].x, row_twiddles[k1].y};
      Complex32 a{first->x, first->y}, b{second->x, second->y};
      filter_pair(filter, k1, k2, w1, w2, a, b);
      *second = {b.re, b.im};
      *first = {a.re, a.im};
    }
}

__global__ void scatter_tiles(Planes frames, std::int64_t band_first, RowBand wanted, PhaseTiles tiles,
                              TileBatch batch) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= frames.width) return;
  const std::int64_t height = tiles.height(), from = shuffled(x, frames.width);
  for (std::int64_t view = blockIdx.z; view < batch.views; view += gridDim.z)
    for (std::int64_t row = wanted.first + blockIdx.y; row < wanted.last; row += gridDim.y) {
      const std::int64_t tile = row / tiles.inner, y = row - tile * tiles.inner + tiles.halo;
      const std::int64_t item = view * batch.tiles + tile - batch.first_tile;
      frames.row(batch.first_view + view, row - band_first)[x] =
          tile_row(batch, tiles, item, shuffled(y, height))[from];
    }
}

}  // namespace

void launch_gather_tiles(const Planes& frames, std::int64_t band_first, const PhaseTiles& tiles, const TileBatch& batch,
                         cudaStream_t stream) {
  const dim3 blocks(phase_blocks(frames.width), phase_capped(tiles.height()), phase_capped(batch.views * batch.tiles));
  gather_tiles<<<blocks, phase_block, 0, stream>>>(frames, band_first, tiles, batch);
  check_launch("gather_tiles");
}

void launch_phase_filter(const PhaseFilter& filter, const float2* row_twiddles, const float2* column_twiddles,
                         const TileBatch& batch, cudaStream_t stream) {
  const dim3 blocks(phase_blocks(filter.width / 2 + 1), phase_capped(filter.height / 2 + 1),
                    phase_capped(batch.views * batch.tiles));
  filter_tiles<<<blocks, phase_block, 0, stream>>>(filter, row_twiddles, column_twiddles, batch);
  check_launch("filter_tiles");
}

void launch_scatter_tiles(const Planes& frames, std::int64_t band_first, RowBand wanted, const PhaseTiles& tiles,
                          const TileBatch& batch, cudaStream_t stream) {
  const dim3 blocks(phase_blocks(frames.width), phase_capped(wanted.size()), phase_capped(batch.views));
  scatter_tiles<<<blocks, phase_block, 0, stream>>>(frames, band_first, wanted, tiles, batch);
  check_launch("scatter_tiles");
}

}  // namespace lepus::cuda
