// SPDX-License-Identifier: Apache-2.0
// How far the views of a geometry are from a circular orbit about the z axis: in the frame that turns with a view, all
// matrices must be the same. Matrices, from a builder or a file -> pixels.
#pragma once

#include <cstdint>

#include <lepus/geometry.h>

namespace lepus {

struct OrbitDeviation {
  double rms_px = 0;      // of the worst view
  std::int64_t view = 0;  // which one that is
};

// Distance on the detector of points in the field of view, turned with each view, from their mean over all views.
OrbitDeviation deviation_from_circle(const ScanGeometry& geometry);

}  // namespace lepus
