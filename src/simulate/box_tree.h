// SPDX-License-Identifier: Apache-2.0
// A bounding-volume hierarchy over axis-aligned boxes: which of thousands may a ray or a point meet.
#pragma once

#include <cstdint>
#include <vector>

#include "project/box_nodes.h"

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
    descend(
        nodes_.data(), [&](const Bounds& box) { return meets(box, ray, inverse); },
        [&](std::int32_t i) { visit(order_[static_cast<std::size_t>(i)]); });
  }

  // Calls visit(index) for every box that holds the point.
  template <class Visit>
  void at(Vec3 p, Visit&& visit) const {
    if (nodes_.empty()) return;
    descend(
        nodes_.data(),
        [&](const Bounds& b) {
          return p.x >= b.low.x && p.x <= b.high.x && p.y >= b.low.y && p.y <= b.high.y && p.z >= b.low.z &&
                 p.z <= b.high.z;
        },
        [&](std::int32_t i) { visit(order_[static_cast<std::size_t>(i)]); });
  }

  const std::vector<BoxNode>& nodes() const { return nodes_; }
  const std::vector<std::int32_t>& order() const { return order_; }  // of the boxes, as the leaves have them

private:
  std::int32_t build(const std::vector<Bounds>& boxes, std::int32_t first, std::int32_t last);

  std::vector<BoxNode> nodes_;
  std::vector<std::int32_t> order_;
};

}  // namespace lepus
