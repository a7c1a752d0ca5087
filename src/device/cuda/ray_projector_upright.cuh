// SPDX-License-Identifier: Apache-2.0
// What A and A' of upright footprints both ask: the two shares that a weight is made of.
#pragma once

#include "device/cuda/ray_projector_upright.h"

namespace lepus::cuda {

// term . (1, x, y)
__device__ inline float at_column(const float* term, float x, float y) {
  return __fmaf_rn(term[2], y, __fmaf_rn(term[1], x, term[0]));
}

// In an upright view it is the same for every row.
__device__ inline ColumnBeam column_beam(const JosephView& view, const JosephGrid& grid, int u, int row) {
  const FootprintRay<float> ray = footprint_ray<float>(view, grid, u, row);
  return {ray.axis, ray.a0, ray.da, ray.au0, ray.dau};
}

// A detector column's footprint in a layer of voxels.
struct BeamLayer {
  float a;
  Trapezoid<float> on_a;
};
__device__ inline BeamLayer beam_layer(const ColumnBeam& beam, int layer) {
  const float i = static_cast<float>(layer);
  return {__fmaf_rn(i, beam.da, beam.a0), trapezoid(beam.da, __fmaf_rn(i, beam.dau, beam.au0), 0.0f)};
}

}  // namespace lepus::cuda
