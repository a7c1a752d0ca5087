// SPDX-License-Identifier: Apache-2.0
// Builds the hierarchy: halves at the median along the longest side of the centres, down to four boxes a leaf.
#include "simulate/box_tree.h"

#include <algorithm>
#include <numeric>

namespace lepus {
namespace {

constexpr std::int32_t leaf_size = 4;

double component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

}  // namespace

BoxTree::BoxTree(const std::vector<Bounds>& boxes) {
  if (boxes.empty()) return;
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  build(boxes, 0, static_cast<std::int32_t>(boxes.size()));
}

std::int32_t BoxTree::build(const std::vector<Bounds>& boxes, std::int32_t first, std::int32_t last) {
  const auto bounds_of = [&](std::int32_t i) -> const Bounds& { return boxes[static_cast<std::size_t>(i)]; };
  const auto index = static_cast<std::int32_t>(nodes_.size());
  BoxNode node;
  node.bounds = bounds_of(order_[static_cast<std::size_t>(first)]);
  Vec3 low = node.bounds.low + node.bounds.high, high = low;
  for (std::int32_t i = first; i < last; ++i) {
    const Bounds& b = bounds_of(order_[static_cast<std::size_t>(i)]);
    Bounds& n = node.bounds;
    n.low = {std::min(n.low.x, b.low.x), std::min(n.low.y, b.low.y), std::min(n.low.z, b.low.z)};
    n.high = {std::max(n.high.x, b.high.x), std::max(n.high.y, b.high.y), std::max(n.high.z, b.high.z)};
    const Vec3 c = b.low + b.high;
    low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
    high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
  }
  if (last - first <= leaf_size) {
    node.first = first;
    node.count = last - first;
    nodes_.push_back(node);
    return index;
  }
  nodes_.push_back(node);
  const Vec3 size = high - low;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const std::int32_t middle = (first + last) / 2;
  std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last,
                   [&](std::int32_t a, std::int32_t b) {
                     const double ca = component(bounds_of(a).low + bounds_of(a).high, axis);
                     const double cb = component(bounds_of(b).low + bounds_of(b).high, axis);
                     return ca != cb ? ca < cb : a < b;
                   });
  build(boxes, first, middle);
  const std::int32_t right = build(boxes, middle, last);
  nodes_[static_cast<std::size_t>(index)].first = right;
  return index;
}

}  // namespace lepus
