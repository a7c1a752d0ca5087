// SPDX-License-Identifier: Apache-2.0
// Where a column of voxels along z meets the detector, in single precision: the formulas of project/detector_point.h
// arranged so that what does not change along the column is computed once.
// Slices are counted from the start of a chunk of K slices that begins at a multiple of K of the volume: the
// same voxel gets the same bits in whichever slab it lies. Every product-sum is fused by name, so that two
// variants of a kernel cannot differ in what the compiler contracts.
#pragma once

#include <cmath>

#include "device/cuda/backproject_launch.h"
#include "project/detector_point.h"
#include "project/host_device.h"

namespace lepus::cuda {

LEPUS_HD inline float fused(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
LEPUS_HD inline float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
LEPUS_HD inline float difference(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, -b);
#else
  return a - b;
#endif
}
// One instruction on the device, within one unit in the last place.
LEPUS_HD inline float reciprocal(float w) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(w));
  return r;
#else
  return 1.0f / w;
#endif
}

LEPUS_HD inline float row_at(const float* row, float x, float y, float z) {
  return fused(row[2], z, fused(row[1], y, fused(row[0], x, row[3])));
}

// The same to half a unit: one step of Newton's method.
LEPUS_HD inline float refined_reciprocal(float w) {
  const float r = reciprocal(w);
  return fused(r, fused(-w, r, 1.0f), r);
}

// u w, v w and w at the first slice of the chunk.
struct ChunkStart {
  float u, v, w;
};
LEPUS_HD inline ChunkStart chunk_start(const ViewOnDevice& view, float x, float y, float z) {
  return {row_at(view.u, x, y, z), row_at(view.v, x, y, z), row_at(view.w, x, y, z)};
}

// Detector point of slice `step` of the chunk, with u and v moved by `shift` (the texture unit counts pixel centres
// from one half), and the weight 1/w^2. The matrix carries the root of the texels' scale, so that the weight undoes it.
struct WeighedPoint {
  float u, v, weight;
  bool seen;  // in front of the source
};
template <Beam beam, bool refined = false>
LEPUS_HD inline WeighedPoint general_point(const ViewOnDevice& view, const ChunkStart& start, float step, float shift,
                                           float gain) {
  const float u = fused(view.u[2], step, start.u), v = fused(view.v[2], step, start.v);
  if (beam == Beam::parallel) return {u + shift, v + shift, gain, true};
  const float w = fused(view.w[2], step, start.w), r = refined ? refined_reciprocal(w) : reciprocal(w);
  return {fused(u, r, shift), beam == Beam::fan ? v + shift : fused(v, r, shift), product(r, r), in_front_of_source(w)};
}

// The part of the detector plane where a sample can be other than zero, in pixels, half a pixel wider than it needs to
// be.
struct SeenPart {
  float u0, u1, v0, v1;
};
LEPUS_HD inline SeenPart seen_part(const ViewOnDevice& view, const SlabOnDevice& slab) {
  return {-1.5f - static_cast<float>(slab.column0), static_cast<float>(slab.columns - slab.column0) + 0.5f,
          view.first_row - 1.5f, view.first_row + static_cast<float>(slab.band_rows) + 0.5f};
}

// Do slices 0 ... last of a chunk all miss one side of that part? Where w > 0, n / w < bound means n - bound w < 0,
// and that is affine along the chunk: its ends decide. Leaving out samples that are zero changes no bit.
template <Beam beam>
LEPUS_HD inline bool misses_detector(const ViewOnDevice& view, const ChunkStart& start, float last,
                                     const SeenPart& part) {
  const float w0 = beam == Beam::parallel ? 1.0f : start.w;
  const float w1 = beam == Beam::parallel ? 1.0f : fused(view.w[2], last, start.w);
  const float v_w0 = beam == Beam::cone ? w0 : 1.0f, v_w1 = beam == Beam::cone ? w1 : 1.0f;
  const float u1 = fused(view.u[2], last, start.u), v1 = fused(view.v[2], last, start.v);
  const auto below = [](float n0, float n1, float d0, float d1, float bound) {
    return fused(-bound, d0, n0) < 0.0f && fused(-bound, d1, n1) < 0.0f;
  };
  const auto above = [](float n0, float n1, float d0, float d1, float bound) {
    return fused(-bound, d0, n0) > 0.0f && fused(-bound, d1, n1) > 0.0f;
  };
  const bool misses = below(start.v, v1, v_w0, v_w1, part.v0) || above(start.v, v1, v_w0, v_w1, part.v1) ||
                      below(start.u, u1, w0, w1, part.u0) || above(start.u, u1, w0, w1, part.u1);
  return misses && in_front_of_source(w0) && in_front_of_source(w1);
}

