// SPDX-License-Identifier: Apache-2.0
// Joseph's A' for any matrices: a thread takes one voxel, finds for each face the box of pixels whose rays may pass its
// plane less than one voxel away, and weighs each of them. The distance of a ray from the voxel is computed from the
// pixel's distance to the place where the voxel's centre is seen: small numbers, whose digits are all behind the point.
// Voxels that (nearly) touch the source are seen by pixels without such a box; those ask every pixel.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_faces.h"

namespace lepus::cuda {
namespace {

constexpr int block_x = 32, block_y = 4;

struct Voxel {
  float at[3];      // from the middle voxel
  float source[3];  // where it lies from the source
};

struct PixelBox {
  int u0, u1, v0, v1;  // [u0, u1) x [v0, v1), from the detector's middle
};

__device__ float term(const PassTerm& t, float plane, float axis) {
  return __fmaf_rn(t.per_plane, plane, __fmaf_rn(t.per_axis, axis, t.constant));
}

__device__ float row_of(const float* row, const float* p) {
  return __fmaf_rn(row[0], p[0], __fmaf_rn(row[1], p[1], __fmaf_rn(row[2], p[2], row[3])));
}

__device__ float change(const float* direction, float u, float v) {
  return __fmaf_rn(direction[1], u, __fmaf_rn(direction[2], v, direction[0]));
}

// How much of a sample one voxel away or less belongs to the voxel.
__device__ float nearness(float distance) { return __saturatef(1.0f - fabsf(distance)); }

// From the rays themselves, pixel by pixel.
__device__ float sum_of_all(const PictureAdjoint& job, const PictureFace& face, const float* values, const Voxel& voxel,
                            int k, int a, int b) {
  const float reach = 1.0f + fabsf(voxel.source[k]);  // rays change no faster on other axes than on their own
  if (fabsf(voxel.source[a]) > reach || fabsf(voxel.source[b]) > reach) return 0.0f;
  float sum = 0.0f;
  for (int row = 0; row < job.rows; ++row)
    for (int column = 0; column < job.columns; ++column) {
      const float u = static_cast<float>(column - job.middle_column);
      const float v = static_cast<float>(job.first_row + row - job.middle_row);
      const float depth = change(face.direction[k], u, v), t = voxel.source[k] / depth;
      if (!(t > 0.0f)) continue;
      const float da = __fmaf_rn(t, change(face.direction[a], u, v), -voxel.source[a]);
      const float db = job.beam == Beam::fan ? __fmaf_rn(face.b_v.constant, v - row_of(face.matrix + 4, voxel.at), 0.0f)
                                             : __fmaf_rn(t, change(face.direction[b], u, v), -voxel.source[b]);
      sum = __fmaf_rn(nearness(da) * nearness(db), values[static_cast<std::int64_t>(row) * job.columns + column], sum);
    }
  return sum;
}

__device__ float sum_of_face(const PictureAdjoint& job, const PictureFace& face, const float* values, const Voxel& here,
                             int k, int a, int b) {
  const bool parallel = job.beam == Beam::parallel, fan = job.beam == Beam::fan;
  Voxel voxel = here;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) voxel.source[axis] = voxel.at[axis] - face.source[axis];
  // Rays that count pass the plane within one voxel, where w, u w and v w are at most so much different.
  const auto spread = [&](const float* row) { return fabsf(row[a]) + fabsf(row[b]); };
  const float w = parallel ? 1.0f : row_of(face.matrix + 8, voxel.at),
              spread_w = parallel ? 0.0f : spread(face.matrix + 8);
  const float uw = row_of(face.matrix, voxel.at), vw = row_of(face.matrix + 4, voxel.at);
  const float largest_w = w + spread_w, largest_v = fan ? 1.0f : largest_w;
  if (!(largest_w > 0.0f) || fabsf(uw) - spread(face.matrix) > static_cast<float>(job.columns) * largest_w ||
      fabsf(vw) - spread(face.matrix + 4) > static_cast<float>(job.detector_rows) * largest_v)
    return 0.0f;
  if (!(w > 2.0f * spread_w)) return sum_of_all(job, face, values, voxel, k, a, b);
  const float over = 1.0f / w;
  const float u = uw * over, v = vw * (fan ? 1.0f : over);
  const float on_k = voxel.source[k], on_a = voxel.source[a], on_b = voxel.source[b];
  const float a_u = term(face.a_u, on_k, on_a), a_v = term(face.a_v, on_k, on_a);
  const float b_u = term(face.b_u, on_k, on_b), b_v = term(face.b_v, on_k, on_b);
  const float depth_u = parallel ? 0.0f : face.direction[k][1], depth_v = parallel ? 0.0f : face.direction[k][2];
  const float depth = parallel ? 1.0f : change(face.direction[k], u, v), depth_b = fan ? 1.0f : depth;
  if (!parallel && !(on_k * depth > 0.0f)) return 0.0f;

