// SPDX-License-Identifier: Apache-2.0
// A' of upright footprints. A warp takes one voxel column (x, y) and up to 128 of its slices. For each view it first
// sums the detector columns that see the voxel column, each by its share: lanes along the rows, four of them at a time,
// into shared memory. Then lanes go along z, and every voxel adds the rows that meet it, the first and the last in
// part. What depends on (x, y) alone is computed once for the block, whose 16 warps are 4 x 4 neighbours and read
// columns that overlap. A voxel's sum over a view depends on nothing but the rows: the same bits for every cut.
//
// Cost with 2.5 pixels to a voxel, for each voxel and view: 4.6 columns of 2.5 rows, two instructions for each and a
// quarter of a load; and 3.5 rows from shared memory, three instructions each.
#include "device/cuda/backproject_column.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_upright.cuh"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

constexpr int places_x = 4, places_y = 4, places = places_x * places_y, adjoint_threads = 32 * places;
constexpr int slices_per_lane = upright_slices / 32;
constexpr int rows_at_once = 128, gathers = upright_rows / rows_at_once;  // four rows to a lane
constexpr int maximum_seen = adjoint_threads / upright_slots[0];          // of voxel columns and views at once

// A voxel column in a view: detector columns first ... first + count - 1 see it, and the face z - 1/2 below slice z is
// seen at v0 + (z - 1/2) per_slice, where row v is between v and v + 1.
struct alignas(16) SeenVoxels {
  int first, count;
  float v0, per_slice;
};

__device__ SeenVoxels seen_voxels(const UprightAdjoint& job, const UprightView& map, float x, float y) {
  float from = 1e30f, to = -1e30f;
#pragma unroll
  for (int corner = 0; corner < 4; ++corner) {
    const float cx = x + (corner % 2 == 0 ? -0.5f : 0.5f), cy = y + (corner < 2 ? -0.5f : 0.5f);
    const float u = __fdividef(at_column(map.u, cx, cy), at_column(map.w, cx, cy));
    from = fminf(from, u);
    to = fmaxf(to, u);
  }
  // A column that only its own half width reaches, and what rounding and the footprint's straight sides may differ by.
  constexpr float more = 0.5f + 0.1f;
  SeenVoxels seen;
  seen.first = static_cast<int>(fmaxf(ceilf(from - more), 0.0f));
  const int last = static_cast<int>(fminf(floorf(to + more), static_cast<float>(job.columns - 1)));
  seen.count = min(max(last - seen.first + 1, 0), job.slots);
  seen.per_slice = refined_reciprocal(at_column(map.step, x, y));
  seen.v0 = __fmaf_rn(-at_column(map.z0, x, y), seen.per_slice, 0.5f);
  return seen;
}

__device__ float column_share(const ColumnBeam& beam, int x, int y) {
  const BeamLayer here = beam_layer(beam, beam.axis == 0 ? x : y);
  return footprint_share(here.on_a, here.a, beam.axis == 0 ? y : x);
}

// Sums `count` columns from `column` on, by their shares; lane n has rows 4 n ... 4 n + 3 of every 128 from `row` on.
template <int parts>
__device__ void gather_columns(const float* column, int pitch, int row, const float* share, int count, float4* rows) {
  float4 sum[parts] = {};
  bool held[parts];
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int at = row + part * rows_at_once;
    held[part] = at >= 0 && at < pitch;
  }
#pragma unroll 2
  for (int n = 0; n < count; ++n, column += pitch) {
    const float by = share[n];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (!held[part]) continue;
      const float4 four = __ldg(reinterpret_cast<const float4*>(column + row + part * rows_at_once));
      sum[part].x = __fmaf_rn(by, four.x, sum[part].x);
      sum[part].y = __fmaf_rn(by, four.y, sum[part].y);
      sum[part].z = __fmaf_rn(by, four.z, sum[part].z);
      sum[part].w = __fmaf_rn(by, four.w, sum[part].w);
    }
  }
#pragma unroll
  for (int part = 0; part < parts; ++part) rows[part * 32] = sum[part];
}

