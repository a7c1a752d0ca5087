// SPDX-License-Identifier: Apache-2.0
#include "analysis/mesh_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr std::int64_t faces_in_leaf = 4;

Vec3 vec(const std::array<float, 3>& c) { return {c[0], c[1], c[2]}; }

double of_axis(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

Vec3 lower(Vec3 a, Vec3 b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
Vec3 upper(Vec3 a, Vec3 b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

double squared_to_box(Vec3 p, Vec3 low, Vec3 high) {
  const Vec3 q = upper(low, lower(p, high)) - p;
  return dot(q, q);
}

// The nearest point of a triangle, and what it lies on: 0, 1, 2 a corner, 3, 4, 5 the edge from corner 0, 1, 2, 6 the
// face (Ericson 2005, 5.1.5).
struct OnTriangle {
  Vec3 point;
  int feature = 6;
};
OnTriangle nearest_on(const std::array<Vec3, 3>& t, Vec3 p) {
  const Vec3 ab = t[1] - t[0], ac = t[2] - t[0], ap = p - t[0], bp = p - t[1], cp = p - t[2];
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
  if (d1 <= 0 && d2 <= 0) return {t[0], 0};
  if (d3 >= 0 && d4 <= d3) return {t[1], 1};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return {t[0] + d1 / (d1 - d3) * ab, 3};
  if (d6 >= 0 && d5 <= d6) return {t[2], 2};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return {t[0] + d2 / (d2 - d6) * ac, 5};
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) return {t[1] + (d4 - d3) / (d4 - d3 + d5 - d6) * (t[2] - t[1]), 4};
  const double all = va + vb + vc;
  return {t[0] + vb / all * ab + vc / all * ac, 6};
}

}  // namespace

MeshDistance::MeshDistance(const std::vector<Triangle>& triangles) {
  for (const Triangle& t : triangles) {
    Face face;
    for (std::size_t i = 0; i < 3; ++i) face.corners[i] = vec(t[i]);
    const Vec3 across = cross(face.corners[1] - face.corners[0], face.corners[2] - face.corners[0]);
    if (!(norm(across) > 0)) continue;
    face.normal = normalized(across);
    const double area = norm(across) / 2;
    area_mm2_ += area;
    middle_mm_ = middle_mm_ + area / 3 * (face.corners[0] + face.corners[1] + face.corners[2]);
    faces_.push_back(face);
  }
  if (faces_.empty())
    throw Error(ErrorKind::input, {.what = "the nominal surface has no area",
                                   .where = "option --nominal",
                                   .why = "all its triangles are points or lines",
                                   .hint = "export it again"});
  middle_mm_ = middle_mm_ / area_mm2_;
  find_normals();
  double volume = 0;  // six times
  for (const Face& f : faces_)
    volume += dot(f.corners[0] - middle_mm_, cross(f.corners[1] - middle_mm_, f.corners[2] - middle_mm_));
  // A surface that is not closed encloses about nothing, or it is nearly closed: a ball has 0.09.
  const double share = volume / 6 / std::pow(area_mm2_, 1.5);
  inside_out_ = share < (closed_ ? 0 : -0.01);
  if (inside_out_ && closed_) turn_normals();
  std::vector<Vec3> middles;
  for (const Face& f : faces_) middles.push_back((f.corners[0] + f.corners[1] + f.corners[2]) / 3);
  nodes_.resize(1);
  build(0, 0, static_cast<std::int64_t>(faces_.size()), middles);
}

// Corners in the same place are one; sums run in the order of the file.
void MeshDistance::find_normals() {
  const auto key = [](Vec3 v) { return std::array<double, 3>{v.x, v.y, v.z}; };
  std::map<std::array<double, 3>, Vec3> corners;
  struct Edge {
    Vec3 normal;
    int faces = 0;
  };
  std::map<std::array<std::array<double, 3>, 2>, Edge> edges;
  const auto edge_key = [&](const Face& f, std::size_t i) {
    std::array<std::array<double, 3>, 2> both{key(f.corners[i]), key(f.corners[(i + 1) % 3])};
    if (both[1] < both[0]) std::swap(both[0], both[1]);
    return both;
  };
  for (const Face& f : faces_)
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 a = normalized(f.corners[(i + 1) % 3] - f.corners[i]),
                 b = normalized(f.corners[(i + 2) % 3] - f.corners[i]);
      Vec3& corner = corners[key(f.corners[i])];
      corner = corner + std::acos(std::clamp(dot(a, b), -1.0, 1.0)) * f.normal;
      Edge& edge = edges[edge_key(f, i)];
      edge.normal = edge.normal + f.normal;
      ++edge.faces;
    }
  for (const auto& [ends, edge] : edges) closed_ = closed_ && edge.faces == 2;
  for (Face& f : faces_)
    for (std::size_t i = 0; i < 3; ++i) {
      f.corner_normals[i] = corners[key(f.corners[i])];
      f.edge_normals[i] = edges[edge_key(f, i)].normal;
    }
}

