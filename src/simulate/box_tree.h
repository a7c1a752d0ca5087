// SPDX-License-Identifier: Apache-2.0
// A bounding-volume hierarchy over axis-aligned boxes: which of thousands may a ray or a point meet.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/ray.h"

namespace lepus {

class BoxTree {
public:
  BoxTree() = default;
  explicit BoxTree(const std::vector<Bounds>& boxes);

  // Calls visit(index) for every box that the ray meets.
  template <class Visit>
  void along(const Ray& ray, Visit&& visit) const {
    if (nodes_.empty()) return;
    const Vec3 inverse{1 / ray.direction.x, 1 / ray.direction.y, 1 / ray.direction.z};
    descend([&](const Bounds& box) { return meets(box, ray, inverse); }, visit);
  }

  // Calls visit(index) for every box that holds the point.
  template <class Visit>
  void at(Vec3 p, Visit&& visit) const {
    if (nodes_.empty()) return;
    descend(
        [&](const Bounds& b) {
          return p.x >= b.low.x && p.x <= b.high.x && p.y >= b.low.y && p.y <= b.high.y && p.z >= b.low.z &&
                 p.z <= b.high.z;
        },
        visit);
  }

private:
  struct Node {
    Bounds bounds;
    std::int32_t first = 0;  // leaf: into order_; inner: the index of the right child (the left one follows the node)
    std::int32_t count = 0;  // leaf: boxes; inner: 0
  };

  template <class Accept, class Visit>
  void descend(Accept&& accept, Visit&& visit) const {
    std::int32_t stack[64];  // halving: far deeper than 2^31 boxes need
    int depth = 0;
    std::int32_t node = 0;
    while (true) {
      const Node& n = nodes_[static_cast<std::size_t>(node)];
      if (accept(n.bounds)) {
        if (n.count == 0) {
          stack[depth++] = n.first;
          node = node + 1;
          continue;
        }
        for (std::int32_t i = 0; i < n.count; ++i)
          visit(order_[static_cast<std::size_t>(n.first) + static_cast<std::size_t>(i)]);
      }
      if (depth == 0) return;
      node = stack[--depth];
    }
  }

  // Slabs. Where a direction is zero the division gives infinities of the right sign, or NaN for an origin exactly on a
  // face: then the comparisons leave the limits as they are, and the face counts as met.
  static bool meets(const Bounds& b, const Ray& ray, Vec3 inverse) {
    double begin = ray.begin, end = ray.end;
    const auto slab = [&](double low, double high, double origin, double inv) {
      const double a = (low - origin) * inv, c = (high - origin) * inv;
      const double near_side = a < c ? a : c, far_side = a < c ? c : a;
      if (near_side > begin) begin = near_side;
      if (far_side < end) end = far_side;
    };
    slab(b.low.x, b.high.x, ray.origin_mm.x, inverse.x);
    slab(b.low.y, b.high.y, ray.origin_mm.y, inverse.y);
    slab(b.low.z, b.high.z, ray.origin_mm.z, inverse.z);
    return begin <= end;
  }

  std::int32_t build(const std::vector<Bounds>& boxes, std::int32_t first, std::int32_t last);

  std::vector<Node> nodes_;
  std::vector<std::int32_t> order_;
};

}  // namespace lepus