// The same question for a whole box of voxels, by its middle and its half sizes: an affine function is furthest from
// its value in the middle at a corner.
struct Box {
  float x, y, z, half_x, half_y, half_z;
};
enum class BoxView { missed, partly, within };
template <Beam beam>
LEPUS_HD inline BoxView box_view(const ViewOnDevice& view, const Box& box, const SeenPart& part) {
  const float none[4] = {0.0f, 0.0f, 0.0f, 1.0f};
  const float* const w = beam == Beam::parallel ? none : view.w;
  const float* const v_w = beam == Beam::cone ? w : none;
  // n - bound w: least and greatest in the box
  const auto range = [&](const float* n, const float* d, float bound, float* least, float* greatest) {
    float row[4];
    for (int i = 0; i < 4; ++i) row[i] = fused(-bound, d[i], n[i]);
    const float middle = row_at(row, box.x, box.y, box.z);
    const float reach = fabsf(row[0]) * box.half_x + fabsf(row[1]) * box.half_y + fabsf(row[2]) * box.half_z;
    *least = middle - reach;
    *greatest = middle + reach;
  };
  float low, high, left0, left1, right0, right1, top0, top1, bottom0, bottom1;
  range(w, none, 0.0f, &low, &high);
  if (!in_front_of_source(low)) return BoxView::partly;
  range(view.u, w, part.u0, &left0, &left1);
  range(view.u, w, part.u1, &right0, &right1);
  range(view.v, v_w, part.v0, &top0, &top1);
  range(view.v, v_w, part.v1, &bottom0, &bottom1);
  if (left1 < 0.0f || right0 > 0.0f || top1 < 0.0f || bottom0 > 0.0f) return BoxView::missed;
  return left0 > 0.0f && right1 < 0.0f && top0 > 0.0f && bottom1 < 0.0f ? BoxView::within : BoxView::partly;
}

// Upright views: u and w stay, v grows by the same amount from slice to slice.
struct UprightColumn {
  float u, v, v_step, weight;
  bool seen;
};
template <Beam beam>
LEPUS_HD inline UprightColumn upright_column(const ViewOnDevice& view, float x, float y, float z, float shift,
                                             float gain) {
  const float u = row_at(view.u, x, y, 0), v = row_at(view.v, x, y, 0);
  if (beam == Beam::parallel) return {u + shift, fused(view.v[2], z, v + shift), view.v[2], gain, true};
  const float w = row_at(view.w, x, y, 0), r = reciprocal(w);
  const float r_v = beam == Beam::fan ? 1.0f : r;
  const float v_step = product(view.v[2], r_v);
  return {fused(u, r, shift), fused(v_step, z, fused(v, r_v, shift)), v_step, product(r, r), in_front_of_source(w)};
}

// The same question as above for a column of an upright view; its u and v are moved by one half.
LEPUS_HD inline bool misses_detector(const UprightColumn& column, float last, const SeenPart& part) {
  const float v1 = fused(column.v_step, last, column.v);
  return column.u < part.u0 || column.u > part.u1 + 1.0f || (column.v < part.v0 && v1 < part.v0) ||
         (column.v > part.v1 + 1.0f && v1 > part.v1 + 1.0f);
}

}  // namespace lepus::cuda
