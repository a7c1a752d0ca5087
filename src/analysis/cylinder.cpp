// SPDX-License-Identifier: Apache-2.0
#include "analysis/cylinder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/components.h"
#include "analysis/morphology.h"
#include "analysis/phase.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr int rays = 360;

struct SliceCircle {
  double x = 0, y = 0, radius = 0;  // mm
  double squares = 0;               // of the distances of the edge from it, mm^2
  int points = 0;                   // of the edge; 0: no circle
};

// Area and centre of a component in one slice, each row taken from its first to its last voxel: holes do not count.
struct Silhouette {
  std::int64_t area = 0, twice_sum_x = 0, sum_y = 0;
  void add_row(std::int64_t first, std::int64_t last, std::int64_t y) {
    const std::int64_t n = last - first;
    area += n;
    twice_sum_x += n * (first + last - 1);
    sum_y += n * y;
  }
};

std::vector<Silhouette> largest_bright(const VolumeReader& volume, const BitVolume& inside, const Survey& looked,
                                       const Histogram& histogram, double threshold, WorkMemory& memory,
                                       Context& context) {
  BitVolume bright(memory, inside.size());
  find_phase(volume, {.kind = ThresholdKind::fixed, .values = {threshold}}, {.bright = true}, histogram, looked, bright,
             memory, context);
  intersect(bright, inside, context);
  Components components(bright, Connectivity::faces, memory, context);
  std::vector<Silhouette> slices(static_cast<std::size_t>(inside.size().nz));
  if (components.count() == 0) return slices;
  const auto& voxels = components.voxels();
  std::vector<std::uint8_t> keep(voxels.size(), 0);
  keep[static_cast<std::size_t>(std::max_element(voxels.begin(), voxels.end()) - voxels.begin())] = 1;
  components.drop(keep);
  components.each_slice(context, [&](int, std::int64_t z, const SliceRuns& runs) {
    for (std::int64_t y = 0; y < inside.size().ny; ++y) {
      std::int64_t first = -1, last = -1;
      for (const Run& run : runs.row(y)) {
        if (run.label == 0) continue;
        if (first < 0) first = run.first;
        last = run.last;
      }
      if (first >= 0) slices[static_cast<std::size_t>(z)].add_row(first, last, y);
    }
  });
  return slices;
}

// Where a slice crosses the threshold along rays from the middle of a circle, within `reach` of it.
class EdgeFinder {
public:
  EdgeFinder(const VolumeGrid& grid, const float* slice, double threshold)
      : grid_(grid),
        slice_(slice),
        threshold_(threshold),
        step_mm_(std::min(std::abs(grid.step_mm.x), std::abs(grid.step_mm.y)) / 2) {}

  std::vector<std::array<double, 2>> points(const SliceCircle& c, double reach_mm) const {
    std::vector<std::array<double, 2>> found;
    for (int i = 0; i < rays; ++i) {
      const double angle = 2 * pi * i / rays, dx = std::cos(angle), dy = std::sin(angle);
      // The crossing nearest to the circle counts: outwards and inwards from it by turns.
      for (double out = 0; out <= reach_mm; out += step_mm_) {
        const auto outer = crossing(c, dx, dy, c.radius + out), inner = crossing(c, dx, dy, c.radius - out - step_mm_);
        const auto& chosen = outer ? outer : inner;
        if (!chosen) continue;
        found.push_back({c.x + *chosen * dx, c.y + *chosen * dy});
        break;
      }
    }
    return found;
  }

private:
  // In [radius, radius + step), linear between.
  std::optional<double> crossing(const SliceCircle& c, double dx, double dy, double radius) const {
    if (radius <= 0) return std::nullopt;
    const double a = value(c.x + radius * dx, c.y + radius * dy) - threshold_;
    const double b = value(c.x + (radius + step_mm_) * dx, c.y + (radius + step_mm_) * dy) - threshold_;
    if (!(a * b <= 0) || a == b) return std::nullopt;
    return radius + step_mm_ * a / (a - b);
  }
  double value(double x_mm, double y_mm) const {  // NaN outside
    const double x = (x_mm - grid_.origin_mm.x) / grid_.step_mm.x, y = (y_mm - grid_.origin_mm.y) / grid_.step_mm.y;
    if (!(x >= 0 && y >= 0 && x < static_cast<double>(grid_.nx - 1) && y < static_cast<double>(grid_.ny - 1)))
      return std::numeric_limits<double>::quiet_NaN();
    const auto i = static_cast<std::int64_t>(x), j = static_cast<std::int64_t>(y);
    const double u = x - static_cast<double>(i), v = y - static_cast<double>(j);
    const float* const at = slice_ + j * grid_.nx + i;
    return (1 - v) * ((1 - u) * at[0] + u * at[1]) + v * ((1 - u) * at[grid_.nx] + u * at[grid_.nx + 1]);
  }

