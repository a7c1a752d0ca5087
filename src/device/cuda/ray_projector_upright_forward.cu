// SPDX-License-Identifier: Apache-2.0
// A of upright footprints. A block takes 128 rows of 32 neighbouring detector columns of a view (lanes along the rows)
// and goes through the volume layer by layer. Of each voxel column that its detector columns meet it computes once, in
// shared memory, what the rows see of it: t(v) = sum over z of share(v, z) x(z). Each detector column then adds these,
// weighed by its share of the voxel column. A ray is summed by one thread, layers and voxels ascending, wherever the
// block begins: the same bits for every cut.
//
// Cost with 2.5 pixels to a voxel, for each ray and layer: half a voxel column turned into rows, some 15 instructions
// and two loads; and 2.3 shares, each one product-sum and a quarter of a load.
#include "device/cuda/backproject_column.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_upright.cuh"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

constexpr int forward_warps = 8, forward_threads = 32 * forward_warps;
constexpr int rows_per_lane = 4, forward_rows = 32 * rows_per_lane;
constexpr unsigned forward_lanes = 0xffffffffu;
constexpr int nowhere = 1 << 30;  // beyond all layers and voxels

// The shares of voxels first ... first + count - 1 of a layer in a detector column.
struct alignas(16) ColumnShares {
  int first, count;
  float share[upright_shares];
};

__device__ void find_shares(const ColumnBeam& beam, int axis, int layer, const JosephGrid& grid, ColumnShares& shares) {
  shares.first = shares.count = 0;
  if (beam.axis != axis) return;
  const BeamLayer here = beam_layer(beam, layer);
  const int a = joseph_axis_a(axis);
  const int first = max(floor_of(here.a - here.on_a.half_foot + 0.5f), -grid.middle[a]);
  const int last = min(ceil_of(here.a + here.on_a.half_foot - 0.5f), grid.size[a] - grid.middle[a] - 1);
  shares.first = first;
  shares.count = min(max(last - first + 1, 0), upright_shares);
  for (int m = 0; m < shares.count; ++m) shares.share[m] = footprint_share(here.on_a, here.a, first + m);
}

// Layers in which a detector column can meet a voxel, and one or two more.
__device__ void layers_of(const ColumnBeam& beam, const JosephGrid& grid, int& first, int& last) {
  const int axis = beam.axis, a = joseph_axis_a(axis);
  double low = -grid.middle[axis], high = grid.size[axis] - grid.middle[axis];
  const double reach = 1.0 + fmax(footprint_reach(low, beam.da, beam.au0, beam.dau, 0, 0),
                                  footprint_reach(high, beam.da, beam.au0, beam.dau, 0, 0));
  clip_planes(beam.a0, beam.da, -reach - grid.middle[a], grid.size[a] + reach - grid.middle[a], low, high);
  if (!(low < high)) low = high = 0;
  first = static_cast<int>(low);
  last = static_cast<int>(high);
}

// What row v sees of a voxel column. Faces between voxels are at whole numbers.
template <int voxels_per_row>
__device__ float seen_of_column(const UprightForward& job, const float* column, float z0, float step, float per_step,
                                float v) {
  const float one = __fmaf_rn(v - 0.5f, step, z0 + 0.5f), two = __fmaf_rn(v + 0.5f, step, z0 + 0.5f);
  const float low = fminf(one, two), high = fmaxf(one, two);
  const float shifted = __fadd_rd(low, whole_shift), face = shifted - whole_shift;
  // Voxels that are not there are zeros: one row's worth on each side.
  const int k = min(max(__float_as_int(shifted) - whole_shift_bits, job.first - job.volume.zeros), job.last);
  const float* const voxel = column + k;
  const float first = __ldg(voxel);
  if constexpr (voxels_per_row == 2)
    return __fmaf_rn(__saturatef((high - face - 1.0f) * per_step), __ldg(voxel + 1) - first, first);
  float sum = first * (fminf(high - face, 1.0f) - (low - face));
  const int count = voxels_per_row > 0 ? voxels_per_row : job.voxels_per_row;
  for (int m = 1; m < count; ++m)
    sum = __fmaf_rn(__saturatef(high - face - static_cast<float>(m)), __ldg(voxel + m), sum);
  return sum * per_step;
}

