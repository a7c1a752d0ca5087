// SPDX-License-Identifier: Apache-2.0
// A solid bounded by triangles, as STL files have it: closed, of any shape, with cavities and several parts. A point is
// inside where the surface winds around it, so parts may overlap, and corners may run either way round.
#pragma once

#include <cstdint>
#include <vector>

#include "io/stl_file.h"
#include "simulate/box_tree.h"
#include "project/ray.h"
#include "project/surface_crossing.h"

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
  // For a machine that traces rays itself.
  const std::vector<BoxNode>& nodes() const { return tree_.nodes(); }
  const std::vector<SurfaceTriangle>& triangles() const { return triangles_; }  // in the order of the leaves
  [[noreturn]] static void untraceable();                                       // throws
  double size() const { return size_; }                                         // its diagonal

private:
  bool cross(const Ray& ray, std::vector<SurfaceCrossing>& crossings) const;

  std::vector<SurfaceTriangle> triangles_;
  Bounds bounds_;
  double size_ = 0;
  double volume_ = 0;
  BoxTree tree_;
};

}  // namespace lepus
