// SPDX-License-Identifier: Apache-2.0
// The host's walk through a surface; its formulas are in project/surface_crossing.h.
#include "simulate/mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using Corner = std::array<float, 3>;

Vec3 point(const Corner& c) { return {c[0], c[1], c[2]}; }

[[noreturn]] void refuse(const std::string& where, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::input,
              {.what = "the surface does not enclose a solid", .where = where, .why = why, .hint = hint});
}

// Every edge is passed as often in one direction as in the other.
void require_closed(const std::vector<Triangle>& triangles, const std::string& where) {
  std::map<std::pair<Corner, Corner>, std::int64_t> passed;
  for (const Triangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const Corner &a = t[i], &b = t[(i + 1) % 3];
      if (a == b) continue;
      if (a < b)
        ++passed[{a, b}];
      else
        --passed[{b, a}];
    }
  std::int64_t open = 0;
  const Corner* example = nullptr;
  for (const auto& [edge, balance] : passed)
    if (balance != 0) {
      ++open;
      if (!example) example = &edge.first;
    }
  if (open > 0)
    refuse(where,
           format("{} edges have no triangle on their other side, the first at ({}, {}, {})", open, (*example)[0],
                  (*example)[1], (*example)[2]),
           "close the holes, or turn the triangles that face the wrong way, in the program that made it");
}

Vec3 smaller(Vec3 a, Vec3 b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
Vec3 larger(Vec3 a, Vec3 b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

}  // namespace

ClosedMesh::ClosedMesh(const std::vector<Triangle>& triangles, const std::string& where) {
  if (triangles.empty()) refuse(where, "it has no triangle", "give a surface");
  require_closed(triangles, where);
  bounds_ = {point(triangles[0][0]), point(triangles[0][0])};
  std::vector<SurfaceTriangle> corners;
  for (const Triangle& t : triangles) {
    corners.push_back({point(t[0]), point(t[1]), point(t[2])});
    for (const Corner& corner : t) bounds_ = {smaller(bounds_.low, point(corner)), larger(bounds_.high, point(corner))};
  }
  size_ = norm(bounds_.high - bounds_.low);
  const Vec3 middle = 0.5 * (bounds_.low + bounds_.high);
  for (const auto& [a, b, c] : corners) volume_ += dot(a - middle, lepus::cross(b - middle, c - middle)) / 6;
  volume_ = std::abs(volume_);
  if (!(volume_ > 0)) refuse(where, "its volume is zero", "give a surface around a solid");

  // A little larger, so that rounding in the box test never loses a triangle.
  const double more = 1e-12 * (norm(bounds_.low) + norm(bounds_.high));
  const Vec3 margin{more, more, more};
  std::vector<Bounds> boxes;
  boxes.reserve(corners.size());
  for (const auto& [a, b, c] : corners)
    boxes.push_back({smaller(smaller(a, b), c) - margin, larger(larger(a, b), c) + margin});
  tree_ = BoxTree(boxes);
  triangles_.reserve(corners.size());
  for (const std::int32_t index : tree_.order()) triangles_.push_back(corners[static_cast<std::size_t>(index)]);
}

// False where the ray meets an edge, or rounding makes it pass a border without coming back.
bool ClosedMesh::cross(const Ray& ray, std::vector<SurfaceCrossing>& crossings) const {
  crossings.clear();
  const ShearedRay sheared(ray);
  const Vec3 inverse{1 / ray.direction.x, 1 / ray.direction.y, 1 / ray.direction.z};
  bool clear = true;
  int winding = 0;
  descend(
      nodes().data(), [&](const Bounds& box) { return meets(box, ray, inverse); },
      [&](std::int32_t index) {
        SurfaceCrossing crossing;
        const TriangleMeeting meeting = meet(sheared, triangles_[static_cast<std::size_t>(index)], crossing);
        clear = clear && meeting != TriangleMeeting::edge;
        if (meeting != TriangleMeeting::crossed) return;
        crossings.push_back(crossing);
        winding += crossing.winding;
      });
  return clear && winding == 0;
}

void ClosedMesh::intersect(const Ray& ray, std::vector<Interval>& inside) const {
  inside.clear();
  thread_local std::vector<SurfaceCrossing> crossings;
  Ray tried = ray;
  tried.begin = -std::numeric_limits<double>::infinity();
  tried.end = std::numeric_limits<double>::infinity();
  for (int attempt = 1; !cross(tried, crossings); ++attempt) {
    if (attempt == ray_attempts) untraceable();
    tried.origin_mm = attempted_origin(ray.origin_mm, size_, attempt);
  }
  std::ranges::sort(crossings, {}, &SurfaceCrossing::at);
  int winding = 0;
  for (const SurfaceCrossing& crossing : crossings) {
    const int before = std::exchange(winding, winding + crossing.winding);
    if (before == 0 && (inside.empty() || inside.back().end != crossing.at))  // else what ended there goes on
      inside.push_back({crossing.at, crossing.at});
    else if (winding == 0)
      inside.back().end = crossing.at;
  }
}

void ClosedMesh::untraceable() {
  throw Error(ErrorKind::internal,
              {.what = "a ray cannot be traced through a surface", .where = "mesh", .why = {}, .hint = {}});
}

bool ClosedMesh::contains(Vec3 point) const {
  thread_local std::vector<Interval> inside;
  intersect({point, {1, 0, 0}}, inside);
  return std::ranges::any_of(inside, [](const Interval& t) { return t.begin <= 0 && t.end >= 0; });
}

}  // namespace lepus
