// SPDX-License-Identifier: Apache-2.0
// Whole phantoms: sums and replacement along a ray against points on it, the tree against testing every shape, and
// values of the built-in phantoms at places that their definitions fix.
#include "simulate/phantom.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "simulate/builtin_phantoms.h"
#include "simulate/random.h"
#include <lepus/error.h>

namespace lepus {
namespace {

Ray random_ray(Random& random, double spread) {
  const Vec3 target{spread * random.normal(), spread * random.normal(), spread * random.normal()};
  const Vec3 d = normalized({random.normal(), random.normal(), random.normal()});
  return {target - 500 * d, d};
}

// Integral by the midpoint rule over value_at. Every edge on the ray costs up to half a step times the jump.
double by_points(const Phantom& phantom, const Ray& ray, double begin, double end, double step) {
  double sum = 0;
  const auto n = static_cast<std::int64_t>((end - begin) / step);
  for (std::int64_t i = 0; i < n; ++i)
    sum += phantom.value_at(ray.origin_mm + (begin + (static_cast<double>(i) + 0.5) * step) * ray.direction);
  return sum * step;
}

std::vector<Shape> heap_of_shapes(int count, std::uint64_t seed) {
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) {
    Random random(seed, 1, 0, static_cast<std::uint64_t>(i));
    Shape s =
        ellipsoid({8 * random.normal(), 8 * random.normal(), 8 * random.normal()},
                  {2 + 8 * random.uniform(), 2 + 8 * random.uniform(), 2 + 8 * random.uniform()}, random.uniform());
    s.kind = static_cast<ShapeKind>(i % 4);
    s.top_scale = random.uniform();
    s.axes = rotation(random.normal(), random.normal(), random.normal());
    if (i % 5 == 0) s.clips.push_back({{random.normal(), random.normal(), 1}, dot(s.centre_mm, {0, 0, 1})});
    shapes.push_back(s);
  }
  return shapes;
}

TEST(Phantom, LineIntegralsAgainstPoints) {
  // Few shapes (tested one by one) and many (through the tree), both ways to combine. A ray crosses at most two edges
  // of each shape, the jumps are below 1: the points are off by at most `shapes` steps, in fact by the root of that.
  for (const Combine combine : {Combine::add, Combine::replace})
    for (const int count : {7, 40}) {
      const Phantom phantom("heap", combine, heap_of_shapes(count, 3));
      Phantom::Scratch scratch;
      double largest = 0;
      for (int trial = 0; trial < 60; ++trial) {
        Random random(9, 2, static_cast<std::uint32_t>(trial), 0);
        const Ray ray = random_ray(random, 6);
        const double step = 0.005, exact = phantom.line_integral(ray, scratch);
        EXPECT_NEAR(exact, by_points(phantom, ray, 440, 560, step), 4 * std::sqrt(count) * step)
            << count << " " << trial;
        largest = std::max(largest, exact);
      }
      EXPECT_GT(largest, 5);  // the rays do meet something
    }
}

TEST(Phantom, SegmentsOfReplacementDoNotOverlap) {
  const Phantom phantom("heap", Combine::replace, heap_of_shapes(60, 4));
  Phantom::Scratch scratch;
  for (int trial = 0; trial < 500; ++trial) {
    Random random(10, 2, static_cast<std::uint32_t>(trial), 0);
    const Ray ray = random_ray(random, 6);
    double last = -1e300;
    for (const Segment& s : phantom.segments(ray, scratch)) {
      EXPECT_GE(s.begin, last);
      EXPECT_GT(s.end, s.begin);
      last = s.end;
      const Vec3 middle = ray.origin_mm + (s.begin + s.end) / 2 * ray.direction;
      if (s.end - s.begin > 1e-9) {
        EXPECT_EQ(phantom.value_at(middle), phantom.value_of(s.shape));
      }
    }
  }
}

TEST(Phantom, ReplacementByHand) {
  // A big ball, a smaller one drawn over it, a hole drawn over both that reaches out of the smaller one.
  const Phantom phantom("balls", Combine::replace,
                        {sphere({}, 10, 1.0), sphere({2, 0, 0}, 4, 2.0), sphere({6, 0, 0}, 2, 0.0)});
  Phantom::Scratch scratch;
  const Ray axis{{-50, 0, 0}, {1, 0, 0}};
  // -10..-2: 1, -2..4: 2, 4..8: 0, 8..10: 1.
  EXPECT_NEAR(phantom.line_integral(axis, scratch), 8 + 12 + 0 + 2, 1e-12);
  EXPECT_EQ(phantom.value_at({5, 0, 0}), 0);
  EXPECT_EQ(phantom.value_at({3, 0, 0}), 2);
  EXPECT_EQ(phantom.value_at({-5, 0, 0}), 1);
  EXPECT_EQ(phantom.value_at({-11, 0, 0}), 0);
  const Phantom added("balls", Combine::add, phantom.shapes());
  EXPECT_NEAR(added.line_integral(axis, scratch), 20 + 16, 1e-12);
  EXPECT_EQ(added.value_at({3, 0, 0}), 3);
}

TEST(Phantom, MaterialsByEnergy) {
  Shape water = sphere({}, 10, 1.0), iron = sphere({}, 2, 7.874), plain = sphere({}, 1, 0.5);
  water.material = "water";
  iron.material = "iron";
  const Phantom phantom("mixed", Combine::replace, {water, iron, plain});
  Phantom::Scratch scratch;
  const Ray axis{{-50, 0, 0}, {1, 0, 0}};
  const MaterialIntegrals m = phantom.material_integrals(axis, scratch);
  EXPECT_NEAR(m[static_cast<std::size_t>(material_slot("water"))], 16 * 1.0, 1e-12);
  EXPECT_NEAR(m[static_cast<std::size_t>(material_slot("iron"))], 2 * 7.874, 1e-12);
  EXPECT_NEAR(m[0], 2 * 0.5, 1e-12);
  // At 60 keV NIST has 0.2059 cm^2/g for water and 1.205 for iron.
  EXPECT_NEAR(phantom.line_integral(axis, scratch), 16 * 0.02059 + 2 * 7.874 * 0.1205 + 1.0, 1e-12);
  EXPECT_NEAR(phantom.at_energy(100).value_at({5, 0, 0}), 0.01707, 1e-12);
  EXPECT_TRUE(phantom.has_materials());
}

TEST(Phantom, SheppLoganAtKnownPlaces) {
  const Phantom p = shepp_logan(SheppLogan::kak_slaney, 100, 1.0);
  EXPECT_EQ(p.shapes().size(), 10u);
  EXPECT_NEAR(p.value_at({0, 91, 0}), 2.0, 1e-15);      // skull
  EXPECT_NEAR(p.value_at({0, -50, 0}), 1.02, 1e-15);    // brain
  EXPECT_NEAR(p.value_at({-22, 0, -25}), 1.00, 1e-15);  // left ventricle
  EXPECT_NEAR(p.value_at({0, 35, -25}), 1.04, 1e-15);
  EXPECT_NEAR(p.value_at({-8, -65, -25}), 1.03, 1e-15);
  EXPECT_EQ(p.value_at({0, 95, 0}), 0);
  // Ventricle c: its long axis (0.41) is turned 108 degrees from x, so towards +y and -x.
  EXPECT_NEAR(p.value_at({-22 + 35 * std::cos(radians(108)), 35 * std::sin(radians(108)), -25}), 1.00, 1e-15);
  EXPECT_NEAR(p.value_at({-22 - 35 * std::cos(radians(108)), 35 * std::sin(radians(108)), -25}), 1.02, 0.021);
  EXPECT_NEAR(shepp_logan(SheppLogan::modified, 100, 1.0).value_at({0, -50, 0}), 0.2, 1e-15);
  // RTK's own table has a small ellipsoid at (X, Y, Z) = (-0.08, -0.25, -0.65); ours is (X, -Z, Y).
  EXPECT_NEAR(shepp_logan(SheppLogan::rtk, 100, 1.0).value_at({-8, 65, -25}), 1.03, 1e-15);
  EXPECT_NEAR(shepp_logan(SheppLogan::rtk, 100, 1.0).value_at({-8, -65, -25}), 1.02, 1e-15);
}

TEST(Phantom, DefriseDisksAreSymmetricAndApart) {
  const Phantom p = defrise_disks(50, 1.0);
  EXPECT_EQ(p.shapes().size(), 7u);
  Phantom::Scratch scratch;
  // Along the axis: seven disks of half the pitch (1.4 * 50 / 7 = 10 mm) each.
  EXPECT_NEAR(p.line_integral({{0, 0, -100}, {0, 0, 1}}, scratch), 35, 1e-12);
  EXPECT_EQ(p.value_at({0, 0, 5}), 0);
  EXPECT_EQ(p.value_at({0, 0, 0}), 1);
  const Bounds b = p.bounds();
  EXPECT_NEAR(b.low.z, -b.high.z, 1e-12);
}

TEST(Phantom, ForbildHeadAtKnownPlaces) {
  // Relative densities of the FORBILD definition; water is 1.
  for (const bool ear : {true, false}) {
    const Phantom p = forbild_head(ear, 1.0);
    const auto at = [&](double x, double y, double z) { return p.value_at({10 * x, 10 * y, 10 * z}); };
    EXPECT_NEAR(at(0, -11.95, 0), 1.8, 1e-12);       // 5: skull
    EXPECT_NEAR(at(-9.3, 0, 0), 1.8, 1e-12);         // 5
    EXPECT_NEAR(at(-6, -6, 0), 1.05, 1e-12);         // 6: brain
    EXPECT_NEAR(at(0, -3.6, 0), 1.045, 1e-12);       // 12: ventricle
    EXPECT_NEAR(at(1.0, 8.4, 0), 0, 1e-12);          // 7: frontal sinus, air
    EXPECT_NEAR(at(-4.7, 4.3, 0.872), 1.06, 1e-12);  // 1, 2: eyes
    EXPECT_NEAR(at(4.7, 4.3, 0.872), 1.06, 1e-12);
    EXPECT_NEAR(at(-1.08, -9, 0), 1.0525, 1e-12);           // 3
    EXPECT_NEAR(at(1.08, -9, 0), 1.0475, 1e-12);            // 4
    EXPECT_NEAR(at(6.393945, -6.393945, 0), 1.055, 1e-12);  // 13: haematoma
    EXPECT_NEAR(at(0, 3.6, 0), 1.8, 1e-12);                 // 14
    EXPECT_NEAR(at(-4.3, 6.8, -1), 1.8, 1e-12);             // 10
    EXPECT_NEAR(at(4.3, 6.8, -1), 1.8, 1e-12);              // 11
    EXPECT_NEAR(at(0, 9.6, 0), 1.8, 1e-12);                 // 15: septum, drawn over the sinus
    EXPECT_NEAR(at(0.19, 9.6, 0), 1.8, 1e-12);              // 15 is 0.4 cm wide
    EXPECT_NEAR(at(0.21, 9.6, 0), 0, 1e-12);
    // 16, 17: cones on the inside of the skull, wide at the skull (r = 0.5 at y = -11.9), narrow inside.
    EXPECT_NEAR(at(0.3, -11.35, 0.2), 1.8, 1e-12);
    EXPECT_NEAR(at(0.15, -10.5, 0.2), 1.8, 1e-12);
    EXPECT_NEAR(at(0.3, -10.5, 0.2), 1.05, 1e-12);
    // The ear: bone, with 0.15 cm air cells in one of the two files.
    EXPECT_NEAR(at(8.0, 0.0, 0.0), ear ? 0 : 1.8, 1e-12);
    EXPECT_NEAR(at(8.2, 0.0, 0.0), 1.8, 1e-12);
    EXPECT_EQ(at(0, 12.1, 0), 0);
  }
  // The whole head along y through both skull walls, the ventricle, the cone, sinus and septum, by points.
  const Phantom p = forbild_head(true, 1.0);
  Phantom::Scratch scratch;
  for (const double x : {0.0, 3.0, -50.0, 80.0}) {
    const Ray ray{{x, -500, 1.3}, {0, 1, 0}};
    EXPECT_NEAR(p.line_integral(ray, scratch), by_points(p, ray, 350, 650, 0.001), 0.02) << x;
  }
}

TEST(Phantom, PorousBlockKeepsItsPoresApart) {
  const PorousResult r = porous_block({.size_mm = {20, 30, 40},
                                       .value_per_mm = 0.5,
                                       .pores = 800,
                                       .smallest_radius_mm = 0.4,
                                       .largest_radius_mm = 1.5,
                                       .overlap = false,
                                       .seed = 6});
  ASSERT_EQ(r.centres_mm.size(), 800u);
  double volume = 0;
  for (std::size_t i = 0; i < 800; ++i) {
    const Vec3 c = r.centres_mm[i];
    const double radius = r.radii_mm[i];
    volume += 4.0 / 3 * pi * radius * radius * radius;
    EXPECT_LE(std::abs(c.x) + radius, 10.0 + 1e-12);
    EXPECT_LE(std::abs(c.y) + radius, 15.0 + 1e-12);
    EXPECT_LE(std::abs(c.z) + radius, 20.0 + 1e-12);
    for (std::size_t j = 0; j < i; ++j) ASSERT_GE(norm(c - r.centres_mm[j]), radius + r.radii_mm[j]);
  }
  EXPECT_NEAR(r.porosity, volume / 24000, 1e-12);
  EXPECT_EQ(r.uncertainty, 0);
  // The same seed gives the same block, another one another.
  EXPECT_EQ(porous_block({.pores = 50, .seed = 2}).centres_mm[7], porous_block({.pores = 50, .seed = 2}).centres_mm[7]);
  EXPECT_FALSE(porous_block({.pores = 50, .seed = 2}).centres_mm[7] ==
               porous_block({.pores = 50, .seed = 3}).centres_mm[7]);
  EXPECT_THROW(porous_block({.size_mm = {5, 5, 5}, .pores = 100, .largest_radius_mm = 1.6}), Error);
}

TEST(Phantom, OverlappingPoresKnowTheirPorosity) {
  const PorousResult r = porous_block({.size_mm = {20, 20, 20},
                                       .value_per_mm = 1,
                                       .pores = 300,
                                       .smallest_radius_mm = 1,
                                       .largest_radius_mm = 2,
                                       .overlap = true,
                                       .seed = 1});
  // An independent estimate: the mean of 1 - value along parallel rays on a regular grid (exact along the ray).
  Phantom::Scratch scratch;
  double sum = 0;
  const int n = 200;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      sum += r.phantom.line_integral({{20 * (i + 0.5) / n - 10, 20 * (j + 0.5) / n - 10, -50}, {0, 0, 1}}, scratch);
  const double porosity = 1 - sum / (20.0 * n * n);
  EXPECT_GT(r.porosity, 0.2);
  EXPECT_GT(r.uncertainty, 0);
  EXPECT_NEAR(r.porosity, porosity, 4 * r.uncertainty + 1e-4);  // four standard errors; the grid's own is far smaller
}

TEST(Phantom, BeadsAreWhereTheyAreReported) {
  for (const bool rings : {false, true}) {
    const BeadResult r = bead_phantom({.two_rings = rings});
    ASSERT_EQ(r.centres_mm.size(), 24u);
    for (const Vec3 c : r.centres_mm) EXPECT_EQ(r.phantom.value_at(c), 0.3);
    EXPECT_EQ(r.phantom.value_at({}), 0.02);
  }
}

TEST(Phantom, TreeIsFasterThanTestingEveryShape) {
  // 5000 pores: the tree must make a ray at least ten times cheaper than a test of each. Measured: 280 to 530 times on
  // a busy two-core machine. Best of five, because a run that is interrupted by others has shown 33.
  const PorousResult block =
      porous_block({.pores = 5000, .smallest_radius_mm = 0.2, .largest_radius_mm = 0.9, .seed = 3});
  std::vector<PreparedShape> all(block.phantom.shapes().begin(), block.phantom.shapes().end());
  Phantom::Scratch scratch;
  const auto seconds = [](auto&& body) {
    double best = 1e300;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      body();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  double with_tree = 0, without = 0;
  const auto ray_of = [](int i) { return Ray{{-100, -15 + 0.1 * i, 0.3}, normalized({1, 0.1, 0.05})}; };
  const double fast = seconds([&] {
    for (int i = 0; i < 300; ++i) with_tree += block.phantom.line_integral(ray_of(i), scratch);
  });
  const double slow = seconds([&] {
    for (int i = 0; i < 300; ++i)
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Interval t = all[k].intersect(ray_of(i));
        if (!t.empty()) without += block.phantom.value_of(static_cast<std::int32_t>(k)) * (t.end - t.begin);
      }
  });
  EXPECT_NEAR(with_tree, without, 1e-10);
  EXPECT_LT(10 * fast, slow);
}

}  // namespace
}  // namespace lepus
