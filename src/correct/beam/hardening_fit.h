// SPDX-License-Identifier: Apache-2.0
// Empirical cupping correction (Kachelriess, Sourbelle and Kalender, Med. Phys. 33, 2006): an object of one material
// must be flat. Filtered backprojection is linear, so the slices of p, p^2, p^3 ... are reconstructed once, and the
// combination that is nearest to 1 inside the object and 0 in the air around it is found by least squares.
// One detector row of all views -> coefficients of p' = c1 p + c2 p^2 + ...
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include <lepus/geometry.h>

namespace lepus {

// size x size voxels of the plane z = 0 that cover the field of view.
struct MidPlane {
  std::int64_t size = 0;
  double voxel_mm = 0;
  std::vector<double> values;  // 1/mm

  // Of a voxel's centre from the axis, in voxels.
  double radius(std::int64_t i) const;
};

// The detector row that sees the plane z = 0 on the axis, or the nearest there is.
std::int64_t mid_plane_row(const ScanGeometry& geometry);

// Filtered backprojection of one detector row, sinogram [view][column] of line integrals, in every kind of scan that
// filter/weights.h knows; smoothed to the voxels.
MidPlane reconstruct_mid_plane(const float* sinogram, std::int64_t row, const ScanGeometry& geometry, std::int64_t size,
                               ThreadPool& threads);

// What belongs to the object (2), to the air (1), and to neither: next to its surface, or outside the field of view
// (0).
std::vector<unsigned char> object_of(const MidPlane& plane);

// How much lower the deepest quarter of the object's voxels is than the quarter next to its surface, relative to that.
double cupping(const MidPlane& plane, const std::vector<unsigned char>& object);
double mean_inside(const MidPlane& plane, const std::vector<unsigned char>& object);
// Standard deviation inside the object over its mean.
double unevenness(const MidPlane& plane, const std::vector<unsigned char>& object);

struct HardeningFit {
  // c1, c2 ..., such that the object's mean stays what it was (the slope at 0 is too poorly known to scale by); empty
  // where the object was too small or nothing fits.
  std::vector<double> coefficients;
  double largest = 0;  // line integral in the row
  double cupping_before = 0, cupping_after = 0;
  double unevenness_before = 0, unevenness_after = 0;
  std::int64_t inside = 0;       // voxels
  bool reaches_the_rim = false;  // of the field of view
};

HardeningFit fit_hardening(const float* sinogram, std::int64_t row, const ScanGeometry& geometry, int degree,
                           ThreadPool& threads);

}  // namespace lepus
