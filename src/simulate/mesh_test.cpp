// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles against solids whose chords are known.
#include "simulate/mesh.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "simulate/phantom.h"
#include "simulate/random.h"
#include "simulate/test_surfaces.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double chord(const ClosedMesh& mesh, const Ray& ray) {
  std::vector<Interval> inside;
  mesh.intersect(ray, inside);
  double sum = 0;
  for (const Interval& t : inside) sum += t.end - t.begin;
  return sum;
}

Vec3 random_point(Random& random, double size) {
  const auto one = [&] { return size * (2 * random.uniform() - 1); };
  const double x = one(), y = one(), z = one();
  return {x, y, z};
}

TEST(Mesh, ABoxOfTrianglesHasTheChordsOfABox) {
  const ClosedMesh mesh(box_surface({-3, -1, -2}, {5, 4, 6}), "box");
  EXPECT_NEAR(mesh.volume(), 8.0 * 5 * 8, 1e-12);
  const PreparedShape solid(box({1, 1.5, 2}, {8, 5, 8}, 1));
  Random random(1, 0, 0, 0);
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vec3 from = random_point(random, 20), to = random_point(random, 6);
    const Ray ray{from, normalized(to - from)};
    const Interval t = solid.intersect(ray);
    EXPECT_NEAR(chord(mesh, ray), t.empty() ? 0 : t.end - t.begin, 1e-8);
    met += t.empty() ? 0 : 1;
    EXPECT_EQ(mesh.contains(to), solid.contains(to));
  }
  EXPECT_GT(met, 5000);
}

TEST(Mesh, RaysThroughEdgesAndCornersAreCountedOnce) {
  const ClosedMesh mesh(box_surface({-2, -2, -2}, {2, 2, 2}), "box");
  // Along a diagonal of two faces, through an edge's middle, through two corners, and along z through the diagonals.
  EXPECT_NEAR(chord(mesh, {{-10, 0, 0}, {1, 0, 0}}), 4, 1e-8);
  EXPECT_NEAR(chord(mesh, {{-10, -10, 0}, normalized({1, 1, 0})}), 4 * std::sqrt(2.0), 1e-8);
  EXPECT_NEAR(chord(mesh, {{-10, -10, -10}, normalized({1, 1, 1})}), 4 * std::sqrt(3.0), 1e-8);
  for (double x = -1.5; x <= 1.5; x += 0.5) EXPECT_NEAR(chord(mesh, {{x, x, -9}, {0, 0, 1}}), 4, 1e-8) << x;
  // Within a face it is either beside the box or in it.
  const double along_a_face = chord(mesh, {{-10, 2, 0.3}, {1, 0, 0}});
  EXPECT_TRUE(std::abs(along_a_face) < 1e-8 || std::abs(along_a_face - 4) < 1e-8) << along_a_face;
}

// Between the ball and the one inside its surface: the sagitta of a face is below r (1 - cos(pi / rings)).
TEST(Mesh, AFineBallIsABall) {
  constexpr int rings = 60;
  const ClosedMesh mesh(ball_surface(10, rings), "ball");
  const double inner = 10 * std::pow(std::cos(std::numbers::pi / rings / 2), 2) - 1e-5;
  Random random(2, 0, 0, 0);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 from = random_point(random, 40);
    if (norm(from) < 11) continue;
    const Ray ray{from, normalized(random_point(random, 9) - from)};
    const double distance = norm(cross(from, ray.direction));
    const auto of_ball = [&](double r) { return r > distance ? 2 * std::sqrt(r * r - distance * distance) : 0.0; };
    const double measured = chord(mesh, ray);
    EXPECT_LE(measured, of_ball(10 + 1e-5));
    EXPECT_GE(measured, of_ball(inner));
  }
  EXPECT_NEAR(mesh.volume(), 4.0 / 3 * std::numbers::pi * 1000, 4.0 / 3 * std::numbers::pi * 1000 * 0.004);
}

TEST(Mesh, CavitiesAreEmptyAndOverlapsCountOnce) {
  const auto outer = box_surface({-4, -4, -4}, {4, 4, 4});
  const ClosedMesh hollow(joined(outer, box_surface({-1, -1, -1}, {1, 1, 1}, true)), "hollow");
  const Ray ray{{-10, 0.1, 0.2}, {1, 0, 0}};
  EXPECT_NEAR(chord(hollow, ray), 6, 1e-9);
  EXPECT_FALSE(hollow.contains({0, 0.1, 0.2}));
  const ClosedMesh overlapping(joined(outer, box_surface({2, -1, -1}, {7, 1, 1})), "overlapping");
  EXPECT_NEAR(chord(overlapping, ray), 11, 1e-9);
  const ClosedMesh inside_out(box_surface({-4, -4, -4}, {4, 4, 4}, true), "inside out");
  EXPECT_NEAR(chord(inside_out, ray), 8, 1e-9);
}

TEST(Mesh, AnOpenSurfaceIsRefused) {
  auto open = box_surface({-1, -1, -1}, {1, 1, 1});
  open.pop_back();
  try {
    const ClosedMesh mesh(open, "part.stl");
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("3 edges"), std::string::npos) << error.what();
  }
  auto turned = box_surface({-1, -1, -1}, {1, 1, 1});
  std::swap(turned[0][0], turned[0][1]);
  EXPECT_THROW(ClosedMesh(turned, "part.stl"), Error);
}

TEST(Mesh, IsMovedTurnedScaledAndClippedAsAnyShape) {
  Shape part;
  part.kind = ShapeKind::mesh;
  part.mesh = std::make_shared<ClosedMesh>(box_surface({-1, -2, -3}, {1, 2, 3}), "box");
  part.half_axes_mm = {2, 2, 2};
  part.centre_mm = {3, -1, 2};
  part.axes = rotation(0.3, -0.5, 1.1);
  part.clips = {{{1, 0, 0.5}, 4}};
  part.value = 0.5;
  Shape same = box({3, -1, 2}, {4, 8, 12}, 0.5);
  same.axes = part.axes;
  same.clips = part.clips;
  // Its box is its own wherever the file's origin lies.
  Shape far = part;
  far.mesh = std::make_shared<ClosedMesh>(box_surface({999, 998, 997}, {1001, 1002, 1003}), "box");
  far.centre_mm = part.centre_mm - part.axes * Vec3{2000, 2000, 2000};
  const Bounds near_box = PreparedShape(part).bounds(), far_box = PreparedShape(far).bounds();
  EXPECT_LT(norm(near_box.low - far_box.low) + norm(near_box.high - far_box.high), 1e-6);
  const Phantom a("mesh", Combine::replace, {part, sphere({3, -1, 2}, 1, 2)});
  const Phantom b("box", Combine::replace, {same, sphere({3, -1, 2}, 1, 2)});
  Phantom::Scratch scratch;
  Random random(3, 0, 0, 0);
  for (int i = 0; i < 3000; ++i) {
    const Vec3 from = random_point(random, 30), to = random_point(random, 8);
    const Ray ray{from, normalized(to - from)};
    EXPECT_NEAR(a.line_integral(ray, scratch), b.line_integral(ray, scratch), 1e-7);
    EXPECT_EQ(a.value_at(to), b.value_at(to));
  }
}

}  // namespace
}  // namespace lepus