  const VolumeGrid& grid_;
  const float* slice_;
  double threshold_, step_mm_;
};

// x^2 + y^2 = 2 a x + 2 b y + c by least squares (Kasa 1976); about the middle of the points. On a whole turn its
// middle has no bias.
SliceCircle circle_through(const std::vector<std::array<double, 2>>& points) {
  const auto n = static_cast<double>(points.size());
  double mx = 0, my = 0;
  for (const auto& p : points) {
    mx += p[0] / n;
    my += p[1] / n;
  }
  Matrix3 a{{0, 0, 0, 0, 0, 0, 0, 0, n}};
  Vec3 b;
  for (const auto& p : points) {
    const double x = p[0] - mx, y = p[1] - my, square = x * x + y * y;
    a(0, 0) += x * x;
    a(0, 1) += x * y;
    a(1, 1) += y * y;
    b = b + Vec3{x * square, y * square, square};
  }
  a(1, 0) = a(0, 1);
  const Vec3 s = inverse(a) * b;
  SliceCircle circle{mx + s.x / 2, my + s.y / 2, std::sqrt(s.z + (s.x * s.x + s.y * s.y) / 4), 0,
                     static_cast<int>(points.size())};
  for (const auto& p : points) {
    const double off = std::hypot(p[0] - circle.x, p[1] - circle.y) - circle.radius;
    circle.squares += off * off;
  }
  return circle;
}

// Points further from the circle than three times the usual are no edge of it (pores, things that touch it).
std::vector<std::array<double, 2>> near_ones(const std::vector<std::array<double, 2>>& points, const SliceCircle& c,
                                             double at_least_mm) {
  const double limit = std::max(at_least_mm, 3 * std::sqrt(c.squares / c.points));
  std::vector<std::array<double, 2>> kept;
  for (const auto& p : points)
    if (std::abs(std::hypot(p[0] - c.x, p[1] - c.y) - c.radius) <= limit) kept.push_back(p);
  return kept;
}

SliceCircle refine(const VolumeGrid& grid, const float* slice, double threshold, SliceCircle circle) {
  const double voxel = std::min(std::abs(grid.step_mm.x), std::abs(grid.step_mm.y));
  const EdgeFinder edge(grid, slice, threshold);
  for (int turn = 0; turn < 3; ++turn) {
    const double reach = std::min(circle.radius / 2, (turn == 0 ? 10 : 4) * voxel);
    const auto points = edge.points(circle, reach);
    if (points.size() < rays / 2) return {};
    const SliceCircle all = circle_through(points);
    const auto kept = near_ones(points, all, voxel);
    if (kept.size() < rays / 2) return {};
    circle = circle_through(kept);
    if (!std::isfinite(circle.radius)) return {};
  }
  return circle;
}

// y = a + b z by least squares.
std::array<double, 2> line_through(const std::vector<double>& z, const std::vector<double>& y) {
  const auto n = static_cast<double>(z.size());
  double mz = 0, my = 0, zz = 0, zy = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    mz += z[i] / n;
    my += y[i] / n;
  }
  for (std::size_t i = 0; i < z.size(); ++i) {
    zz += (z[i] - mz) * (z[i] - mz);
    zy += (z[i] - mz) * (y[i] - my);
  }
  const double slope = zz > 0 ? zy / zz : 0;
  return {my - slope * mz, slope};
}

[[noreturn]] void throw_no_cylinder(bool given, const std::string& why) {
  throw Error(
      ErrorKind::input,
      {.what = "no cylinder was found to measure the resolution with",
       .where = given ? "option --cylinder" : "resolution",
       .why = why,
       .hint = "name one that stands along z with --cylinder x,y,radius (millimetres), and with --box its slices"});
}

