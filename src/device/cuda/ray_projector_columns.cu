// SPDX-License-Identifier: Apache-2.0
// Joseph's A' where detector columns are parallel to z: the rays of a column then pass a plane at one place `a`, and
// their rows at evenly spaced z. A warp takes one (x, y) and 127 slices, lanes along z. For every column that passes
// less than a voxel away a lane sums the rows in its cell, the gap between slice z and the next: the part that belongs
// to the lower slice and the part that belongs to the upper one. So each row is read once, where a gather for each
// slice would read it twice; the upper part goes to the next lane once per face. Which cell a row belongs to is decided
// by one number, the first row of the cell, which both cells beside it compute alike: no row is lost or counted twice.
//
// Cost of 512^3 voxels, 496 views and 2.5 pixels to a voxel: 5 columns of 3 rows in about 35 instructions each, and 8
// wavefronts of the first-level cache, which limits together with the issue rate. 16 warps of 8 x 2 neighbouring (x, y)
// share a block: they read columns that overlap, and what all of them need about a column is computed once.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_faces.h"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

constexpr int tile_x = 8, tile_y = 2, warps = tile_x * tile_y, column_threads = 32 * warps;
constexpr int cells_per_lane = 4, cells = 32 * cells_per_lane, slices_per_block = cells - 1;
constexpr int tiles_across = 8;  // of a strip of tiles
constexpr unsigned column_lanes = 0xffffffffu;

LEPUS_HD constexpr int pieces_of(int n, int each) { return (n + each - 1) / each; }

// A column as one voxel column (x, y) sees it: row v meets z = z0 + v step, slice z meets row offset + z per_slice.
struct alignas(16) SeenColumn {
  float weight;  // on the plane's first axis; 0: it passes too far away
  float z0, step, per_slice, offset;
  int first;                  // of its values: index of row 0, less whole_shift_bits
  float low_cell, high_cell;  // cells outside see no row of it
};

__device__ SeenColumn seen_column(const ColumnAdjoint& job, int number, int slot, int x, int y) {
  SeenColumn column{};
  const bool on_x = job.face[number].axis == 0;
  const float fx = static_cast<float>(x - job.grid.middle[0]), fy = static_cast<float>(y - job.grid.middle[1]);
  const float plane = on_x ? fx : fy, a = on_x ? fy : fx;
  const ColumnMap& map = job.map[number];
  const auto column_at = [&](float at) {
    const float px = on_x ? fx : at, py = on_x ? at : fy;
    return __fdividef(__fmaf_rn(map.u[0], px, __fmaf_rn(map.u[1], py, map.u[2])),
                      __fmaf_rn(map.w[0], px, __fmaf_rn(map.w[1], py, map.w[2])));
  };
  constexpr float rounding = 0.02f;  // of a column, where coordinates are less than 10^5
  const int u = static_cast<int>(ceilf(fminf(column_at(a - 1), column_at(a + 1)) - rounding)) + slot;
  if (u < 0 || u >= job.columns) return column;
  const ColumnRays rays = job.rays[static_cast<std::int64_t>(number) * job.columns + u];
  const float weight = 1.0f - fabsf(__fmaf_rn(plane, rays.da, rays.a0) - a);
  if (!(weight > 0.0f)) return column;
  column.weight = weight;
  column.z0 = __fmaf_rn(plane, rays.dz, rays.z0);
  column.step = __fmaf_rn(plane, rays.dstep, rays.step0);
  column.per_slice = __frcp_rn(column.step);
  column.offset = -column.z0 * column.per_slice;
  column.first = (number * job.columns + u) * (job.rows.high - job.rows.low) - job.rows.low - whole_shift_bits;
  column.low_cell = floorf(__fmaf_rn(static_cast<float>(job.rows.low), column.step, column.z0)) - 2.0f;
  column.high_cell = ceilf(__fmaf_rn(static_cast<float>(job.rows.high), column.step, column.z0)) + 1.0f;
  return column;
}

// Adds the rows of a column that lie in cell z.
template <int rows_per_cell>
__device__ void add_cell(const ColumnAdjoint& job, const SeenColumn& column, float z, float low, float high,
                         float& lower, float& upper) {
  const auto first_row = [&](float slice) {
    return __fadd_ru(fminf(fmaxf(__fmaf_rn(slice, column.per_slice, column.offset), low), high), whole_shift);
  };
  const float from = first_row(z);
  const int rows = __float_as_int(first_row(z + 1.0f)) - __float_as_int(from);
  const float* const value = job.values + (column.first + __float_as_int(from));
  const float above = __fmaf_rn(from - whole_shift, column.step, column.z0 - z);  // of the first row, over slice z
  float sum = 0.0f, moment = 0.0f;
#pragma unroll
  for (int row = 0; row < rows_per_cell; ++row) {
    if (row > 1 && column.per_slice < static_cast<float>(row) - 0.01f) break;  // no cell of this column has so many
    const float here = row < rows ? __ldg(value + row) : 0.0f;
    sum += here;
    moment = __fmaf_rn(__fmaf_rn(static_cast<float>(row), column.step, above), here, moment);
  }
  lower = __fmaf_rn(column.weight, sum - moment, lower);
  upper = __fmaf_rn(column.weight, moment, upper);
}

