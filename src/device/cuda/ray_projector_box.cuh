// SPDX-License-Identifier: Apache-2.0
// Which pixels of a view can see a voxel of a plane: those whose rays pass within some voxels of its centre.
#pragma once

#include "device/cuda/backproject_column.h"
#include "device/cuda/ray_projector_faces.h"

namespace lepus::cuda {

// From the middle voxel, along the face's axis and the two axes of its planes.
struct VoxelPlace {
  float at[3];
};

// [u0, u1) x [v0, v1), from the detector's middle.
struct PixelBox {
  int u0, u1, v0, v1;
};

// Where a voxel's centre is seen, and how rays beside it pass: PictureFace says what the terms mean.
struct SeenVoxel {
  enum class Kind {
    nowhere,
    box,
    everywhere,  // it (nearly) touches the source, and rays around it have no box
  } kind = Kind::nowhere;
  float u, v;
  float a_u, a_v, b_u, b_v, depth, depth_u, depth_v;
  PixelBox box;
};

__device__ inline float pass_term(const PassTerm& t, float plane, float axis) {
  return __fmaf_rn(t.per_plane, plane, __fmaf_rn(t.per_axis, axis, t.constant));
}

__device__ inline float row_of(const float* row, const float* p) {
  return __fmaf_rn(row[0], p[0], __fmaf_rn(row[1], p[1], __fmaf_rn(row[2], p[2], row[3])));
}

__device__ inline float change(const float* direction, float u, float v) {
  return __fmaf_rn(direction[1], u, __fmaf_rn(direction[2], v, direction[0]));
}

// Rays count that pass less than `voxels` away on an axis of the plane, and half the way between two pixels more for
// every pixel in `pixels`.
struct Reach {
  float voxels, pixels;
};

__device__ inline SeenVoxel seen_voxel(const PictureFrame& frame, const PictureFace& face, const VoxelPlace& voxel,
                                       const Reach& on_axis_a, const Reach& on_axis_b) {
  const bool parallel = frame.beam == Beam::parallel, fan = frame.beam == Beam::fan;
  SeenVoxel seen;
  // Over the rays that count w, u w and v w are at most so much different.
  const auto spread = [&](const float* row) {
    return (on_axis_a.voxels + on_axis_a.pixels) * fabsf(row[1]) +
           (on_axis_b.voxels + on_axis_b.pixels) * fabsf(row[2]);
  };
  const float w = parallel ? 1.0f : row_of(face.matrix + 8, voxel.at);
  const float spread_w = parallel ? 0.0f : spread(face.matrix + 8);
  const float uw = row_of(face.matrix, voxel.at), vw = row_of(face.matrix + 4, voxel.at);
  const float largest_w = w + spread_w, largest_v = fan ? 1.0f : largest_w;
  if (!(largest_w > 0.0f) || fabsf(uw) - spread(face.matrix) > static_cast<float>(frame.columns + 2) * largest_w ||
      fabsf(vw) - spread(face.matrix + 4) > static_cast<float>(frame.detector_rows + 2) * largest_v)
    return seen;
  seen.kind = SeenVoxel::Kind::everywhere;
  if (!(w > 2.0f * spread_w)) return seen;
  const float over = refined_reciprocal(w);
  seen.u = uw * over;
  seen.v = vw * (fan ? 1.0f : over);
  const float on_k = voxel.at[0] - face.source[0], on_a = voxel.at[1] - face.source[1],
              on_b = voxel.at[2] - face.source[2];
  seen.a_u = pass_term(face.a_u, on_k, on_a);
  seen.a_v = pass_term(face.a_v, on_k, on_a);
  seen.b_u = pass_term(face.b_u, on_k, on_b);
  seen.b_v = pass_term(face.b_v, on_k, on_b);
  seen.depth_u = parallel ? 0.0f : face.direction[0][1];
  seen.depth_v = parallel ? 0.0f : face.direction[0][2];
  seen.depth = parallel ? 1.0f : change(face.direction[0], seen.u, seen.v);
  if (!parallel && !(on_k * seen.depth > 0.0f)) {
    seen.kind = SeenVoxel::Kind::nowhere;
    return seen;
  }
  // The pixels at which both distances are as large as they may be, were the depth the same; and as it may change by a
  // share of `varies` over that box, one that is larger by 1 / (1 - varies).
  const float depth_b = fan ? 1.0f : seen.depth;
  const float reach_a =
      fabsf(on_axis_a.voxels * seen.depth) + 0.5f * on_axis_a.pixels * (fabsf(seen.a_u) + fabsf(seen.a_v));
  const float reach_b =
      fabsf(on_axis_b.voxels * depth_b) + 0.5f * on_axis_b.pixels * (fabsf(seen.b_u) + fabsf(seen.b_v));
  const float over_area = reciprocal(fabsf(seen.a_u * seen.b_v - seen.a_v * seen.b_u));
  float half_u = (fabsf(seen.b_v) * reach_a + fabsf(seen.a_v) * reach_b) * over_area;
  float half_v = (fabsf(seen.b_u) * reach_a + fabsf(seen.a_u) * reach_b) * over_area;
  const float varies = (fabsf(seen.depth_u) * half_u + fabsf(seen.depth_v) * half_v) * reciprocal(fabsf(seen.depth));
  if (!(varies < 0.9f)) return seen;
  constexpr float rounding = 0.02f;
  const float larger = reciprocal(1.0f - varies);
  half_u = __fmaf_rn(half_u, larger, rounding);
  half_v = __fmaf_rn(half_v, larger, rounding);
  const int first_v = frame.first_row - frame.middle_row;
  const auto from = [](float centre, float half, int first) {
    return static_cast<int>(ceilf(fmaxf(centre - half, static_cast<float>(first))));
  };
  const auto to = [](float centre, float half, int end) {
    return static_cast<int>(floorf(fminf(centre + half, static_cast<float>(end - 1)))) + 1;
  };
  seen.kind = SeenVoxel::Kind::box;
  seen.box = {from(seen.u, half_u, -frame.middle_column), to(seen.u, half_u, frame.columns - frame.middle_column),
              from(seen.v, half_v, first_v), to(seen.v, half_v, first_v + frame.rows)};
  return seen;
}

__device__ inline VoxelPlace voxel_place(const PictureFace& face, float x, float y, float z) {
  if (face.axis == 0) return {{x, y, z}};
  if (face.axis == 1) return {{y, x, z}};
  return {{z, x, y}};
}

}  // namespace lepus::cuda
