// SPDX-License-Identifier: Apache-2.0
#include "analysis/distance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/test_bits.h"

namespace lepus::analysis {
namespace {

// The definition, voxel by voxel.
template <class T>
std::vector<T> plain_distances(const Bytes& bytes, const VolumeSize& size, const SquaredSteps<T>& steps) {
  std::vector<T> result(bytes.size(), 0);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] == 0) continue;
    T best = far<T>;
    for (std::size_t to = 0; to < bytes.size(); ++to) {
      if (bytes[to] != 0) continue;
      const auto along = [&](std::int64_t below, std::int64_t n) {
        return static_cast<T>(static_cast<std::int64_t>(at) / below % n - static_cast<std::int64_t>(to) / below % n);
      };
      const T x = along(1, size.nx), y = along(size.nx, size.ny), z = along(size.nx * size.ny, size.nz);
      best = std::min(best, x * x * steps.x + y * y * steps.y + z * z * steps.z);
    }
    result[at] = best;
  }
  return result;
}

template <class T>
std::vector<T> distances(const Bytes& bytes, const VolumeSize& size, const SquaredSteps<T>& steps, TestContext& t) {
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  const DistanceVolume<T> volume(bits, steps, t.memory, t.context);
  std::vector<T> result, buffer(static_cast<std::size_t>(size.nx * size.ny));
  for (std::int64_t z = 0; z < size.nz; ++z) {
    const T* const slice = volume.slice(z, buffer.data());
    result.insert(result.end(), slice, slice + size.nx * size.ny);
  }
  EXPECT_EQ(volume.largest(), *std::max_element(result.begin(), result.end()));
  return result;
}

TEST(distance, of_cubes_is_the_definition_exactly) {
  for (const VolumeSize size : {VolumeSize{1, 1, 1}, {17, 13, 11}, {70, 5, 4}, {3, 90, 2}, {2, 3, 120}})
    for (const double share : {0.0, 0.5, 0.97, 0.999, 1.0}) {
      const Bytes bytes = noise_bytes(size, share, 11);
      TestContext t;
      ASSERT_EQ(distances<std::int32_t>(bytes, size, {}, t), plain_distances<std::int32_t>(bytes, size, {}))
          << size.nx << " x " << size.ny << " x " << size.nz << ", share " << share;
    }
}

TEST(distance, of_other_voxels_is_the_definition) {
  const SquaredSteps<double> steps{0.09, 1.21, 0.0625};
  const VolumeSize size{9, 60, 6};
  for (const double share : {0.5, 0.98, 0.9997}) {
    const Bytes bytes = noise_bytes(size, share, 4);
    TestContext t;
    const auto got = distances<double>(bytes, size, steps, t), expected = plain_distances<double>(bytes, size, steps);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-12 * expected[i]);
  }
}

TEST(distance, through_a_scratch_file_is_the_same) {
  const VolumeSize size{50, 41, 33};
  const Bytes bytes = ball_bytes(size, 30, 9, 2);
  TestContext large, small(2, 60 << 10);  // the distances are 271 kB; two rows of all slices are 13 kB
  EXPECT_EQ(distances<std::int32_t>(bytes, size, {}, small), distances<std::int32_t>(bytes, size, {}, large));
}

}  // namespace
}  // namespace lepus::analysis