template <int rows_per_cell>
__global__ void __launch_bounds__(column_threads, 2) column_adjoint(const __grid_constant__ ColumnAdjoint job) {
  __shared__ SeenColumn seen[column_threads];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // Blocks that run at the same time lie close together, and read the same columns from the second-level cache.
  const int chunks = pieces_of(job.z1 - job.z0, slices_per_block), tiles_y = pieces_of(job.grid.size[1], tile_y);
  const int block = static_cast<int>(blockIdx.x), tile = block / chunks, strip = tile / tiles_across;
  const int x0 = (strip / tiles_y * tiles_across + tile % tiles_across) * tile_x, y0 = strip % tiles_y * tile_y;
  const int x = x0 + warp % tile_x, y = y0 + warp / tile_x;
  // The first cell lies below the block's first slice.
  const int first_cell = job.z0 + block % chunks * slices_per_block - 1;
  const bool inside = x < job.grid.size[0] && y < job.grid.size[1];
  const std::int64_t slice = static_cast<std::int64_t>(job.grid.size[0]) * job.grid.size[1];
  float* const voxel =
      job.voxels + (first_cell - job.z0 + lane) * slice + static_cast<std::int64_t>(y) * job.grid.size[0] + x;
  const auto is_mine = [&](int k) {
    const int z = first_cell + lane + 32 * k;
    return inside && (k > 0 || lane > 0) && z < job.z1;
  };
  const float low = static_cast<float>(job.rows.low), high = static_cast<float>(job.rows.high);
  const float first_z = static_cast<float>(first_cell - job.grid.middle[2]);
  const float z = first_z + static_cast<float>(lane), end_z = static_cast<float>(job.z1 - job.grid.middle[2]);
  float total[cells_per_lane];
#pragma unroll
  for (int k = 0; k < cells_per_lane; ++k) total[k] = is_mine(k) ? voxel[32 * k * slice] : 0.0f;

  const int per_face = job.slots * warps, faces_at_once = column_threads / per_face;
  for (int first = 0; first < job.faces; first += faces_at_once) {
    __syncthreads();
    const int mine = static_cast<int>(threadIdx.x), place = mine / job.slots % warps;
    const int number = first + mine / per_face;
    if (number < job.faces && mine / per_face < faces_at_once && x0 + place % tile_x < job.grid.size[0] &&
        y0 + place / tile_x < job.grid.size[1])
      seen[mine] = seen_column(job, number, mine % job.slots, x0 + place % tile_x, y0 + place / tile_x);
    else
      seen[mine].weight = 0.0f;
    __syncthreads();
    for (int face = 0; face < min(faces_at_once, job.faces - first); ++face) {
      float lower[cells_per_lane] = {}, upper[cells_per_lane] = {};
      const SeenColumn* const columns = seen + face * per_face + warp * job.slots;
      bool begun = false;  // those that pass near the voxel follow each other
      for (int slot = 0; slot < job.slots; ++slot) {
        const SeenColumn column = columns[slot];
        if (!(column.weight > 0.0f)) {
          if (begun) break;
          continue;
        }
        begun = true;
#pragma unroll
        for (int k = 0; k < cells_per_lane; ++k) {
          const float cell = first_z + static_cast<float>(32 * k);
          if (cell > column.high_cell || cell + 31.0f < column.low_cell || cell >= end_z) continue;
          add_cell<rows_per_cell>(job, column, z + static_cast<float>(32 * k), low, high, lower[k], upper[k]);
        }
      }
      float below = 0.0f;  // lane 0: what lane 31's cell gives to the slice above it
#pragma unroll
      for (int k = 0; k < cells_per_lane; ++k) {
        const float turned = __shfl_sync(column_lanes, upper[k], (lane + 31) % 32);
        total[k] += lower[k] + (lane > 0 ? turned : below);
        below = turned;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < cells_per_lane; ++k)
    if (is_mine(k)) voxel[32 * k * slice] = total[k];
}

template <int rows_per_cell>
void launch_columns(const ColumnAdjoint& job, cudaStream_t stream) {
  const int strips = pieces_of(job.grid.size[0], tile_x * tiles_across) * pieces_of(job.grid.size[1], tile_y);
  const int blocks = strips * tiles_across * pieces_of(job.z1 - job.z0, slices_per_block);
  column_adjoint<rows_per_cell><<<static_cast<unsigned>(blocks), column_threads, 0, stream>>>(job);
}

}  // namespace

void launch_column_adjoint(const ColumnAdjoint& job, cudaStream_t stream) {
  if (job.rows_per_cell <= 1)
    launch_columns<1>(job, stream);
  else if (job.rows_per_cell == 2)
    launch_columns<2>(job, stream);
  else if (job.rows_per_cell == 3)
    launch_columns<3>(job, stream);
  else if (job.rows_per_cell == 4)
    launch_columns<4>(job, stream);
  else
    launch_columns<maximum_rows_per_cell>(job, stream);
  check_launch("Joseph's transpose by columns");
}

}  // namespace lepus::cuda
