// SPDX-License-Identifier: Apache-2.0
// Signed distances from points to a surface of triangles: above zero outside. The sign is that of the angle-weighted
// normal of the face, edge or corner that is nearest, right for every closed surface (Baerentzen, Aanaes 2005). A tree
// of boxes finds it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/stl_file.h"
#include <lepus/math.h>

namespace lepus::analysis {

class MeshDistance {
public:
  // Triangles without area are left out. Throws Error(input) where nothing is left.
  explicit MeshDistance(const std::vector<Triangle>& triangles);

  struct Nearest {
    double signed_mm = 0;
    Vec3 normal;  // of the nearest triangle, of length 1
    Vec3 point;   // of the surface
  };
  Nearest nearest(Vec3 p) const;  // from any thread

  std::int64_t triangles() const { return static_cast<std::int64_t>(faces_.size()); }
  bool closed() const { return closed_; }  // every edge has two triangles
  // Its triangles are wound so that their normals point inwards. Where it is closed, that is put right.
  bool inside_out() const { return inside_out_; }
  Vec3 low_mm() const { return nodes_.front().low; }
  Vec3 high_mm() const { return nodes_.front().high; }
  double area_mm2() const { return area_mm2_; }
  Vec3 middle_mm() const { return middle_mm_; }  // of the surface, by area

private:
  struct Face {
    std::array<Vec3, 3> corners;
    Vec3 normal;                                       // of length 1
    std::array<Vec3, 3> edge_normals, corner_normals;  // edge i from corner i to i + 1; of any length
  };
  struct Node {
    Vec3 low, high;
    std::int32_t first = 0, count = 0;  // of faces; count 0: two nodes, from `first` on
  };
  void find_normals();
  void turn_normals();
  void build(std::size_t node, std::int64_t begin, std::int64_t end, std::vector<Vec3>& middles);

  std::vector<Face> faces_;
  std::vector<Node> nodes_;
  bool closed_ = true, inside_out_ = false;
  double area_mm2_ = 0;
  Vec3 middle_mm_;
};

}  // namespace lepus::analysis
