// SPDX-License-Identifier: Apache-2.0
// How far a ray runs through each of several closed surfaces, of which the last one counts where they overlap; a point
// is inside where the surface winds around it. For a device, whose threads have little memory: crossings are taken
// `capacity` at a time, in their order along the ray, and the surfaces are asked again for those behind.
#pragma once

#include <cstdint>

#include "project/box_nodes.h"
#include "project/surface_crossing.h"

namespace lepus {

// A surface in its own coordinates, to_unit * (x - centre); boxes and triangles where the machine reads them.
struct TracedSurface {
  const BoxNode* nodes = nullptr;
  const SurfaceTriangle* triangles = nullptr;  // in the order of the leaves
  const ClipPlane* clips = nullptr;            // in the ray's coordinates
  std::int64_t node_count = 0, triangle_count = 0, clip_count = 0;
  Matrix3 to_unit;
  Vec3 centre_mm;
  double size = 0;         // its diagonal, in its own coordinates
  std::int32_t group = 0;  // of the sum that lengths are added to,
  double factor = 1;       // times this
};

inline constexpr int maximum_overlapping_surfaces = 32;  // a bit each

// The first crossings behind a place, sorted along the ray. Which of two at the same place comes first means nothing,
// but it must be the same one whenever the surfaces are asked.
template <int capacity>
class CrossingsAhead {
public:
  struct Entry {
    double at = 0;
    std::int32_t surface = 0, triangle = 0, winding = 0;
  };

  LEPUS_HD void add(const Entry& entry) {
    if (started_ && !before(last_, entry)) return;
    int place = count_;
    while (place > 0 && before(entry, entries_[place - 1])) --place;
    more_ = more_ || count_ == capacity;
    if (place == capacity) return;
    count_ = count_ < capacity ? count_ + 1 : capacity;
    for (int i = count_ - 1; i > place; --i) entries_[i] = entries_[i - 1];
    entries_[place] = entry;
  }
  LEPUS_HD void clear() {
    count_ = 0;
    more_ = false;
  }
  // From now on only those behind the last one.
  LEPUS_HD void go_on() {
    last_ = entries_[count_ - 1];
    started_ = true;
    clear();
  }
  LEPUS_HD bool more() const { return more_; }
  LEPUS_HD int count() const { return count_; }
  LEPUS_HD const Entry& operator[](int i) const { return entries_[i]; }

private:
  LEPUS_HD static bool before(const Entry& a, const Entry& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.surface != b.surface ? a.surface < b.surface : a.triangle < b.triangle;
  }

  Entry entries_[capacity];
  Entry last_;
  int count_ = 0;
  bool more_ = false, started_ = false;
};

// False where the ray meets an edge, or rounding makes it pass a border without coming back.
template <int capacity>
LEPUS_HD bool take_crossings(const TracedSurface& surface, std::int32_t number, const Ray& ray, int attempt,
                             CrossingsAhead<capacity>& ahead) {
  const Interval within = clipped(ray, {-std::numeric_limits<double>::infinity(), ray.end}, surface.clips,
                                  static_cast<std::size_t>(surface.clip_count));
  if (within.empty()) return true;
  Ray mine;
  mine.origin_mm = attempted_origin(surface.to_unit * (ray.origin_mm - surface.centre_mm), surface.size, attempt);
  mine.direction = surface.to_unit * ray.direction;
  const ShearedRay sheared(mine);
  const Vec3 inverse{1 / mine.direction.x, 1 / mine.direction.y, 1 / mine.direction.z};
  bool clear = true;
  int winding = 0;
  descend(
      surface.nodes, [&](const Bounds& box) { return meets(box, mine, inverse); },
      [&](std::int32_t triangle) {
        SurfaceCrossing crossing;
        const TriangleMeeting meeting = meet(sheared, surface.triangles[triangle], crossing);
        clear = clear && meeting != TriangleMeeting::edge;
        if (meeting != TriangleMeeting::crossed) return;
        winding += crossing.winding;
        const double at = crossing.at < within.begin ? within.begin
                          : crossing.at > within.end ? within.end
                                                     : crossing.at;
        ahead.add({at, number, triangle, crossing.winding});
      });
  return clear && winding == 0;
}

// Adds to sums[group]. False where a surface cannot be traced along this ray. At most maximum_overlapping_surfaces.
template <int capacity>
LEPUS_HD bool add_lengths(const TracedSurface* surfaces, std::int32_t count, const Ray& ray, double* sums) {
  CrossingsAhead<capacity> ahead;
  std::int8_t attempt[maximum_overlapping_surfaces];
  std::int32_t winding[maximum_overlapping_surfaces];
  bool again = false;
  for (std::int32_t s = 0; s < count; ++s) {
    attempt[s] = 0;
    winding[s] = 0;
    while (!take_crossings(surfaces[s], s, ray, attempt[s], ahead)) {
      if (++attempt[s] == ray_attempts) return false;
      again = true;  // crossings of the failed attempt are among the others
    }
  }
  std::uint32_t inside = 0;  // a bit for every surface
  std::int32_t top = -1;
  double begin = 0, at = -std::numeric_limits<double>::infinity();
  // All crossings at a place count before it is asked what begins there.
  const auto settle = [&] {
    std::int32_t highest = -1;
    for (std::uint32_t left = inside; left != 0; left >>= 1) ++highest;
    if (highest == top) return;
    if (top >= 0) sums[surfaces[top].group] += surfaces[top].factor * (at - begin);
    top = highest;
    begin = at;
  };
  if (again) {
    ahead.clear();
    for (std::int32_t s = 0; s < count; ++s) take_crossings(surfaces[s], s, ray, attempt[s], ahead);
  }
  while (true) {
    for (int i = 0; i < ahead.count(); ++i) {
      const auto& crossing = ahead[i];
      if (crossing.at > at) {
        settle();
        at = crossing.at;
      }
      std::int32_t& around = winding[crossing.surface];
      around += crossing.winding;
      const std::uint32_t bit = std::uint32_t{1} << crossing.surface;
      inside = around != 0 ? inside | bit : inside & ~bit;
    }
    if (!ahead.more()) break;
    ahead.go_on();
    for (std::int32_t s = 0; s < count; ++s) take_crossings(surfaces[s], s, ray, attempt[s], ahead);
  }
  settle();
  return true;
}

}  // namespace lepus
