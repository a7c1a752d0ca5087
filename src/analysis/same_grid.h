// SPDX-License-Identifier: Apache-2.0
// Whether two volumes have their voxels in the same places.
#pragma once

#include <cmath>
#include <string>

#include "core/format.h"
#include <lepus/geometry.h>

namespace lepus {

inline std::string describe(const VolumeGrid& g) {
  return format("{} x {} x {} voxels of {:g} x {:g} x {:g} mm from ({:g}, {:g}, {:g}) mm", g.nx, g.ny, g.nz,
                g.step_mm.x, g.step_mm.y, g.step_mm.z, g.origin_mm.x, g.origin_mm.y, g.origin_mm.z);
}

// Formats round positions to the digits they write: the same place is closer than a thousandth of a voxel.
inline bool same_grid(const VolumeGrid& a, const VolumeGrid& b) {
  if (a.nx != b.nx || a.ny != b.ny || a.nz != b.nz) return false;
  const auto close = [](Vec3 p, Vec3 q, Vec3 step) {
    return std::abs(p.x - q.x) <= 1e-3 * std::abs(step.x) && std::abs(p.y - q.y) <= 1e-3 * std::abs(step.y) &&
           std::abs(p.z - q.z) <= 1e-3 * std::abs(step.z);
  };
  const auto corner = [](const VolumeGrid& g) {
    return g.centre(static_cast<double>(g.nx - 1), static_cast<double>(g.ny - 1), static_cast<double>(g.nz - 1));
  };
  return close(a.origin_mm, b.origin_mm, a.step_mm) && close(corner(a), corner(b), a.step_mm);
}

}  // namespace lepus
