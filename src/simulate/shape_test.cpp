// SPDX-License-Identifier: Apache-2.0
// Rays against single shapes: chords known in closed form, and brute-force integration for turned and clipped ones.
#include "simulate/shape.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "simulate/random.h"
#include <lepus/error.h>

namespace lepus {
namespace {

Ray ray_through(Vec3 from, Vec3 to) { return {from, normalized(to - from)}; }

double chord(const Shape& shape, const Ray& ray) {
  const Interval t = PreparedShape(shape).intersect(ray);
  return t.empty() ? 0 : t.end - t.begin;
}

// The length of the ray inside the shape by asking contains() at many points; error below two steps.
double chord_by_points(const Shape& shape, const Ray& ray, double begin, double end, double step) {
  const PreparedShape prepared(shape);
  const auto n = static_cast<std::int64_t>((end - begin) / step);
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (prepared.contains(ray.origin_mm + (begin + (static_cast<double>(i) + 0.5) * step) * ray.direction)) ++inside;
  return static_cast<double>(inside) * step;
}

Shape of_kind(ShapeKind kind) {
  Shape s = ellipsoid({1, -2, 3}, {4, 6, 9}, 1);
  s.kind = kind;
  if (kind == ShapeKind::cone) {
    s.bottom_scale = 1;
    s.top_scale = 0.3;
  }
  return s;
}

constexpr ShapeKind all_kinds[] = {ShapeKind::ellipsoid, ShapeKind::cylinder, ShapeKind::cone, ShapeKind::box};

TEST(Shape, ChordsOfABall) {
  const Shape ball = sphere({1, 2, 3}, 5, 1);
  // Through the centre, off centre by 3 (half chord 4), tangent, past it.
  EXPECT_DOUBLE_EQ(chord(ball, ray_through({-100, 2, 3}, {1, 2, 3})), 10);
  EXPECT_NEAR(chord(ball, ray_through({-100, 5, 3}, {100, 5, 3})), 8, 1e-13);
  EXPECT_EQ(chord(ball, ray_through({-100, 7, 3}, {100, 7, 3})), 0);
  EXPECT_EQ(chord(ball, ray_through({-100, 7.5, 3}, {100, 7.5, 3})), 0);
}

TEST(Shape, ChordFromFarAwayKeepsItsDigits) {
  // b^2 - ac would lose 12 digits here; about the closest point only the origin's rounding (1e6 * 2e-16) is left.
  const Shape ball = sphere({}, 1, 1);
  const Ray far{{-1e6, 0.6, 0}, {1, 0, 0}};
  EXPECT_NEAR(chord(ball, far), 1.6, 4e-10);
  // Grazing: half chord sqrt(1 - (1-d)^2).
  const double d = 1e-10;
  const Ray grazing{{-10, 1 - d, 0}, {1, 0, 0}};
  EXPECT_NEAR(chord(ball, grazing) / (2 * std::sqrt(2 * d - d * d)), 1, 1e-5);  // d itself has 6 digits in 1 - d
}

TEST(Shape, RayThatStartsInsideCountsFromThere) {
  Ray r{{0, 0, 0}, {0, 0, 1}, 0, 1e9};
  EXPECT_DOUBLE_EQ(chord(sphere({}, 5, 1), r), 5);
  EXPECT_DOUBLE_EQ(chord(box({}, {2, 2, 8}, 1), r), 4);
  r.direction = {0, 0, -1};
  EXPECT_DOUBLE_EQ(chord(cylinder({0, 0, 1}, 3, 10, 1), r), 4);
  r.end = 1.5;
  EXPECT_DOUBLE_EQ(chord(cylinder({0, 0, 1}, 3, 10, 1), r), 1.5);
}

TEST(Shape, CylinderAlongAndAcross) {
  const Shape c = cylinder({}, 3, 10, 1);
  EXPECT_DOUBLE_EQ(chord(c, {{1, 1, -50}, {0, 0, 1}}), 10);
  EXPECT_EQ(chord(c, {{3, 3, -50}, {0, 0, 1}}), 0);
  EXPECT_DOUBLE_EQ(chord(c, {{-50, 0, 2}, {1, 0, 0}}), 6);
  EXPECT_EQ(chord(c, {{-50, 0, 6}, {1, 0, 0}}), 0);
}

TEST(Shape, ConeByHand) {
  // Radius 4 at z = -5 down to 0 at z = 5: at height z the radius is 4 (5 - z) / 10.
  Shape cone = cylinder({}, 4, 10, 1);
  cone.kind = ShapeKind::cone;
  cone.top_scale = 0;
  EXPECT_NEAR(chord(cone, {{-50, 0, 0}, {1, 0, 0}}), 4, 1e-13);
  EXPECT_NEAR(chord(cone, {{-50, 0, -2.5}, {1, 0, 0}}), 6, 1e-13);
  EXPECT_NEAR(chord(cone, {{0, 0, -50}, {0, 0, 1}}), 10, 1e-12);   // along the axis, through the apex
  EXPECT_NEAR(chord(cone, {{1, 0, -50}, {0, 0, 1}}), 7.5, 1e-12);  // radius 1 at z = 2.5
  // Along a side line of the cone, half as far out: from the base to the apex, all inside.
  EXPECT_NEAR(chord(cone, ray_through({2, 0, -5}, {0, 0, 5})), std::sqrt(104.0), 1e-12);
  // Parallel to a side line (a == 0) through (0, 0, 0): inside while |x| <= radius, x = -0.4 z: from z = -5 to z where
  // -0.4 z = -0.4 (5 - z), z = 2.5.
  EXPECT_NEAR(chord(cone, ray_through({2, 0, -5}, {-2, 0, 5})), 7.5 * std::sqrt(1.16), 1e-12);
}

TEST(Shape, TurnedAndClippedAgainstPoints) {
  for (const ShapeKind kind : all_kinds)
    for (int trial = 0; trial < 60; ++trial) {
      Random random(77, static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(trial), 0);
      Shape s = of_kind(kind);
      s.axes = rotation(6 * random.uniform(), 6 * random.uniform(), 6 * random.uniform());
      const int clips = trial % 3;
      for (int i = 0; i < clips; ++i) {
        const Vec3 n{random.normal(), random.normal(), random.normal()};
        s.clips.push_back({n, dot(n, s.centre_mm) + 2 * random.normal() * norm(n)});
      }
      const Vec3 target = s.centre_mm + Vec3{4 * random.normal(), 4 * random.normal(), 4 * random.normal()};
      const Vec3 from{60 * random.normal(), 60 * random.normal(), 60 * random.normal()};
      const Ray ray = ray_through(from, target);
      const double step = 0.002, middle = norm(target - from);
      EXPECT_NEAR(chord(s, ray), chord_by_points(s, ray, middle - 60, middle + 60, step), 2 * step)
          << "kind " << static_cast<int>(kind) << " trial " << trial;
    }
}

TEST(Shape, BoundsHoldEveryPoint) {
  for (const ShapeKind kind : all_kinds) {
    Shape s = of_kind(kind);
    s.axes = rotation(0.3, -1.1, 2.2);
    const PreparedShape prepared(s);
    const Bounds b = prepared.bounds();
    double reach = 0;  // the largest x of any point found, relative to the bound
    for (int i = 0; i < 200000; ++i) {
      Random random(5, static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(i), 0);
      const Vec3 p =
          s.centre_mm + Vec3{30 * random.uniform() - 15, 30 * random.uniform() - 15, 30 * random.uniform() - 15};
      if (!prepared.contains(p)) continue;
      ASSERT_TRUE(p.x >= b.low.x && p.x <= b.high.x && p.y >= b.low.y && p.y <= b.high.y && p.z >= b.low.z &&
                  p.z <= b.high.z);
      reach = std::max(reach, (p.x - s.centre_mm.x) / (b.high.x - s.centre_mm.x));
    }
    EXPECT_GT(reach, kind == ShapeKind::cone ? 0.7 : 0.85);  // and the box is not needlessly large
  }
}

// Rays that graze the outermost points, at right angles to the way from the centre: none may be taken for one that
// passes by.
TEST(Shape, ARayThroughAnyOfItsPointsIsSeen) {
  for (const ShapeKind kind : all_kinds)
    for (int trial = 0; trial < 4000; ++trial) {
      Random random(6, static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(trial), 0);
      const auto direction = [&] { return normalized(Vec3{random.normal(), random.normal(), random.normal()}); };
      Shape s = of_kind(kind);
      s.axes = rotation(6 * random.uniform(), 6 * random.uniform(), 6 * random.uniform());
      const PreparedShape prepared(s);
      const Vec3 outwards = direction();
      double inside = 0, outside = 20;
      for (int i = 0; i < 60; ++i) {
        const double middle = (inside + outside) / 2;
        (prepared.contains(s.centre_mm + middle * outwards) ? inside : outside) = middle;
      }
      const Vec3 point = s.centre_mm + (inside - 1e-6) * outwards;
      const Vec3 along = normalized(cross(outwards, direction()));
      ASSERT_FALSE(prepared.intersect({point - 1e4 * along, along}).empty())
          << "kind " << static_cast<int>(kind) << " trial " << trial;
    }
}

TEST(Shape, RefusesWhatIsNoShape) {
  const auto refused = [](const Shape& s) { EXPECT_THROW(PreparedShape{s}, Error); };
  refused(sphere({}, 0, 1));
  refused(sphere({}, -1, 1));
  refused(sphere({std::nan(""), 0, 0}, 1, 1));
  Shape skew = sphere({}, 1, 1);
  skew.axes(0, 1) = 0.1;
  refused(skew);
  Shape cone = of_kind(ShapeKind::cone);
  cone.bottom_scale = cone.top_scale = 0;
  refused(cone);
  Shape clipped = sphere({}, 1, 1);
  clipped.clips.push_back({{0, 0, 0}, 1});
  refused(clipped);
}

TEST(Shape, FramesAreRightHanded) {
  for (const Vec3 axis : {Vec3{0, 0, 1}, Vec3{1, 0, 0}, Vec3{1, 2, -3}, Vec3{0, -1, 0}}) {
    const Matrix3 f = frame_along(axis, {1, 0, 0});
    EXPECT_NEAR(determinant(f), 1, 1e-14);
    EXPECT_NEAR(norm(f * Vec3{0, 0, 1} - normalized(axis)), 0, 1e-15);
  }
  // About z by a right angle: x becomes y.
  EXPECT_NEAR(norm(rotation(0, 0, pi / 2) * Vec3{1, 0, 0} - Vec3{0, 1, 0}), 0, 1e-15);
  EXPECT_NEAR(norm(rotation(pi / 2, 0, 0) * Vec3{0, 1, 0} - Vec3{0, 0, 1}), 0, 1e-15);
  EXPECT_NEAR(norm(rotation(0, pi / 2, 0) * Vec3{0, 0, 1} - Vec3{1, 0, 0}), 0, 1e-15);
}

}  // namespace
}  // namespace lepus
