// SPDX-License-Identifier: Apache-2.0
// For tests: closed surfaces of solids whose chords are known.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "io/stl_file.h"

namespace lepus {

using SurfaceCorner = std::array<float, 3>;

// Twelve triangles; `inwards` turns them over.
inline std::vector<Triangle> box_surface(SurfaceCorner low, SurfaceCorner high, bool inwards = false) {
  std::vector<Triangle> triangles;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const bool upper : {false, true}) {
      const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
      const auto corner = [&](bool far_u, bool far_v) {
        SurfaceCorner c{};
        c[axis] = upper ? high[axis] : low[axis];
        c[u] = far_u ? high[u] : low[u];
        c[v] = far_v ? high[v] : low[v];
        return c;
      };
      const SurfaceCorner a = corner(false, false), b = corner(true, false), c = corner(true, true),
                          d = corner(false, true);
      if (upper != inwards)
        triangles.insert(triangles.end(), {{a, b, c}, {a, c, d}});
      else
        triangles.insert(triangles.end(), {{a, c, b}, {a, d, c}});
    }
  return triangles;
}

inline std::vector<Triangle> joined(std::vector<Triangle> a, const std::vector<Triangle>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Circles of latitude and meridians.
inline std::vector<Triangle> ball_surface(double radius, int rings) {
  const auto at = [&](int ring, int step) {
    const double polar = std::numbers::pi * ring / rings, turn = std::numbers::pi * (step % (2 * rings)) / rings;
    const double across = ring == 0 || ring == rings ? 0 : std::sin(polar);  // all meridians meet exactly at a pole
    return SurfaceCorner{static_cast<float>(radius * across * std::cos(turn)),
                         static_cast<float>(radius * across * std::sin(turn)),
                         static_cast<float>(radius * std::cos(polar))};
  };
  std::vector<Triangle> triangles;
  for (int ring = 0; ring < rings; ++ring)
    for (int step = 0; step < 2 * rings; ++step) {
      if (ring > 0) triangles.push_back({at(ring, step), at(ring + 1, step), at(ring, step + 1)});
      if (ring < rings - 1) triangles.push_back({at(ring + 1, step), at(ring + 1, step + 1), at(ring, step + 1)});
    }
  return triangles;
}

}  // namespace lepus
