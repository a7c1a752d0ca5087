// SPDX-License-Identifier: Apache-2.0
// Rays, what they meet, boxes around it and planes that clip it. Lengths in mm.
#pragma once

#include <limits>

#include "project/host_device.h"
#include <lepus/math.h>

namespace lepus {

struct Interval {
  double begin = 0, end = 0;
  LEPUS_HD bool empty() const { return !(begin < end); }
};

// origin + t * direction; direction is a unit vector, so that t is in mm. Only [begin, end] counts.
struct Ray {
  Vec3 origin_mm, direction;
  double begin = -std::numeric_limits<double>::infinity();
  double end = std::numeric_limits<double>::infinity();
};

struct Bounds {
  Vec3 low, high;
};

// Keeps the points with dot(normal, x) <= offset. The normal need not be a unit vector.
struct ClipPlane {
  Vec3 normal;
  double offset_mm = 0;
};

// What is left of a piece of the ray, which may be empty.
LEPUS_HD inline Interval clipped(const Ray& ray, Interval t, const ClipPlane* clips, std::size_t count) {
  if (ray.begin > t.begin) t.begin = ray.begin;
  if (ray.end < t.end) t.end = ray.end;
  for (std::size_t i = 0; i < count && !t.empty(); ++i) {
    const double speed = dot(clips[i].normal, ray.direction);
    const double room = clips[i].offset_mm - dot(clips[i].normal, ray.origin_mm);
    if (speed > 0)
      t.end = room / speed < t.end ? room / speed : t.end;
    else if (speed < 0)
      t.begin = room / speed > t.begin ? room / speed : t.begin;
    else if (room < 0)
      t.end = t.begin;
  }
  return t;
}

}  // namespace lepus
