// SPDX-License-Identifier: Apache-2.0
// A block with random spherical pores. Apart: random sequential addition, the largest pores first, with a grid of cells
// as large as the largest pore to find neighbours; the porosity is the sum of their volumes. Overlapping: the porosity
// is estimated with random points.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/random.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::uint32_t radius_stream = 1, place_stream = 2, sample_stream = 3;
constexpr int tries_per_pore = 20000;
constexpr std::int64_t porosity_samples = 400000;

double along(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

// Cells of side 2 * largest radius: two pores that touch lie in the same or in neighbouring cells.
class Neighbours {
public:
  Neighbours(Vec3 size, double cell) : half_(size / 2), cell_(cell) {
    for (int axis = 0; axis < 3; ++axis)
      n_[axis] = std::max<std::int64_t>(1, static_cast<std::int64_t>(along(size, axis) / cell));
    cells_.resize(static_cast<std::size_t>(n_[0] * n_[1] * n_[2]));
  }

  template <class Test>
  bool any_near(Vec3 p, Test&& test) const {
    std::int64_t c[3];
    locate(p, c);
    for (std::int64_t z = std::max<std::int64_t>(0, c[2] - 1); z <= std::min(n_[2] - 1, c[2] + 1); ++z)
      for (std::int64_t y = std::max<std::int64_t>(0, c[1] - 1); y <= std::min(n_[1] - 1, c[1] + 1); ++y)
        for (std::int64_t x = std::max<std::int64_t>(0, c[0] - 1); x <= std::min(n_[0] - 1, c[0] + 1); ++x)
          for (const std::size_t i : cells_[static_cast<std::size_t>((z * n_[1] + y) * n_[0] + x)])
            if (test(i)) return true;
    return false;
  }

  void add(Vec3 p, std::size_t index) {
    std::int64_t c[3];
    locate(p, c);
    cells_[static_cast<std::size_t>((c[2] * n_[1] + c[1]) * n_[0] + c[0])].push_back(index);
  }

private:
  void locate(Vec3 p, std::int64_t (&c)[3]) const {
    for (int axis = 0; axis < 3; ++axis)
      c[axis] = std::clamp<std::int64_t>(static_cast<std::int64_t>((along(p, axis) + along(half_, axis)) / cell_), 0,
                                         n_[axis] - 1);
  }

  Vec3 half_;
  double cell_;
  std::int64_t n_[3];
  std::vector<std::vector<std::size_t>> cells_;
};

}  // namespace

PorousResult porous_block(const PorousBlock& o) {
  constexpr std::int64_t maximum_pores = 10'000'000;  // each is a shape in memory
  if (o.pores > maximum_pores)
    throw Error(ErrorKind::usage, {.what = format("{} pores are too many", o.pores),
                                   .where = "porous block",
                                   .why = {},
                                   .hint = format("take at most {}", maximum_pores)});
  const double minimum_side = std::min({o.size_mm.x, o.size_mm.y, o.size_mm.z});
  if (!(minimum_side > 0 && o.pores >= 0 && o.smallest_radius_mm > 0 && o.largest_radius_mm >= o.smallest_radius_mm &&
        2 * o.largest_radius_mm < minimum_side))
    throw Error(ErrorKind::usage,
                {.what = "porous block cannot be made",
                 .where = "porous block",
                 .why = format("{} pores of {} to {} mm radius in {} x {} x {} mm", o.pores, o.smallest_radius_mm,
                               o.largest_radius_mm, o.size_mm.x, o.size_mm.y, o.size_mm.z),
                 .hint = "give 0 < smallest radius <= largest radius < half of the shortest side"});
  PorousResult result;
  const auto count = static_cast<std::size_t>(o.pores);
  for (std::size_t i = 0; i < count; ++i)
    result.radii_mm.push_back(o.smallest_radius_mm + (o.largest_radius_mm - o.smallest_radius_mm) *
                                                         Random(o.seed, radius_stream, 0, i).uniform());
  std::sort(result.radii_mm.begin(), result.radii_mm.end(), std::greater<>());

  Neighbours near_by(o.size_mm, 2 * o.largest_radius_mm);
  for (std::size_t i = 0; i < count; ++i) {
    Random random(o.seed, place_stream, 0, i);
    const double r = result.radii_mm[i];
    const Vec3 room = o.size_mm - Vec3{2 * r, 2 * r, 2 * r};
    bool placed = false;
    for (int attempt = 0; attempt < tries_per_pore && !placed; ++attempt) {
      const double x = random.uniform(), y = random.uniform(), z = random.uniform();
      const Vec3 p{(x - 0.5) * room.x, (y - 0.5) * room.y, (z - 0.5) * room.z};
      placed = o.overlap || !near_by.any_near(p, [&](std::size_t j) {
        return norm(p - result.centres_mm[j]) < r + result.radii_mm[j];
      });
      if (placed) {
        near_by.add(p, i);
        result.centres_mm.push_back(p);
      }
    }
    if (!placed)
      throw Error(ErrorKind::usage, {.what = format("only {} of {} pores fit without overlap", i, o.pores),
                                     .where = "porous block",
                                     .why = format("no place was found for the next one in {} tries", tries_per_pore),
                                     .hint = "take fewer or smaller pores, or let them overlap"});
  }

  std::vector<Shape> shapes{box({}, o.size_mm, o.value_per_mm)};
  const double volume = o.size_mm.x * o.size_mm.y * o.size_mm.z;
  for (std::size_t i = 0; i < count; ++i) {
    shapes.push_back(sphere(result.centres_mm[i], result.radii_mm[i], o.overlap ? 0 : -o.value_per_mm));
    if (!o.overlap) result.porosity += 4.0 / 3 * pi * std::pow(result.radii_mm[i], 3) / volume;
  }
  // Apart, adding the negative value is the same as replacing, and needs no sorting along the ray.
  result.phantom = Phantom("porous-block", o.overlap ? Combine::replace : Combine::add, std::move(shapes));
  if (o.overlap) {
    std::int64_t inside = 0;
    for (std::int64_t i = 0; i < porosity_samples; ++i) {
      Random random(o.seed, sample_stream, 0, static_cast<std::uint64_t>(i));
      const double x = random.uniform(), y = random.uniform(), z = random.uniform();
      const Vec3 p{(x - 0.5) * o.size_mm.x, (y - 0.5) * o.size_mm.y, (z - 0.5) * o.size_mm.z};
      if (near_by.any_near(p, [&](std::size_t j) { return norm(p - result.centres_mm[j]) <= result.radii_mm[j]; }))
        ++inside;
    }
    const auto n = static_cast<double>(porosity_samples);
    result.porosity = static_cast<double>(inside) / n;
    result.uncertainty = std::sqrt(result.porosity * (1 - result.porosity) / n);
  }
  return result;
}

}  // namespace lepus
