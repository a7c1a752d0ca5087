// SPDX-License-Identifier: Apache-2.0
#include "analysis/noise.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/array_volume.h"
#include "analysis/noise_spectrum.h"
#include "analysis/test_bits.h"

namespace lepus::analysis {
namespace {

ArrayVolume noise_volume(std::int64_t n, double spread) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(10, static_cast<float>(spread));
  VolumeGrid grid{n, n, n, {}, {0.5, 0.5, 1}};
  std::vector<float> values(static_cast<std::size_t>(grid.voxels()));
  for (float& v : values) v = normal(random);
  return {grid, std::move(values)};
}

// Blocks that are held one at a time, by one thread, or all at once by three.
TEST(NoiseTest, TheSpectrumDoesNotDependOnMemoryOrThreads) {
  const ArrayVolume volume = noise_volume(36, 2);
  const std::array<std::vector<std::int64_t>, 3> starts{{{0, 10, 20}, {0, 20}, {3, 20}}};
  NoiseSpectrum a(16, volume.grid().step_mm), b = a;
  TestContext tight(1, 150'000), wide(3);
  a.add(volume, starts, tight.memory, tight.context);
  b.add(volume, starts, wide.memory, wide.context);
  EXPECT_EQ(a.blocks(), 12);
  EXPECT_EQ(a.power_mm3(), b.power_mm3());
}

// Parseval: all frequencies of white noise hold the variance times the voxel's volume, also where voxels are no cubes.
TEST(NoiseTest, WhiteNoiseIsFlat) {
  const ArrayVolume volume = noise_volume(48, 2);
  NoiseSpectrum spectrum(32, volume.grid().step_mm);
  TestContext test;
  spectrum.add(volume, {{{0, 16}, {0, 16}, {0, 16}}}, test.memory, test.context);
  const std::vector<double> per_mm = spectrum.per_mm(), power = spectrum.power_mm3();
  ASSERT_EQ(power.size(), 32U);  // shells of 1 / 32 mm up to 1 / (2 * 0.5 mm)
  EXPECT_DOUBLE_EQ(per_mm.back(), 1.0);
  for (std::size_t i = 4; i < power.size(); ++i) EXPECT_NEAR(power[i] / (4 * 0.25), 1, 0.15) << per_mm[i];
}

// A plane under the noise is no noise.
TEST(NoiseTest, APlaneIsTakenOff) {
  VolumeGrid grid{16, 16, 16, {}, {1, 1, 1}};
  std::vector<float> values;
  for (int z = 0; z < 16; ++z)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) values.push_back(static_cast<float>(5 + x - 2 * y + 3 * z));
  const ArrayVolume volume(grid, values);
  NoiseSpectrum spectrum(16, grid.step_mm);
  TestContext test;
  spectrum.add(volume, {{{0}, {0}, {0}}}, test.memory, test.context);
  for (const double p : spectrum.power_mm3()) EXPECT_NEAR(p, 0, 1e-18);
}

}  // namespace
}  // namespace lepus::analysis
