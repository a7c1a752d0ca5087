// SPDX-License-Identifier: Apache-2.0
// The voxelised truth against the phantom's own values and volumes.
#include "simulate/voxelise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/builtin_phantoms.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::vector<float> voxels_of(const Phantom& phantom, const VolumeGrid& grid, int samples, int threads = 2) {
  ThreadPool pool(threads);
  std::vector<float> out(static_cast<std::size_t>(grid.voxels()));
  voxelise(phantom, grid, 0, grid.nz, samples, out.data(), pool);
  return out;
}

TEST(Voxelise, SamplesAreThePhantomsValues) {
  // Against value_at at every sample. Only a sample within rounding of an edge may differ; these grids have none.
  const VolumeGrid grid{19, 17, 23, {-91.3, 84.1, -110.7}, {10.1, -10.3, 9.7}};
  for (const Phantom& phantom : {forbild_head(true, 0.02), shepp_logan(SheppLogan::kak_slaney, 100, 1)})
    for (const int n : {1, 3}) {
      const auto v = voxels_of(phantom, grid, n);
      for (std::int64_t k = 0; k < grid.nz; ++k)
        for (std::int64_t j = 0; j < grid.ny; ++j)
          for (std::int64_t i = 0; i < grid.nx; ++i) {
            double sum = 0;
            for (int c = 0; c < n; ++c)
              for (int b = 0; b < n; ++b)
                for (int a = 0; a < n; ++a)
                  sum += phantom.value_at(grid.centre(static_cast<double>(i) + (a + 0.5) / n - 0.5,
                                                      static_cast<double>(j) + (b + 0.5) / n - 0.5,
                                                      static_cast<double>(k) + (c + 0.5) / n - 0.5));
            ASSERT_NEAR(v[static_cast<std::size_t>((k * grid.ny + j) * grid.nx + i)], sum / (n * n * n), 2e-7)
                << i << " " << j << " " << k;
          }
    }
}

TEST(Voxelise, MirroredGridMirrors) {
  const Phantom phantom("off", Combine::add, {sphere({3, 0, 0}, 4, 1)});
  const VolumeGrid grid = centred_grid(20, 8, 8, {1, 1, 1});
  VolumeGrid mirrored = grid;
  mirrored.origin_mm.x = -grid.origin_mm.x;
  mirrored.step_mm.x = -1;
  const auto a = voxels_of(phantom, grid, 2), b = voxels_of(phantom, mirrored, 2);
  for (std::size_t line = 0; line < 64; ++line)
    for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(a[line * 20 + i], b[line * 20 + 19 - i]);
}

TEST(Voxelise, SlabsAndThreadsGiveTheSameBits) {
  const Phantom phantom = forbild_head(false, 0.02);
  const VolumeGrid grid = centred_grid(30, 30, 30, {8, 8, 9});
  const auto whole = voxels_of(phantom, grid, 2, 3);
  ThreadPool one(1);
  std::vector<float> slab(900 * 7);
  voxelise(phantom, grid, 11, 18, 2, slab.data(), one);
  EXPECT_TRUE(std::equal(slab.begin(), slab.end(), whole.begin() + 11 * 900));
}

TEST(Voxelise, VolumeOfABall) {
  // 64^3 voxels of 1 mm, 4^3 samples: the sum counts lattice points of 0.25 mm in a ball of radius 25 mm; its error has
  // the size of the root of the surface cells, (4 pi 100^2)^(1/2) of 4/3 pi 100^3: 1e-4.
  const auto v = voxels_of(uniform_ball(25, 1), centred_grid(64, 64, 64, {1, 1, 1}), 4);
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x);
  EXPECT_NEAR(sum / (4.0 / 3 * pi * 25 * 25 * 25), 1, 2e-4);
  EXPECT_EQ(v.front(), 0.0f);
  EXPECT_EQ(v[32 * 64 * 64 + 32 * 64 + 32], 1.0f);
}

TEST(Voxelise, PorosityOfTheBlock) {
  const PorousResult block = porous_block({.size_mm = {20, 20, 20},
                                           .value_per_mm = 0.5,
                                           .pores = 500,
                                           .smallest_radius_mm = 0.5,
                                           .largest_radius_mm = 1.2,
                                           .overlap = false,
                                           .seed = 9});
  const auto v = voxels_of(block.phantom, centred_grid(50, 50, 50, {0.4, 0.4, 0.4}), 3);
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x);
  const double porosity = 1 - sum / (0.5 * 125000);
  EXPECT_GT(block.porosity, 0.15);
  EXPECT_NEAR(porosity, block.porosity,
              5e-4);  // 500 pores of about 1400 samples, each counted to 2 %: 0.02/sqrt(500) * 0.18
}

TEST(Voxelise, RefusesSillySamples) {
  ThreadPool pool(1);
  float x = 0;
  EXPECT_THROW(voxelise(uniform_ball(1, 1), centred_grid(1, 1, 1, {1, 1, 1}), 0, 1, 0, &x, pool), Error);
}

}  // namespace
}  // namespace lepus
