// SPDX-License-Identifier: Apache-2.0
// A hierarchy of axis-aligned boxes as its nodes lie in memory, and the walk through it, for host and device.
#pragma once

#include <cstdint>

#include "project/ray.h"

namespace lepus {

struct BoxNode {
  Bounds bounds;
  std::int32_t first = 0;  // leaf: of its boxes; inner: the index of the right child (the left one follows the node)
  std::int32_t count = 0;  // leaf: boxes; inner: 0
};

// Slabs. Where a direction is zero the division gives infinities of the right sign, or NaN for an origin exactly on a
// face: then the comparisons leave the limits as they are, and the face counts as met.
LEPUS_HD inline void cut_to_slab(double low, double high, double origin, double inverse, Interval& t) {
  const double a = (low - origin) * inverse, c = (high - origin) * inverse;
  const double near_side = a < c ? a : c, far_side = a < c ? c : a;
  if (near_side > t.begin) t.begin = near_side;
  if (far_side < t.end) t.end = far_side;
}

// `inverse`: 1 / direction, each for itself.
LEPUS_HD inline bool meets(const Bounds& box, const Ray& ray, Vec3 inverse) {
  Interval t{ray.begin, ray.end};
  cut_to_slab(box.low.x, box.high.x, ray.origin_mm.x, inverse.x, t);
  cut_to_slab(box.low.y, box.high.y, ray.origin_mm.y, inverse.y, t);
  cut_to_slab(box.low.z, box.high.z, ray.origin_mm.z, inverse.z, t);
  return t.begin <= t.end;
}

// visit(index) for the boxes of every leaf whose own box, and whose parents', are accepted.
template <class Accept, class Visit>
LEPUS_HD void descend(const BoxNode* nodes, const Accept& accept, const Visit& visit) {
  std::int32_t stack[32];  // halving: one level more than 2^31 boxes need
  int depth = 0;
  std::int32_t node = 0;
  while (true) {
    const BoxNode& n = nodes[node];
    if (accept(n.bounds)) {
      if (n.count == 0) {
        stack[depth++] = n.first;
        node = node + 1;
        continue;
      }
      for (std::int32_t i = n.first; i < n.first + n.count; ++i) visit(i);
    }
    if (depth == 0) return;
    node = stack[--depth];
  }
}

}  // namespace lepus