// Adds a view to a warp's voxels: slice lane + 32 k of those from z on.
__device__ void add_view(const UprightAdjoint& job, const SeenVoxels& seen, const float* share, const float* values,
                         float* rows, int lane, float z, int slices, float total[slices_per_lane]) {
  const float below = __fmaf_rn(z - 0.5f, seen.per_slice, seen.v0),
              above = __fmaf_rn(z + static_cast<float>(slices) - 0.5f, seen.per_slice, seen.v0);
  const int first = floor_of(fminf(below, above)) - job.low, end = floor_of(fmaxf(below, above)) - job.low + 1;
  if (end <= 0 || first >= job.rows) return;
  const int start = first & ~3;  // float4 from here on
  const float* const column = values + static_cast<std::int64_t>(seen.first) * job.pitch;
  auto* const mine = reinterpret_cast<float4*>(rows) + lane;
  // One row more than there are: a voxel asks for it, with a weight of zero.
  const int needed = end + 1 - start, row = start + 4 * lane;
  if (needed <= rows_at_once)
    gather_columns<1>(column, job.pitch, row, share, seen.count, mine);
  else if (needed <= 2 * rows_at_once)
    gather_columns<2>(column, job.pitch, row, share, seen.count, mine);
  else if (needed <= 3 * rows_at_once)
    gather_columns<3>(column, job.pitch, row, share, seen.count, mine);
  else
    gather_columns<gathers>(column, job.pitch, row, share, seen.count, mine);
  __syncwarp();
  // Rows are counted from the detector's middle, not from the first one that is here: the same bits for every cut.
  const float* const from_middle = rows - (job.low + start) - whole_shift_bits;
  const float* at[slices_per_lane];
  float beyond[slices_per_lane], sum[slices_per_lane];
#pragma unroll
  for (int k = 0; k < slices_per_lane; ++k) {
    const float slice = z + static_cast<float>(min(lane + 32 * k, slices - 1));
    const float one = __fmaf_rn(slice - 0.5f, seen.per_slice, seen.v0),
                two = __fmaf_rn(slice + 0.5f, seen.per_slice, seen.v0);
    const float low = fminf(one, two), shifted = __fadd_rd(low, whole_shift), row_low = shifted - whole_shift;
    at[k] = from_middle + __float_as_int(shifted);
    beyond[k] = fmaxf(one, two) - row_low;
    sum[k] = *at[k] * (fminf(beyond[k], 1.0f) - (low - row_low));
  }
  const int most = static_cast<int>(fabsf(seen.per_slice)) + 2;  // rows that meet a voxel
  for (int m = 1; m < most; ++m)
#pragma unroll
    for (int k = 0; k < slices_per_lane; ++k)
      sum[k] = __fmaf_rn(__saturatef(beyond[k] - static_cast<float>(m)), at[k][m], sum[k]);
#pragma unroll
  for (int k = 0; k < slices_per_lane; ++k) total[k] += sum[k];
  __syncwarp();
}

__global__ void __launch_bounds__(adjoint_threads, 2) upright_adjoint(const __grid_constant__ UprightAdjoint job) {
  __shared__ SeenVoxels seen[maximum_seen];
  __shared__ float share[adjoint_threads];
  __shared__ float4 rows[places][upright_rows / 4];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int x0 = static_cast<int>(blockIdx.x) * places_x, y0 = static_cast<int>(blockIdx.y) * places_y;
  const int x = x0 + warp % places_x, y = y0 + warp / places_x;
  const int first_slice = job.z0 + static_cast<int>(blockIdx.z) * job.slices;
  const int slices = min(job.slices, job.z1 - first_slice);
  const bool inside = x < job.grid.size[0] && y < job.grid.size[1];
  const std::int64_t slice = static_cast<std::int64_t>(job.grid.size[0]) * job.grid.size[1];
  float* const voxel =
      job.voxels + (first_slice - job.z0 + lane) * slice + static_cast<std::int64_t>(y) * job.grid.size[0] + x;
  float total[slices_per_lane];
#pragma unroll
  for (int k = 0; k < slices_per_lane; ++k) total[k] = inside && lane + 32 * k < slices ? voxel[32 * k * slice] : 0.0f;
  const float z = static_cast<float>(first_slice - job.grid.middle[2]);

  const int per_view = job.slots * places, views_at_once = adjoint_threads / per_view;
  const int slot = thread % job.slots, place = thread / job.slots % places, mine = thread / per_view;
  const int place_x = x0 + place % places_x - job.grid.middle[0], place_y = y0 + place / places_x - job.grid.middle[1];
  for (int first = 0; first < job.views; first += views_at_once) {
    __syncthreads();
    if (first + mine < job.views) {
      const int view = first + mine;
      const SeenVoxels here =
          seen_voxels(job, job.maps[view], static_cast<float>(place_x), static_cast<float>(place_y));
      if (slot == 0) seen[thread / job.slots] = here;
      share[thread] = slot < here.count
                          ? column_share(job.beams[static_cast<std::int64_t>(view) * job.columns + here.first + slot],
                                         place_x, place_y)
                          : 0.0f;
    }
    __syncthreads();
    if (!inside) continue;
    for (int n = 0; n < min(views_at_once, job.views - first); ++n) {
      const int number = n * places + warp;
      const float* const values = job.values + static_cast<std::int64_t>(first + n) * job.columns * job.pitch;
      add_view(job, seen[number], share + number * job.slots, values, reinterpret_cast<float*>(rows[warp]), lane, z,
               slices, total);
    }
  }
#pragma unroll
  for (int k = 0; k < slices_per_lane; ++k)
    if (inside && lane + 32 * k < slices) voxel[32 * k * slice] = total[k];
}

