// SPDX-License-Identifier: Apache-2.0
// Surfaces are closed, whatever they are made of: every edge belongs to exactly two triangles, once in each direction.
// tests/program/surface_test.py holds area and volume against scikit-image.
#include "analysis/surface.h"

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "analysis/array_volume.h"
#include "analysis/surface_table.h"
#include "analysis/test_bits.h"

namespace lepus::analysis {
namespace {

struct Body final : SurfaceSink {
  void vertex(const std::array<float, 3>& mm) override { places.push_back(mm); }
  void triangle(const std::array<std::int64_t, 3>& numbers,
                const std::array<std::array<float, 3>, 3>& corners) override {
    triangles.push_back(numbers);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(corners[i], places.at(static_cast<std::size_t>(numbers[i]))) << "a number names another place";
  }
  std::vector<std::array<float, 3>> places;
  std::vector<std::array<std::int64_t, 3>> triangles;
};

// Directed edges that do not occur exactly once, or whose opposite does not: by number and by place.
std::int64_t open_edges(const Body& body) {
  std::map<std::array<float, 3>, std::int64_t> by_place;
  for (std::size_t i = 0; i < body.places.size(); ++i) by_place.emplace(body.places[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(by_place.size(), body.places.size()) << "two vertices lie in one place";
  std::map<std::pair<std::int64_t, std::int64_t>, int> edges;
  for (const auto& t : body.triangles)
    for (std::size_t i = 0; i < 3; ++i) ++edges[{t[i], t[(i + 1) % 3]}];
  std::int64_t wrong = 0;
  for (const auto& [edge, count] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    if (count != 1 || back == edges.end() || back->second != 1) ++wrong;
  }
  return wrong;
}

SurfaceReport surface_of(const VolumeGrid& grid, std::vector<float> values, double threshold, Body& body,
                         std::optional<std::array<std::int64_t, 6>> box = {}) {
  TestContext test;
  return extract_surface(ArrayVolume(grid, std::move(values)), {threshold, box}, body, test.context);
}

TEST(Surface, every_cube_is_cut_along_its_crossed_edges) {
  int triangles = 0;
  for (int inside = 0; inside < 256; ++inside) {
    std::array<int, 12> used{};
    for (const SurfaceLoop& loop : surface_table()[static_cast<std::size_t>(inside)]) {
      for (const auto edge : loop.edges) ++used[edge];
      triangles += static_cast<int>(loop.triangles.size());
    }
    for (std::size_t e = 0; e < 12; ++e) {
      const auto [corner, axis] = cube_edges()[e];
      const bool crossed = (inside >> corner & 1) != (inside >> (corner | 1 << axis) & 1);
      EXPECT_EQ(used[e], crossed ? 1 : 0) << inside << ", edge " << e;
    }
  }
  EXPECT_GT(triangles, 700);
}

// Noise meets all 256 cubes, with all their neighbours, up to the ends of the volume.
TEST(Surface, of_noise_is_closed) {
  const VolumeGrid grid{23, 17, 19, {1, 2, 3}, {0.5, 0.7, 0.9}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (const double threshold : {0.2, 0.5, 0.8}) {
    std::vector<float> values(static_cast<std::size_t>(grid.voxels()));
    for (float& value : values) value = uniform(random);
    Body body;
    const SurfaceReport report = surface_of(grid, values, threshold, body);
    EXPECT_EQ(open_edges(body), 0) << threshold;
    EXPECT_EQ(report.triangles, static_cast<std::int64_t>(body.triangles.size()));
    EXPECT_EQ(report.vertices, static_cast<std::int64_t>(body.places.size()));
    EXPECT_GT(report.volume_mm3, 0) << "turned inside out";
  }
}

// Values that are the threshold, NaN and infinite ones make no holes.
TEST(Surface, of_difficult_values_is_closed) {
  const VolumeGrid grid{15, 15, 15, {}, {1, 1, 1}};
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::array<float, 7> kinds{0, 1, 0.5F, 0.5F, nan, inf, -inf};
  std::mt19937 random(5);
  std::vector<float> values(static_cast<std::size_t>(grid.voxels()));
  for (float& value : values) value = kinds[random() % kinds.size()];
  Body body;
  surface_of(grid, values, 0.5, body);
  EXPECT_EQ(open_edges(body), 0);
  for (const auto& place : body.places)
    for (const float x : place) EXPECT_TRUE(std::isfinite(x));
}

TEST(Surface, of_a_ball_has_its_area_and_volume) {
  for (const double sign : {1.0, -1.0}) {  // a mirrored axis does not turn it inside out
    const VolumeGrid grid{41, 41, 41, {-10, -10, sign * -10}, {0.5, 0.5, sign * 0.5}};
    std::vector<float> values;
    for (std::int64_t z = 0; z < 41; ++z)
      for (std::int64_t y = 0; y < 41; ++y)
        for (std::int64_t x = 0; x < 41; ++x) {
          const Vec3 at = grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
          values.push_back(static_cast<float>(8 - norm(at)));
        }
    Body body;
    const SurfaceReport report = surface_of(grid, values, 0, body);
    EXPECT_EQ(open_edges(body), 0);
    // A surface of flat pieces of side h in a ball of radius r loses about (h / r)^2 / 4 of it: 0.1 %.
    EXPECT_NEAR(report.volume_mm3, 4 * pi / 3 * 512, 0.003 * 4 * pi / 3 * 512);
    EXPECT_NEAR(report.area_mm2, 4 * pi * 64, 0.003 * 4 * pi * 64);
  }
}

// A full volume is a box whose faces are those of its voxels; corners and edges are cut off by half a voxel.
TEST(Surface, of_a_full_volume_or_of_a_part_is_closed_at_its_ends) {
  const VolumeGrid grid{12, 10, 8, {}, {1, 1, 1}};
  const std::vector<float> values(static_cast<std::size_t>(grid.voxels()), 1.0F);
  Body whole, part;
  const SurfaceReport report = surface_of(grid, values, 0.5, whole);
  EXPECT_EQ(open_edges(whole), 0);
  EXPECT_LT(report.volume_mm3, 12 * 10 * 8);
  EXPECT_GT(report.volume_mm3, 12 * 10 * 8 - 0.125 * 4 * (12 + 10 + 8));
  const SurfaceReport smaller = surface_of(grid, values, 0.5, part, std::array<std::int64_t, 6>{2, 5, 3, 6, 1, 4});
  EXPECT_EQ(open_edges(part), 0);
  EXPECT_LT(smaller.volume_mm3, 27);
  EXPECT_GT(smaller.volume_mm3, 27 - 0.125 * 4 * 9);
}

TEST(Surface, of_nothing_is_an_error) {
  const VolumeGrid grid{4, 4, 4, {}, {1, 1, 1}};
  Body body;
  EXPECT_THROW(surface_of(grid, std::vector<float>(64, 0.0F), 0.5, body), Error);
}

}  // namespace
}  // namespace lepus::analysis
