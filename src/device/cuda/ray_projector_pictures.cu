// SPDX-License-Identifier: Apache-2.0
// Joseph's A' for any matrices: a thread takes one voxel, finds for each face the box of pixels whose rays may pass its
// plane less than one voxel away, and weighs each of them. The distance of a ray from the voxel is computed from the
// pixel's distance to the place where the voxel's centre is seen: small numbers, whose digits are all behind the point.
// Voxels that (nearly) touch the source are seen by pixels without such a box; those ask every pixel.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_box.cuh"

namespace lepus::cuda {
namespace {

// Voxels of a block; a warp takes 8 x 4 of them, whose pixels lie close together from every side.
constexpr int picture_x = 8, picture_y = 16;

// How much of a sample one voxel away or less belongs to the voxel.
__device__ float nearness(float distance) { return __saturatef(1.0f - fabsf(distance)); }

// From the rays themselves, pixel by pixel.
__device__ __noinline__ float sum_of_all(const PictureFrame& frame, const PictureFace& face, const float* values,
                                         const VoxelPlace& voxel) {
  const float on_k = voxel.at[0] - face.source[0], on_a = voxel.at[1] - face.source[1],
              on_b = voxel.at[2] - face.source[2];
  const float reach = 1.0f + fabsf(on_k);  // rays change no faster on other axes than on their own
  const bool fan = frame.beam == Beam::fan;
  if (fabsf(on_a) > reach || (!fan && fabsf(on_b) > reach)) return 0.0f;
  float sum = 0.0f;
  for (int row = 0; row < frame.rows; ++row)
    for (int column = 0; column < frame.columns; ++column) {
      const float u = static_cast<float>(column - frame.middle_column);
      const float v = static_cast<float>(frame.first_row + row - frame.middle_row);
      const float t = on_k / change(face.direction[0], u, v);
      if (!(t > 0.0f)) continue;
      const float da = __fmaf_rn(t, change(face.direction[1], u, v), -on_a);
      const float db = fan ? face.b_v.constant * (v - row_of(face.matrix + 4, voxel.at))
                           : __fmaf_rn(t, change(face.direction[2], u, v), -on_b);
      sum =
          __fmaf_rn(nearness(da) * nearness(db), values[static_cast<std::int64_t>(row) * frame.columns + column], sum);
    }
  return sum;
}

template <bool fan>
__device__ float sum_of_face(const PictureFrame& frame, const PictureFace& face, const float* values,
                             const VoxelPlace& voxel) {
  const SeenVoxel seen = seen_voxel(frame, face, voxel, {1.0f, 0.0f}, {1.0f, 0.0f});
  if (seen.kind == SeenVoxel::Kind::nowhere) return 0.0f;
  if (seen.kind == SeenVoxel::Kind::everywhere) return sum_of_all(frame, face, values, voxel);
  const int first_v = frame.first_row - frame.middle_row;
  float sum = 0.0f;
  for (int row = seen.box.v0; row < seen.box.v1; ++row) {
    const float dv = static_cast<float>(row) - seen.v, row_a = seen.a_v * dv, row_b = seen.b_v * dv;
    const float row_depth = __fmaf_rn(seen.depth_v, dv, seen.depth);
    const float* const value = values + static_cast<std::int64_t>(row - first_v) * frame.columns + frame.middle_column;
    float du = static_cast<float>(seen.box.u0) - seen.u;
    for (int column = seen.box.u0; column < seen.box.u1; ++column, du += 1.0f) {
      const float near = reciprocal(__fmaf_rn(seen.depth_u, du, row_depth));
      const float da = __fmaf_rn(seen.a_u, du, row_a) * near, db = __fmaf_rn(seen.b_u, du, row_b) * (fan ? 1.0f : near);
      sum = __fmaf_rn(nearness(da) * nearness(db), __ldg(value + column), sum);
    }
  }
  return sum;
}

template <bool fan>
__global__ void __launch_bounds__(picture_x* picture_y, 8) picture_adjoint(const __grid_constant__ PictureAdjoint job) {
  const int x = static_cast<int>(blockIdx.x) * picture_x + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * picture_y + static_cast<int>(threadIdx.y);
  const int z = job.z0 + static_cast<int>(blockIdx.z);
  if (x >= job.grid.size[0] || y >= job.grid.size[1]) return;
  float* const place =
      job.voxels + (static_cast<std::int64_t>(blockIdx.z) * job.grid.size[1] + y) * job.grid.size[0] + x;
  const float fx = static_cast<float>(x - job.grid.middle[0]), fy = static_cast<float>(y - job.grid.middle[1]);
  const float fz = static_cast<float>(z - job.grid.middle[2]);
  float total = *place;
  for (int number = 0; number < job.faces; ++number) {
    const PictureFace& face = job.face[number];
    const float* const values = job.values + static_cast<std::int64_t>(number) * job.frame.rows * job.frame.columns;
    total += sum_of_face<fan>(job.frame, face, values, voxel_place(face, fx, fy, fz));
  }
  *place = total;
}

}  // namespace

void launch_picture_adjoint(const PictureAdjoint& job, cudaStream_t stream) {
  const auto blocks_of = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 blocks(blocks_of(job.grid.size[0], picture_x), blocks_of(job.grid.size[1], picture_y),
                    static_cast<unsigned>(job.z1 - job.z0));
  if (job.frame.beam == Beam::fan)
    picture_adjoint<true><<<blocks, dim3(picture_x, picture_y), 0, stream>>>(job);
  else
    picture_adjoint<false><<<blocks, dim3(picture_x, picture_y), 0, stream>>>(job);
  check_launch("Joseph's transpose");
}

}  // namespace lepus::cuda
