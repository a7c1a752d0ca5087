// SPDX-License-Identifier: Apache-2.0
// A solid bounded by triangles, as STL files have it: closed, of any shape, with cavities and several parts. A point is
// inside where the surface winds around it, so parts may overlap, and corners may run either way round.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/stl_file.h"
#include "simulate/box_tree.h"
#include "simulate/ray.h"

namespace lepus {

class ClosedMesh {
public:
  // Throws Error(input) naming `where` if an edge has no triangle on its other side, or nothing is enclosed.
  ClosedMesh(const std::vector<Triangle>& triangles, const std::string& where);

  // The pieces of the ray inside, in order; its begin and end are not regarded, and its direction may have any length.
  void intersect(const Ray& ray, std::vector<Interval>& inside) const;
  bool contains(Vec3 point) const;

  const Bounds& bounds() const { return bounds_; }
  double volume() const { return volume_; }
  std::int64_t triangles() const { return static_cast<std::int64_t>(corners_.size()); }

private:
  struct Crossing {
    double at = 0;
    int winding = 0;  // what is added to it behind the crossing
  };
  bool cross(const Ray& ray, std::vector<Crossing>& crossings) const;

  std::vector<std::array<Vec3, 3>> corners_;
  Bounds bounds_;
  double volume_ = 0;
  BoxTree tree_;
};

}  // namespace lepus