void MeshDistance::turn_normals() {
  for (Face& f : faces_) {
    f.normal = -f.normal;
    for (std::size_t i = 0; i < 3; ++i) {
      f.edge_normals[i] = -f.edge_normals[i];
      f.corner_normals[i] = -f.corner_normals[i];
    }
  }
}

void MeshDistance::build(std::size_t node, std::int64_t begin, std::int64_t end, std::vector<Vec3>& middles) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Vec3 low{infinity, infinity, infinity}, high = -low, first = low, last = -low;
  for (std::int64_t i = begin; i < end; ++i) {
    for (const Vec3& c : faces_[static_cast<std::size_t>(i)].corners) {
      low = lower(low, c);
      high = upper(high, c);
    }
    first = lower(first, middles[static_cast<std::size_t>(i)]);
    last = upper(last, middles[static_cast<std::size_t>(i)]);
  }
  nodes_[node] = {low, high, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin)};
  if (end - begin <= faces_in_leaf) return;
  const Vec3 wide = last - first;
  const int axis = wide.x >= wide.y && wide.x >= wide.z ? 0 : wide.y >= wide.z ? 1 : 2;
  // The order of the halves is by place and number: the same tree for the same file.
  std::vector<std::int64_t> order(static_cast<std::size_t>(end - begin));
  std::iota(order.begin(), order.end(), begin);
  const auto half = static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), order.begin() + half, order.end(), [&](std::int64_t a, std::int64_t b) {
    const double at = of_axis(middles[static_cast<std::size_t>(a)], axis),
                 bt = of_axis(middles[static_cast<std::size_t>(b)], axis);
    return at != bt ? at < bt : a < b;
  });
  std::vector<Face> faces;
  std::vector<Vec3> sorted;
  for (const std::int64_t i : order) {
    faces.push_back(faces_[static_cast<std::size_t>(i)]);
    sorted.push_back(middles[static_cast<std::size_t>(i)]);
  }
  std::copy(faces.begin(), faces.end(), faces_.begin() + begin);
  std::copy(sorted.begin(), sorted.end(), middles.begin() + begin);
  const std::size_t children = nodes_.size();
  nodes_.resize(children + 2);
  nodes_[node].first = static_cast<std::int32_t>(children);
  nodes_[node].count = 0;
  build(children, begin, begin + half, middles);
  build(children + 1, begin + half, end, middles);
}

MeshDistance::Nearest MeshDistance::nearest(Vec3 p) const {
  double best = std::numeric_limits<double>::infinity();
  const Face* face = &faces_.front();  // one is as good as another where all squares overflow
  OnTriangle where;
  std::array<std::int32_t, 128> stack;  // twice the depth of a tree of 2^31 faces, and more
  std::size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[static_cast<std::size_t>(stack[--depth])];
    if (squared_to_box(p, node.low, node.high) >= best) continue;
    if (node.count > 0) {
      for (std::int32_t i = node.first; i < node.first + node.count; ++i) {
        const OnTriangle on = nearest_on(faces_[static_cast<std::size_t>(i)].corners, p);
        const double squared = dot(p - on.point, p - on.point);
        if (squared >= best) continue;
        best = squared;
        face = &faces_[static_cast<std::size_t>(i)];
        where = on;
      }
      continue;
    }
    const Node &a = nodes_[static_cast<std::size_t>(node.first)], &b = nodes_[static_cast<std::size_t>(node.first) + 1];
    const bool a_first = squared_to_box(p, a.low, a.high) <= squared_to_box(p, b.low, b.high);
    stack[depth++] = node.first + (a_first ? 1 : 0);
    stack[depth++] = node.first + (a_first ? 0 : 1);
  }
  const auto feature = static_cast<std::size_t>(where.feature);
  const Vec3 normal = feature < 3   ? face->corner_normals[feature]
                      : feature < 6 ? face->edge_normals[feature - 3]
                                    : face->normal;
  const double sign = dot(p - where.point, normal) >= 0 ? 1 : -1;
  return {sign * std::sqrt(best), face->normal, where.point};
}

}  // namespace lepus::analysis
