// SPDX-License-Identifier: Apache-2.0
// Backprojection as it is written in a textbook, one thread per voxel, with the formulas of src/project/ as they stand:
// every interpolation, every beam, from linear memory in single precision. For nearest and cubic.
#include <cstdint>

#include "device/cuda/backproject_launch.h"
#include "device/cuda/backproject_tile.cuh"
#include "device/cuda/cuda_check.h"
#include "project/detector_point.h"
#include "project/interpolate.h"

namespace lepus::cuda {
namespace {

using PlainTile = Tile<Lanes::along_x, 2, 4>;

template <Interpolation interpolation>
__global__ void __launch_bounds__(PlainTile::threads)
    plain_kernel(const __grid_constant__ ViewBlock views, const SlabOnDevice slab, Beam beam) {
  const int x = static_cast<int>(blockIdx.x) * PlainTile::nx + PlainTile::x(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * PlainTile::ny + PlainTile::y(threadIdx.x);
  const int z = slab.z0 + static_cast<int>(blockIdx.z);
  if (x >= slab.nx || y >= slab.ny) return;
  float& voxel = slab.data[(static_cast<std::int64_t>(blockIdx.z) * slab.ny + y) * slab.nx + x];
  float sum = voxel;
  for (int i = 0; i < views.count; ++i) {
    const ViewOnDevice& view = views.view[i];
    float matrix[12];
#pragma unroll
    for (int j = 0; j < 4; ++j) matrix[j] = view.u[j], matrix[4 + j] = view.v[j], matrix[8 + j] = view.w[j];
    const auto p = detector_point(matrix, beam, static_cast<float>(x - slab.x0), static_cast<float>(y - slab.y0),
                                  static_cast<float>(z - slab.middle_z));
    if (!in_front_of_source(p.w)) continue;
    const int first_row = static_cast<int>(view.first_row) + slab.row0;
    const auto pixel = [&](std::int64_t column, std::int64_t row) {
      const std::int64_t held = row - first_row;
      return held < 0 || held >= slab.band_rows ? 0.0f : view.pixels[held * slab.columns + column];
    };
    sum += distance_weight(beam, p.w) *
           sample<float>(interpolation, slab.columns, slab.detector_rows, p.u, p.v, pixel, slab.column0, slab.row0);
  }
  voxel = sum;
}

}  // namespace

void launch_plain(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  const dim3 grid(tiles(slab.nx, PlainTile::nx), tiles(slab.ny, PlainTile::ny), slab.z1 - slab.z0);
  const auto run = [&](auto kernel) {
    kernel<<<grid, PlainTile::threads, 0, launch.stream>>>(views, slab, launch.beam);
    check_launch("the plain backprojection");
  };
  switch (launch.interpolation) {
    case Interpolation::nearest:
      return run(plain_kernel<Interpolation::nearest>);
    case Interpolation::linear:
      return run(plain_kernel<Interpolation::linear>);
    case Interpolation::cubic:
      return run(plain_kernel<Interpolation::cubic>);
  }
}

}  // namespace lepus::cuda