constexpr int side = 32, lines_at_once = 8;

// Turned in shared memory, so that a warp both reads and writes neighbours.
__global__ void __launch_bounds__(side* lines_at_once)
    view_columns(const __grid_constant__ ViewColumns views, const float* lines, float* columns) {
  __shared__ float part[side][side + 1];
  const int u0 = static_cast<int>(blockIdx.x) * side, row0 = static_cast<int>(blockIdx.y) * side;
  const int tx = static_cast<int>(threadIdx.x), view = static_cast<int>(blockIdx.z);
  for (int ty = static_cast<int>(threadIdx.y); ty < side; ty += lines_at_once) {
    const int u = u0 + tx, row = row0 + ty;
    float value = 0.0f;
    if (u < views.columns && row < views.rows)
      value = lines[(static_cast<std::int64_t>(view) * views.rows + row) * views.columns + u] *
              static_cast<float>(main_axis_ray(views.view[view], u, views.first_row + row).way_mm);
    part[ty][tx] = value;
  }
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < side; ty += lines_at_once)
    if (u0 + ty < views.columns && row0 + tx < views.pitch)
      columns[(static_cast<std::int64_t>(view) * views.columns + u0 + ty) * views.pitch + row0 + tx] = part[tx][ty];
}

__global__ void column_beams(const __grid_constant__ ViewColumns views, ColumnBeam* beams) {
  const int u = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), view = static_cast<int>(blockIdx.y);
  if (u < views.columns)
    beams[static_cast<std::int64_t>(view) * views.columns + u] =
        column_beam(views.view[view], views.grid, u, views.middle_row);
}

unsigned adjoint_blocks(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

void launch_view_columns(const ViewColumns& views, const float* lines, float* columns, cudaStream_t stream) {
  const dim3 blocks(adjoint_blocks(views.columns, side), adjoint_blocks(views.pitch, side),
                    static_cast<unsigned>(views.views));
  view_columns<<<blocks, dim3(side, lines_at_once), 0, stream>>>(views, lines, columns);
  check_launch("the columns of views");
}

void launch_column_beams(const ViewColumns& views, ColumnBeam* beams, cudaStream_t stream) {
  constexpr int threads = 128;
  column_beams<<<dim3(adjoint_blocks(views.columns, threads), static_cast<unsigned>(views.views)), threads, 0,
                 stream>>>(views, beams);
  check_launch("the beams of columns");
}

void launch_upright_adjoint(const UprightAdjoint& job, cudaStream_t stream) {
  const dim3 blocks(adjoint_blocks(job.grid.size[0], places_x), adjoint_blocks(job.grid.size[1], places_y),
                    adjoint_blocks(job.z1 - job.z0, job.slices));
  upright_adjoint<<<blocks, adjoint_threads, 0, stream>>>(job);
  check_launch("the transpose of upright footprints");
}

}  // namespace lepus::cuda
