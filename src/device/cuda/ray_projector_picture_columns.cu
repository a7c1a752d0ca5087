// SPDX-License-Identifier: Apache-2.0
// Joseph's A' for scans that see z along their rows, more or less: nearly all that are not upright. A thread takes a
// column of voxels along z and goes through the detector's rows. A row meets the column at one z; the pixels beside
// that place whose rays pass the column less than a voxel away share out their values among the voxel nearest to that z
// and the two around it. So a pixel is looked at once, where a gather for each voxel looks at it from each of two
// voxels, and finds it outside of others' boxes. What a row has to do with a voxel depends on nothing but the two:
// every cut gives the same bits.
//
// Cost of 512^3 voxels, 496 views and 2.5 pixels to a voxel: 2.5 rows of 5 to 6 pixels to a voxel and face, some 45
// instructions for the row and 16 for a pixel.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_box.cuh"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

// Columns of a block; a warp takes 8 x 4 of them, whose pixels lie close together from every side.
constexpr int columns_x = 8, columns_y = 16, block_threads = columns_x * columns_y;
constexpr int column_voxels = 16;
constexpr unsigned all_lanes = 0xffffffffu;

// A row of the matrix for the points of a column: start + z per_z.
struct AlongColumn {
  float start, per_z;
};
__device__ AlongColumn along_column(const float* row, const float* at) {
  return {__fmaf_rn(row[0], at[0], __fmaf_rn(row[1], at[1], row[3])), row[2]};
}

// What the detector sees of a column.
template <Beam beam>
struct ColumnView {
  AlongColumn u, v, w;
  float on_k, a_u;
  const PictureFace& face;

  __device__ ColumnView(const PictureFace& of, const VoxelPlace& column) : face(of) {
    u = along_column(face.matrix, column.at);
    v = along_column(face.matrix + 4, column.at);
    w = beam == Beam::parallel ? AlongColumn{1.0f, 0.0f} : along_column(face.matrix + 8, column.at);
    on_k = column.at[0] - face.source[0];
    const float on_a = column.at[1] - face.source[1];
    a_u = pass_term(face.a_u, on_k, on_a);
  }
  // Rays of the face change no faster on a than on their own axis.
  __device__ static bool meets_rays(const PictureFace& face, const VoxelPlace& column) {
    if (beam == Beam::parallel) return true;
    constexpr float margin = 1.5f;  // a voxel, and rounding
    return fabsf(column.at[1] - face.source[1]) < fabsf(column.at[0] - face.source[0]) + margin;
  }
  // Where row `at` meets the column: v(z) = at w(z).
  __device__ float z_at_row(float at) const {
    const AlongColumn over = beam == Beam::fan ? AlongColumn{1.0f, 0.0f} : w;
    return __fmaf_rn(at, over.start, -v.start) * refined_reciprocal(__fmaf_rn(-at, over.per_z, v.per_z));
  }
  __device__ float row_at_z(float z) const {
    const float top = __fmaf_rn(v.per_z, z, v.start);
    return beam == Beam::fan ? top : top * refined_reciprocal(__fmaf_rn(w.per_z, z, w.start));
  }
};

// What is not yet written of a column: sums of voxel `nearest` and of the two around it.
struct Pending {
  int nearest;
  float below = 0.0f, here = 0.0f, above = 0.0f;

  // Voxels before it are done.
  __device__ void advance(int to, float (*total)[block_threads], int thread) {
    if (to == nearest) return;
    for (int step = 0; step < 3 && nearest < to; ++step, ++nearest) {
      total[nearest - 1][thread] += below;
      below = here;
      here = above;
      above = 0.0f;
    }
    nearest = to;
  }
};