// One circle for each slice, radius 0 where there is none.
std::vector<SliceCircle> rough_circles(const VolumeGrid& grid, const std::vector<Silhouette>& slices) {
  std::vector<SliceCircle> circles(slices.size());
  std::int64_t widest = 0;
  for (const Silhouette& s : slices) widest = std::max(widest, s.area);
  const auto enough = [&](const Silhouette& s) { return 2 * s.area >= widest && s.area > 0; };
  const auto first = std::find_if(slices.begin(), slices.end(), enough) - slices.begin();
  const auto last = slices.rend() - std::find_if(slices.rbegin(), slices.rend(), enough);
  const auto ends = (last - first) / 10;
  for (auto z = first + ends; z < last - ends; ++z) {
    const Silhouette& s = slices[static_cast<std::size_t>(z)];
    if (!enough(s)) continue;
    const auto area = static_cast<double>(s.area);
    const Vec3 p = grid.centre(static_cast<double>(s.twice_sum_x) / 2 / area, static_cast<double>(s.sum_y) / area, 0);
    circles[static_cast<std::size_t>(z)] = {p.x, p.y, std::sqrt(area * std::abs(grid.step_mm.x * grid.step_mm.y) / pi),
                                            0, 0};
  }
  return circles;
}

}  // namespace

Cylinder fit_cylinder(const VolumeReader& volume, const std::optional<RoughCylinder>& rough, const BitVolume& inside,
                      const Survey& looked, const Histogram& histogram, double threshold, WorkMemory& memory,
                      Context& context) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t slice = grid.nx * grid.ny;
  std::vector<SliceCircle> circles;
  if (rough) {
    circles.assign(static_cast<std::size_t>(grid.nz), {(*rough)[0], (*rough)[1], (*rough)[2], 0, 0});
    WorkerSlices words(inside, 1);
    for (std::int64_t z = 0; z < grid.nz; ++z)
      if (count_bits(inside.slice(z, words[0]), inside.slice_words()) == 0) circles[static_cast<std::size_t>(z)] = {};
  } else {
    circles = rough_circles(grid, largest_bright(volume, inside, looked, histogram, threshold, memory, context));
  }
  const int workers = context.threads.size();
  const WorkMemory::Share share = memory.take(12 * slice * workers, "a slice for each thread", "use fewer --threads");
  Buffer<float> slices(slice * workers);
  context.threads.parallel_for(0, grid.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    SliceCircle& circle = circles[static_cast<std::size_t>(z)];
    if (circle.radius == 0) return;
    float* const values = slices.data() + slice * worker;
    volume.read(z, z + 1, values);
    circle = refine(grid, values, threshold, circle);
  });

  std::vector<double> at, x, y;
  Cylinder result;
  result.first_slice = grid.nz;
  double points = 0, squares = 0;
  for (std::int64_t z = 0; z < grid.nz; ++z) {
    const SliceCircle& c = circles[static_cast<std::size_t>(z)];
    if (c.points == 0) continue;
    at.push_back(grid.centre(0, 0, static_cast<double>(z)).z);
    x.push_back(c.x);
    y.push_back(c.y);
    result.radius_mm += c.radius;
    points += c.points;
    squares += c.squares;
    result.first_slice = std::min(result.first_slice, z);
    result.last_slice = z + 1;
  }
  if (at.empty()) throw_no_cylinder(rough.has_value(), "no slice has a round edge where it crosses the threshold");
  result.radius_mm /= static_cast<double>(at.size());
  result.uneven_mm = std::sqrt(squares / points);
  const double voxel = std::min(std::abs(grid.step_mm.x), std::abs(grid.step_mm.y));
  if (result.uneven_mm > std::max(voxel, result.radius_mm / 50))
    throw_no_cylinder(rough.has_value(), format("the edge is {:.3g} mm off a circle of {:.4g} mm, root mean square",
                                                result.uneven_mm, result.radius_mm));
  const auto [x0, x_slope] = line_through(at, x);
  const auto [y0, y_slope] = line_through(at, y);
  const double middle = grid.centre(0, 0, static_cast<double>(result.first_slice + result.last_slice - 1) / 2).z;
  result.point_mm = {x0 + x_slope * middle, y0 + y_slope * middle, middle};
  result.direction = normalized({x_slope, y_slope, 1});
  return result;
}

}  // namespace lepus::analysis