  // The pixels at which both distances are 1 or less, were the depth the same; and as it may change by a share of
  // `varies` over that box, one that is larger by 1 / (1 - varies).
  const float over_area = 1.0f / fabsf(a_u * b_v - a_v * b_u);
  float half_u = (fabsf(b_v * depth) + fabsf(a_v * depth_b)) * over_area;
  float half_v = (fabsf(b_u * depth) + fabsf(a_u * depth_b)) * over_area;
  const float varies = (fabsf(depth_u) * half_u + fabsf(depth_v) * half_v) / fabsf(depth);
  if (!(varies < 0.9f)) return sum_of_all(job, face, values, voxel, k, a, b);
  constexpr float rounding = 0.02f;
  half_u = half_u / (1.0f - varies) + rounding;
  half_v = half_v / (1.0f - varies) + rounding;
  const int first_v = job.first_row - job.middle_row;
  const auto from = [](float centre, float half, int least) {
    return static_cast<int>(ceilf(fmaxf(centre - half, static_cast<float>(least))));
  };
  const auto to = [](float centre, float half, int end) {
    return static_cast<int>(floorf(fminf(centre + half, static_cast<float>(end - 1)))) + 1;
  };
  const PixelBox box{from(u, half_u, -job.middle_column), to(u, half_u, job.columns - job.middle_column),
                     from(v, half_v, first_v), to(v, half_v, first_v + job.rows)};
  float sum = 0.0f;
  for (int row = box.v0; row < box.v1; ++row) {
    const float dv = static_cast<float>(row) - v, row_a = a_v * dv, row_b = b_v * dv;
    const float row_depth = __fmaf_rn(depth_v, dv, depth);
    const float* const value = values + static_cast<std::int64_t>(row - first_v) * job.columns + job.middle_column;
    float du = static_cast<float>(box.u0) - u;
    for (int column = box.u0; column < box.u1; ++column, du += 1.0f) {
      const float near = __fdividef(1.0f, __fmaf_rn(depth_u, du, row_depth));
      const float da = __fmaf_rn(a_u, du, row_a) * near, db = __fmaf_rn(b_u, du, row_b) * (fan ? 1.0f : near);
      sum = __fmaf_rn(nearness(da) * nearness(db), __ldg(value + column), sum);
    }
  }
  return sum;
}

__global__ void __launch_bounds__(block_x* block_y) picture_adjoint(const __grid_constant__ PictureAdjoint job) {
  const int x = static_cast<int>(blockIdx.x) * block_x + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * block_y + static_cast<int>(threadIdx.y);
  const int z = job.z0 + static_cast<int>(blockIdx.z);
  if (x >= job.grid.size[0] || y >= job.grid.size[1]) return;
  float* const voxel =
      job.voxels + (static_cast<std::int64_t>(blockIdx.z) * job.grid.size[1] + y) * job.grid.size[0] + x;
  const Voxel here{{static_cast<float>(x - job.grid.middle[0]), static_cast<float>(y - job.grid.middle[1]),
                    static_cast<float>(z - job.grid.middle[2])},
                   {}};
  float total = *voxel;
  for (int number = 0; number < job.faces; ++number) {
    const PictureFace& face = job.face[number];
    const float* const values = job.values + static_cast<std::int64_t>(number) * job.rows * job.columns;
    if (face.axis == 0)
      total += sum_of_face(job, face, values, here, 0, 1, 2);
    else if (face.axis == 1)
      total += sum_of_face(job, face, values, here, 1, 0, 2);
    else
      total += sum_of_face(job, face, values, here, 2, 0, 1);
  }
  *voxel = total;
}

}  // namespace

void launch_picture_adjoint(const PictureAdjoint& job, cudaStream_t stream) {
  const auto blocks_of = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 blocks(blocks_of(job.grid.size[0], block_x), blocks_of(job.grid.size[1], block_y),
                    static_cast<unsigned>(job.z1 - job.z0));
  picture_adjoint<<<blocks, dim3(block_x, block_y), 0, stream>>>(job);
  check_launch("Joseph's transpose");
}

}  // namespace lepus::cuda