template <Beam beam>
__global__ void __launch_bounds__(block_threads, 8) picture_columns(const __grid_constant__ PictureAdjoint job) {
  // Index 2 is the first voxel; the others are of the columns below and above.
  __shared__ float total[column_voxels + 4][block_threads];
  const int thread = static_cast<int>(threadIdx.y) * columns_x + static_cast<int>(threadIdx.x);
  const int x = static_cast<int>(blockIdx.x) * columns_x + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * columns_y + static_cast<int>(threadIdx.y);
  const int z0 = job.z0 + static_cast<int>(blockIdx.z) * column_voxels, voxels = min(column_voxels, job.z1 - z0);
  const bool inside = x < job.grid.size[0] && y < job.grid.size[1];
  const std::int64_t slice = static_cast<std::int64_t>(job.grid.size[0]) * job.grid.size[1];
  float* const place = job.voxels + (z0 - job.z0) * slice + static_cast<std::int64_t>(y) * job.grid.size[0] + x;
  for (int n = 0; n < column_voxels; ++n) total[n + 2][thread] = inside && n < voxels ? place[n * slice] : 0.0f;

  const float fx = static_cast<float>(x - job.grid.middle[0]), fy = static_cast<float>(y - job.grid.middle[1]);
  const int bottom = z0 - job.grid.middle[2];
  const int first_v = job.frame.first_row - job.frame.middle_row, end_v = first_v + job.frame.rows;
  const float first_u = static_cast<float>(-job.frame.middle_column),
              last_u = static_cast<float>(job.frame.columns - job.frame.middle_column - 1);
  for (int number = 0; number < job.faces; ++number) {
    const PictureFace& face = job.face[number];
    const VoxelPlace column = voxel_place(face, fx, fy, 0.0f);
    const bool met = inside && ColumnView<beam>::meets_rays(face, column);
    if (!__any_sync(all_lanes, met)) continue;
    const ColumnView<beam> view(face, column);
    // Rows that are nearest to a voxel of the column or one beside it, and a row more; all lanes go through the same.
    int low = end_v, high = first_v;
    if (met) {
      const float one = view.row_at_z(static_cast<float>(bottom) - 1.5f),
                  two = view.row_at_z(static_cast<float>(bottom + voxels) + 0.5f);
      low = max(first_v, static_cast<int>(fmaxf(floorf(fminf(one, two)), -1e6f)));
      high = min(end_v, static_cast<int>(fminf(ceilf(fmaxf(one, two)), 1e6f)) + 1);
    }
    for (int other = 16; other > 0; other /= 2) {
      low = min(low, __shfl_xor_sync(all_lanes, low, other));
      high = max(high, __shfl_xor_sync(all_lanes, high, other));
    }
    const float* const values = job.values + static_cast<std::int64_t>(number) * job.frame.rows * job.frame.columns -
                                static_cast<std::int64_t>(first_v) * job.frame.columns + job.frame.middle_column;
    Pending pending{1};
    for (int n = low; n < high; ++n) {
      const int row = face.rows_rise ? n : low + high - 1 - n;  // z grows
      const float v = static_cast<float>(row), z = view.z_at_row(v);
      const float whole = __fadd_rn(z, whole_shift);
      const int nearest = __float_as_int(whole) - whole_shift_bits - bottom + 2;
      if (!met || nearest < 1 || nearest > voxels + 2) continue;
      pending.advance(nearest, total, thread);
      const float over_voxel = z - (whole - whole_shift);
      const float over = beam == Beam::parallel ? 1.0f : refined_reciprocal(__fmaf_rn(view.w.per_z, z, view.w.start));
      const float u = __fmaf_rn(view.u.per_z, z, view.u.start) * over;
      const float depth = beam == Beam::parallel ? 1.0f : change(face.direction[0], u, v);
      const float depth_u = beam == Beam::parallel ? 0.0f : face.direction[0][1];
      const float b_u = pass_term(face.b_u, view.on_k, z - face.source[2]);
      // The pixels at which the distance is one voxel, were the depth the same; and as it may change by a share of
      // `varies` on the way there, some more.
      const float half = fabsf(depth * reciprocal(view.a_u)), varies = fabsf(depth_u * reciprocal(view.a_u));
      constexpr float rounding = 0.02f;
      const float reach = __fmaf_rn(half, reciprocal(1.0f - varies), rounding);
      const int from = ceil_of(fmaxf(u - reach, first_u)), to = floor_of(fminf(u + reach, last_u));
      const float* const value = values + static_cast<std::int64_t>(row) * job.frame.columns;
      float sum = 0.0f, to_above = 0.0f, to_below = 0.0f;
      float du = static_cast<float>(from) - u;
      for (int at = from; at <= to; ++at, du += 1.0f) {
        const float near = beam == Beam::parallel ? du : du * reciprocal(__fmaf_rn(depth_u, du, depth));
        const float rise = beam == Beam::fan ? du : near;
        const float share = __saturatef(1.0f - fabsf(view.a_u * near)) * __ldg(value + at);
        sum += share;
        to_above = __fmaf_rn(share, __saturatef(__fmaf_rn(b_u, rise, over_voxel)), to_above);
        to_below = __fmaf_rn(share, __saturatef(__fmaf_rn(-b_u, rise, -over_voxel)), to_below);
      }
      pending.below += to_below;
      pending.here += sum - to_above - to_below;
      pending.above += to_above;
    }
    pending.advance(pending.nearest + 3, total, thread);
  }
  for (int n = 0; n < voxels; ++n)
    if (inside) place[n * slice] = total[n + 2][thread];
}

template <Beam beam>
void launch(const PictureAdjoint& job, cudaStream_t stream) {
  const auto blocks_of = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 blocks(blocks_of(job.grid.size[0], columns_x), blocks_of(job.grid.size[1], columns_y),
                    blocks_of(job.z1 - job.z0, column_voxels));
  picture_columns<beam><<<blocks, dim3(columns_x, columns_y), 0, stream>>>(job);
}

}  // namespace

void launch_picture_columns(const PictureAdjoint& job, cudaStream_t stream) {
  if (job.frame.beam == Beam::cone)
    launch<Beam::cone>(job, stream);
  else if (job.frame.beam == Beam::fan)
    launch<Beam::fan>(job, stream);
  else
    launch<Beam::parallel>(job, stream);
  check_launch("Joseph's transpose by columns of voxels");
}

}  // namespace lepus::cuda