template <int columns_per_warp, int voxels_per_row>
__global__ void __launch_bounds__(forward_threads, 4) upright_forward(const __grid_constant__ UprightForward job) {
  constexpr int tile = columns_per_warp * forward_warps;
  __shared__ ColumnBeam beam[tile];
  __shared__ ColumnShares shares[2][upright_layers][tile];
  __shared__ int low[2][upright_layers], high[2][upright_layers];
  __shared__ int first_layer[2], last_layer[2];
  __shared__ float4 seen[upright_columns][32];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int u0 = static_cast<int>(blockIdx.x) * tile, view = static_cast<int>(blockIdx.y);
  const int row0 = static_cast<int>(blockIdx.z) * forward_rows;
  const JosephGrid& grid = job.grid;
  if (thread < 2) {
    first_layer[thread] = nowhere;
    last_layer[thread] = -nowhere;
  }
  __syncthreads();
  if (thread < tile) {
    beam[thread].axis = -1;
    if (u0 + thread < job.rays.columns) {
      const ColumnBeam mine = column_beam(job.rays.view[view], grid, u0 + thread, job.middle_row);
      beam[thread] = mine;
      int first, last;
      layers_of(mine, grid, first, last);
      if (first < last) {
        atomicMin(&first_layer[mine.axis], first);
        atomicMax(&last_layer[mine.axis], last);
      }
    }
  }
  const UprightView map = job.maps[view];
  const float first_v = static_cast<float>(job.rays.first_row + row0 + lane - job.middle_row);
  float4 sum[columns_per_warp] = {};
  int turn = 0;  // shares are held twice: the next layers' while slower warps still read these
  __syncthreads();

  for (int axis = 0; axis < 2; ++axis) {
    const int end = last_layer[axis];
    for (int i0 = first_layer[axis], layers; i0 < end; i0 += layers, turn ^= 1) {
      layers = min(upright_layers, end - i0);
      if (warp * 32 < layers * tile) {
        const int l = thread / tile, c = thread % tile;
        int from = nowhere, to = -nowhere;
        if (l < layers) {
          ColumnShares& mine = shares[turn][l][c];
          find_shares(beam[c], axis, i0 + l, grid, mine);
          if (mine.count > 0) {
            from = mine.first;
            to = from + mine.count;
          }
        }
        for (int other = tile / 2; other > 0; other /= 2) {
          from = min(from, __shfl_xor_sync(forward_lanes, from, other));
          to = max(to, __shfl_xor_sync(forward_lanes, to, other));
        }
        if (c == 0 && l < layers) {
          low[turn][l] = from;
          high[turn][l] = max(to, from);
        }
      }
      __syncthreads();
      // Voxel columns low ... high - 1 of each layer follow each other, of as many layers as there is memory for.
      int begin[upright_layers] = {}, columns = 0, fit = 0;
#pragma unroll
      for (int l = 0; l < upright_layers; ++l) {
        begin[l] = columns;
        const int more = l < layers ? high[turn][l] - low[turn][l] : upright_columns + 1;
        if (l == fit && columns + more <= upright_columns) {
          columns += more;
          ++fit;
        }
      }
      layers = fit;
      for (int n = warp; n < columns; n += forward_warps) {
        int l = 0, start = 0;
#pragma unroll
        for (int m = 1; m < upright_layers; ++m)
          if (m < layers && n >= begin[m]) {
            l = m;
            start = begin[m];
          }
        const int i = i0 + l, j = low[turn][l] + n - start, x = axis == 0 ? i : j, y = axis == 0 ? j : i;
        const float fx = static_cast<float>(x), fy = static_cast<float>(y);
        const float z0 = at_column(map.z0, fx, fy), step = at_column(map.step, fx, fy);
        const float per_step = reciprocal(fabsf(step));
        const float* const column =
            job.volume.voxels +
            (static_cast<std::int64_t>(y + grid.middle[1]) * job.volume.nx + x + grid.middle[0]) * job.volume.pitch +
            job.volume.zeros - job.first;
        const auto row = [&](int q) {
          return seen_of_column<voxels_per_row>(job, column, z0, step, per_step, first_v + static_cast<float>(32 * q));
        };
        seen[n][lane] = {row(0), row(1), row(2), row(3)};
      }
      __syncthreads();
#pragma unroll
      for (int l = 0; l < upright_layers; ++l) {
        if (l >= layers) break;
#pragma unroll
        for (int c = 0; c < columns_per_warp; ++c) {
          const ColumnShares& mine = shares[turn][l][warp * columns_per_warp + c];
          const int count = mine.count, at = begin[l] + mine.first - low[turn][l];
          for (int m = 0; m < count; ++m) {
            const float share = mine.share[m];
            const float4 rows = seen[at + m][lane];
            sum[c].x = __fmaf_rn(share, rows.x, sum[c].x);
            sum[c].y = __fmaf_rn(share, rows.y, sum[c].y);
            sum[c].z = __fmaf_rn(share, rows.z, sum[c].z);
            sum[c].w = __fmaf_rn(share, rows.w, sum[c].w);
          }
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < columns_per_warp; ++c) {
    const int u = u0 + warp * columns_per_warp + c;
    const float sums[rows_per_lane] = {sum[c].x, sum[c].y, sum[c].z, sum[c].w};
#pragma unroll
    for (int q = 0; q < rows_per_lane; ++q) {
      const int row = row0 + lane + 32 * q;
      if (u >= job.rays.columns || row >= job.rays.rows) continue;
      const auto way = static_cast<float>(main_axis_ray(job.rays.view[view], u, job.rays.first_row + row).way_mm);
      job.rays.sums[(static_cast<std::int64_t>(view) * job.rays.rows + row) * job.rays.columns + u] = sums[q] * way;
    }
  }
}

constexpr int turn_side = 32, turn_lines = 8;

// Turned in shared memory, so that a warp both reads and writes neighbours.
__global__ void __launch_bounds__(turn_side* turn_lines)
    voxel_columns(const float* slab, const __grid_constant__ VoxelColumns columns) {
  __shared__ float part[turn_side][turn_side + 1];
  const int tx = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.z);
  const int x0 = static_cast<int>(blockIdx.x) * turn_side, z0 = static_cast<int>(blockIdx.y) * turn_side;
  for (int ty = static_cast<int>(threadIdx.y); ty < turn_side; ty += turn_lines) {
    const int x = x0 + tx, z = z0 + ty - columns.zeros;
    part[ty][tx] = x < columns.nx && z >= 0 && z < columns.slices
                       ? slab[(static_cast<std::int64_t>(z) * columns.ny + y) * columns.nx + x]
                       : 0.0f;
  }
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < turn_side; ty += turn_lines)
    if (x0 + ty < columns.nx && z0 + tx < columns.pitch)
      columns.voxels[(static_cast<std::int64_t>(y) * columns.nx + x0 + ty) * columns.pitch + z0 + tx] = part[tx][ty];
}

unsigned forward_blocks(std::int64_t n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

template <int columns_per_warp>
void launch_tiles(const UprightForward& job, cudaStream_t stream) {
  // Views in the middle: the same rows of neighbouring views see the same slices, which then come from the L2 cache.
  const dim3 blocks(forward_blocks(job.rays.columns, columns_per_warp * forward_warps),
                    static_cast<unsigned>(job.rays.views), forward_blocks(job.rays.rows, forward_rows));
  if (job.voxels_per_row == 2)
    upright_forward<columns_per_warp, 2><<<blocks, forward_threads, 0, stream>>>(job);
  else if (job.voxels_per_row == 3)
    upright_forward<columns_per_warp, 3><<<blocks, forward_threads, 0, stream>>>(job);
  else
    upright_forward<columns_per_warp, 0><<<blocks, forward_threads, 0, stream>>>(job);
}

}  // namespace

void launch_voxel_columns(const float* slab, const VoxelColumns& columns, cudaStream_t stream) {
  const dim3 blocks(forward_blocks(columns.nx, turn_side), forward_blocks(columns.pitch, turn_side),
                    static_cast<unsigned>(columns.ny));
  voxel_columns<<<blocks, dim3(turn_side, turn_lines), 0, stream>>>(slab, columns);
  check_launch("the columns of a volume");
}

void launch_upright_forward(const UprightForward& job, cudaStream_t stream) {
  if (job.tile == upright_widest_tile)
    launch_tiles<4>(job, stream);
  else if (job.tile == upright_widest_tile / 2)
    launch_tiles<2>(job, stream);
  else
    launch_tiles<1>(job, stream);
  check_launch("the projection of upright footprints");
}

}  // namespace lepus::cuda
