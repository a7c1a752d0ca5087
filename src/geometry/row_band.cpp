// SPDX-License-Identifier: Apache-2.0
// Row bands, exactly. v = (a.x + a0)/(b.x + b0) of a point x = (x, y) in a slice: where it is constant is a line, so
// over a convex region in front of the source its extremes lie at extreme points. The region is a rectangle (the voxel
// centres) cut by a disk (the field of view); its extreme points are the rectangle's corners inside the disk, the
// points where edges cross the circle, and arcs, on which v is stationary where its line touches the circle:
//   |a - v b| r = |a0 - v b0|,  a quadratic in v whose roots are the extremes over the disk.
// In z the extremes lie in the first or the last slice. About 100 operations per slice; no sampling.
#include "geometry/row_band.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lepus {
namespace {

// Points closer to the source's plane than this part of its distance are not projected: v is unbounded there.
constexpr double nearest_w = 1e-3;

struct Rectangle {
  double x0, x1, y0, y1;
  bool contains(double x, double y, double slack) const {
    return x >= x0 - slack && x <= x1 + slack && y >= y0 - slack && y <= y1 + slack;
  }
};

Rectangle voxel_centres(const VolumeGrid& grid) {
  const auto [x0, x1] = std::minmax({grid.origin_mm.x, grid.centre(static_cast<double>(grid.nx - 1), 0, 0).x});
  const auto [y0, y1] = std::minmax({grid.origin_mm.y, grid.centre(0, static_cast<double>(grid.ny - 1), 0).y});
  return {x0, x1, y0, y1};
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool unbounded = false;  // some of the region cannot be projected
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

// v = (ax x + ay y + a0) / (bx x + by y + b0) in one slice.
struct SliceProjection {
  double ax, ay, a0, bx, by, b0;

  SliceProjection(const Matrix34& p, Beam beam, double z)
      : ax(p(1, 0)), ay(p(1, 1)), a0(p(1, 2) * z + p(1, 3)), bx(p(2, 0)), by(p(2, 1)), b0(p(2, 2) * z + p(2, 3)) {
    if (beam == Beam::fan) bx = by = 0, b0 = 1;
  }
  double depth(double x, double y) const { return bx * x + by * y + b0; }
  double row(double x, double y) const { return (ax * x + ay * y + a0) / depth(x, y); }
};

void add_corners(const SliceProjection& p, const Rectangle& box, double radius2, Range& range) {
  for (const double x : {box.x0, box.x1})
    for (const double y : {box.y0, box.y1})
      if (x * x + y * y <= radius2) range.add(p.row(x, y));
}

void add_crossings(const SliceProjection& p, const Rectangle& box, double radius2, double slack, Range& range) {
  for (const double x : {box.x0, box.x1})
    if (const double rest = radius2 - x * x; rest >= 0)
      for (const double y : {std::sqrt(rest), -std::sqrt(rest)})
        if (box.contains(x, y, slack)) range.add(p.row(x, y));
  for (const double y : {box.y0, box.y1})
    if (const double rest = radius2 - y * y; rest >= 0)
      for (const double x : {std::sqrt(rest), -std::sqrt(rest)})
        if (box.contains(x, y, slack)) range.add(p.row(x, y));
}

void add_tangents(const SliceProjection& p, const Rectangle& box, double radius2, double slack, Range& range) {
  const double a = p.b0 * p.b0 - radius2 * (p.bx * p.bx + p.by * p.by);  // > 0: the disk is in front of the source
  const double half_b = p.a0 * p.b0 - radius2 * (p.ax * p.bx + p.ay * p.by);
  const double c = p.a0 * p.a0 - radius2 * (p.ax * p.ax + p.ay * p.ay);
  const double root = std::sqrt(std::max(0.0, half_b * half_b - a * c));
  for (const double v : {(half_b - root) / a, (half_b + root) / a}) {
    const double gx = p.ax - v * p.bx, gy = p.ay - v * p.by, g2 = gx * gx + gy * gy;
    const double foot = g2 > 0 ? -(p.a0 - v * p.b0) / g2 : 0;
    if (box.contains(foot * gx, foot * gy, slack)) range.add(v);
  }
}

void add_slice(const Matrix34& matrix, Beam beam, double z, const Rectangle& box, double radius, Range& range) {
  const SliceProjection p(matrix, beam, z);
  const double slope = std::hypot(p.bx, p.by);
  const double limit = nearest_w * std::max(1.0, std::abs(p.b0));
  if (p.b0 - radius * slope > limit) {
    const double slack = 1e-9 * radius, radius2 = radius * radius;
    // The voxel centre nearest to the axis always counts: where a whole slice falls onto one row, as in the plane of
    // the source, its tangents are nowhere in particular.
    const double x = std::clamp(0.0, box.x0, box.x1), y = std::clamp(0.0, box.y0, box.y1);
    if (x * x + y * y <= radius2) range.add(p.row(x, y));
    add_corners(p, box, radius2, range);
    add_crossings(p, box, radius2, slack, range);
    add_tangents(p, box, radius2, slack, range);
    return;
  }
  // The disk reaches the source's plane. The box alone may still be in front of it; its corners then bound it.
  for (const double x : {box.x0, box.x1})
    for (const double y : {box.y0, box.y1})
      if (p.depth(x, y) <= limit) range.unbounded = true;
  if (!range.unbounded) add_corners(p, box, std::numeric_limits<double>::infinity(), range);
}

}  // namespace

RowBand common_rows(RowBand a, RowBand b) {
  const RowBand both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.last > both.first ? both : RowBand{};
}

RowBand joined_rows(RowBand a, RowBand b) {
  if (a.size() == 0 || b.size() == 0) return a.size() == 0 ? b : a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

std::vector<RowBand> missing_rows(RowBand held, RowBand wanted) {
  if (wanted.size() <= 0) return {};
  const RowBand kept = common_rows(held, wanted);
  if (kept.size() == 0) return {wanted};
  std::vector<RowBand> missing;
  if (wanted.first < kept.first) missing.push_back({wanted.first, kept.first});
  if (kept.last < wanted.last) missing.push_back({kept.last, wanted.last});
  return missing;
}

RowBand row_band(const ScanGeometry& geometry, std::int64_t view, const VolumeGrid& grid, double field_of_view_mm,
                 std::int64_t z0, std::int64_t z1, std::int64_t margin) {
  if (z0 >= z1) return {};
  const Rectangle box = voxel_centres(grid);
  const double farthest = std::hypot(std::max(-box.x0, box.x1), std::max(-box.y0, box.y1));
  const double radius = std::min(field_of_view_mm, farthest) * (1 + 1e-9);
  const Matrix34& matrix = geometry.matrices[static_cast<std::size_t>(view)];
  Range range;
  add_slice(matrix, geometry.beam, grid.centre(0, 0, static_cast<double>(z0)).z, box, radius, range);
  if (z1 - z0 > 1 && !range.unbounded)
    add_slice(matrix, geometry.beam, grid.centre(0, 0, static_cast<double>(z1 - 1)).z, box, radius, range);

  if (range.unbounded) return {0, geometry.rows};
  if (!(range.low <= range.high)) return {};  // the box and the cylinder do not meet
  // A coordinate falls into the pixel it rounds to; that leaves half a row on each side for the rounding of a kernel
  // in single precision, since no tap is needed farther than `margin` from that pixel.
  const double rows = static_cast<double>(geometry.rows);
  const auto pixel = [&](double v) {
    return static_cast<std::int64_t>(std::floor(std::clamp(v, -rows - 1e6, 2 * rows + 1e6) + 0.5));
  };
  const auto clip = [&](std::int64_t row) { return std::clamp<std::int64_t>(row, 0, geometry.rows); };
  const RowBand band{clip(pixel(range.low) - margin), clip(pixel(range.high) + margin + 1)};
  return band;
}

}  // namespace lepus
