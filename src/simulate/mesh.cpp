// SPDX-License-Identifier: Apache-2.0
// The ray is sheared onto an axis: triangles then lie in a plane, the ray is its origin, and three signs of areas say
// whether it passes through one. A ray that meets an edge or a corner exactly passes through two triangles or none; it
// is moved by far less than any part has of accuracy, and tried again.
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

// Coordinates in which the ray is the z axis, from its origin on, and z counts its directions.
class Shear {
public:
  explicit Shear(const Ray& ray) : origin_(ray.origin_mm) {
    const double d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
    while (std::abs(d[z_]) < std::max(std::abs(d[(z_ + 1) % 3]), std::abs(d[(z_ + 2) % 3]))) ++z_;
    per_z_ = 1 / d[z_];
    x_ = d[(z_ + 1) % 3] * per_z_;
    y_ = d[(z_ + 2) % 3] * per_z_;
  }
  Vec3 operator()(Vec3 p) const {
    const double q[3] = {p.x - origin_.x, p.y - origin_.y, p.z - origin_.z};
    return {q[(z_ + 1) % 3] - x_ * q[z_], q[(z_ + 2) % 3] - y_ * q[z_], q[z_] * per_z_};
  }

private:
  Vec3 origin_;
  std::size_t z_ = 0;
  double per_z_ = 1, x_ = 0, y_ = 0;
};

// Twice the area of the origin, a and b; exactly the opposite for b and a.
double area(Vec3 a, Vec3 b) { return a.x * b.y - a.y * b.x; }

}  // namespace

ClosedMesh::ClosedMesh(const std::vector<Triangle>& triangles, const std::string& where) {
  if (triangles.empty()) refuse(where, "it has no triangle", "give a surface");
  require_closed(triangles, where);
  bounds_ = {point(triangles[0][0]), point(triangles[0][0])};
  for (const Triangle& t : triangles) {
    corners_.push_back({point(t[0]), point(t[1]), point(t[2])});
    for (const Vec3& corner : corners_.back()) bounds_ = {smaller(bounds_.low, corner), larger(bounds_.high, corner)};
  }
  const Vec3 middle = 0.5 * (bounds_.low + bounds_.high);
  for (const auto& [a, b, c] : corners_) volume_ += dot(a - middle, lepus::cross(b - middle, c - middle)) / 6;
  volume_ = std::abs(volume_);
  if (!(volume_ > 0)) refuse(where, "its volume is zero", "give a surface around a solid");

  // A little larger, so that rounding in the box test never loses a triangle.
  const double more = 1e-12 * (norm(bounds_.low) + norm(bounds_.high));
  const Vec3 margin{more, more, more};
  std::vector<Bounds> boxes;
  for (const auto& [a, b, c] : corners_)
    boxes.push_back({smaller(smaller(a, b), c) - margin, larger(larger(a, b), c) + margin});
  tree_ = BoxTree(boxes);
}

// False where the ray meets an edge, or rounding makes it pass a border without coming back.
bool ClosedMesh::cross(const Ray& ray, std::vector<Crossing>& crossings) const {
  crossings.clear();
  const Shear sheared(ray);
  bool clear = true;
  int winding = 0;
  tree_.along(ray, [&](std::int32_t index) {
    const auto& [p, q, r] = corners_[static_cast<std::size_t>(index)];
    const Vec3 a = sheared(p), b = sheared(q), c = sheared(r);
    const double at_a = area(b, c), at_b = area(c, a), at_c = area(a, b);
    if ((at_a < 0 || at_b < 0 || at_c < 0) && (at_a > 0 || at_b > 0 || at_c > 0)) return;
    const double sum = at_a + at_b + at_c;
    if (at_a == 0 || at_b == 0 || at_c == 0) {
      clear = clear && sum == 0;  // seen edge-on it has no area: its neighbours know
      return;
    }
    const int side = sum > 0 ? 1 : -1;
    crossings.push_back({(at_a * a.z + at_b * b.z + at_c * c.z) / sum, side});
    winding += side;
  });
  return clear && winding == 0;
}

void ClosedMesh::intersect(const Ray& ray, std::vector<Interval>& inside) const {
  inside.clear();
  thread_local std::vector<Crossing> crossings;
  const double size = norm(bounds_.high - bounds_.low);
  Ray tried = ray;
  for (int attempt = 1; !cross(tried, crossings); ++attempt) {
    constexpr int attempts = 20;
    if (attempt == attempts)
      throw Error(ErrorKind::internal,
                  {.what = "a ray cannot be traced through a surface", .where = "mesh", .why = {}, .hint = {}});
    const double step = 1e-10 * size * attempt;
    tried.origin_mm = ray.origin_mm + Vec3{step, 0.618 * step, -0.382 * step};
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) { return a.at < b.at; });
  int winding = 0;
  for (const Crossing& crossing : crossings) {
    const int before = std::exchange(winding, winding + crossing.winding);
    if (before == 0)
      inside.push_back({crossing.at, crossing.at});
    else if (winding == 0)
      inside.back().end = crossing.at;
  }
}

bool ClosedMesh::contains(Vec3 point) const {
  thread_local std::vector<Interval> inside;
  intersect({point, {1, 0, 0}}, inside);
  return std::ranges::any_of(inside, [](const Interval& t) { return t.begin <= 0 && t.end >= 0; });
}

}  // namespace lepus
