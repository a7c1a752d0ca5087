// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include "device/host/device.h"
#include "device/volume_kernels_cases_test.h"

namespace lepus {
namespace {

using namespace volume_kernels_test;

TEST(VolumeKernelsTest, MorphologyIsThatOfItsDefinition) {
  ThreadPool threads(2);
  const auto device = host::make_device("cpu", threads);
  for (const double radius : {0.0, 1.0, 1.5, 3.0, 5.0})
    for (const BitShape& s : {shape_of(70, 9, 8), shape_of(31, 12, 5, 1), shape_of(64, 7, 6)}) {
      const Words sparse = random_bits(s, 0.01, 3), dense = random_bits(s, 0.99, 4);
      const Words dilated = run_on(*device, sparse, s, radius).dilated,
                  eroded = run_on(*device, dense, s, radius).eroded;
      for (std::int64_t z = 0; z < s.nz; ++z)
        for (std::int64_t y = 0; y < s.ny; ++y)
          for (std::int64_t x = 0; x < s.nx; ++x) {
            ASSERT_EQ(one_at(dilated, s, x, y, z), meets(sparse, s, radius, true, x, y, z)) << radius;
            ASSERT_EQ(one_at(eroded, s, x, y, z), !meets(dense, s, radius, false, x, y, z)) << radius;
          }
      for (std::int64_t row = 0; row < s.ny * s.nz; ++row)
        for (std::int64_t x = s.nx; x < 32 * s.row_words; ++x)
          ASSERT_EQ(eroded[static_cast<std::size_t>(row * s.row_words + x / 32)] >> (x % 32) & 1, 0U);
    }
}

// A ball that reaches over the words beside a word.
TEST(VolumeKernelsTest, TheLargestBall) {
  ThreadPool threads(2);
  const auto device = host::make_device("cpu", threads);
  const BitShape s = shape_of(130, 5, 3);
  Words bits(static_cast<std::size_t>(s.words()), 0);
  bits[static_cast<std::size_t>((1 * s.ny + 2) * s.row_words + 2)] = 1;  // voxel (64, 2, 1)
  const Words dilated = run_on(*device, bits, s, 31).dilated;
  for (std::int64_t x = 0; x < s.nx; ++x) ASSERT_EQ(one_at(dilated, s, x, 2, 1), std::abs(x - 64) <= 31) << x;
}

TEST(VolumeKernelsTest, DistancesAreThoseOfTheirDefinition) {
  ThreadPool threads(2);
  const auto device = host::make_device("cpu", threads);
  const BitShape s = shape_of(45, 9, 8);
  const Words bits = random_bits(s, 0.98, 5);
  const auto distances = run_on(*device, bits, s, 1).distances;
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y)
      for (std::int64_t x = 0; x < s.nx; ++x) {
        std::int64_t least = no_distance;
        for (std::int64_t k = 0; k < s.nz; ++k)
          for (std::int64_t j = 0; j < s.ny; ++j)
            for (std::int64_t i = 0; i < s.nx; ++i)
              if (!one_at(bits, s, i, j, k))
                least = std::min(least, (i - x) * (i - x) + (j - y) * (j - y) + (k - z) * (k - z));
        ASSERT_EQ(distances[static_cast<std::size_t>((z * s.ny + y) * s.nx + x)], least);
      }
}

TEST(VolumeKernelsTest, NothingButOnesHasNoDistance) {
  ThreadPool threads(1);
  const auto device = host::make_device("cpu", threads);
  const BitShape s = shape_of(33, 3, 2);
  for (const std::int32_t d : run_on(*device, random_bits(s, 1, 1), s, 1).distances) ASSERT_EQ(d, no_distance);
}

}  // namespace
}  // namespace lepus
