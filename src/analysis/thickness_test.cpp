// SPDX-License-Identifier: Apache-2.0
#include "analysis/thickness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/test_bits.h"
#include "io/scratch_volume.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// The definition: every ball around every voxel.
std::vector<float> plain_thickness(const Bytes& bytes, const VolumeSize& size, const VoxelShape& shape) {
  TestContext t;
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  const DistanceVolume<double> distances(bits, shape.steps, t.memory, t.context, Beyond::zeros);
  std::vector<double> squared, best(bytes.size(), 0), buffer(static_cast<std::size_t>(size.nx * size.ny));
  for (std::int64_t z = 0; z < size.nz; ++z) {
    const double* const slice = distances.slice(z, buffer.data());
    squared.insert(squared.end(), slice, slice + size.nx * size.ny);
  }
  const auto coordinate = [&](std::size_t i, std::int64_t below, std::int64_t n) {
    return static_cast<double>(static_cast<std::int64_t>(i) / below % n);
  };
  for (std::size_t centre = 0; centre < bytes.size(); ++centre)
    for (std::size_t i = 0; i < bytes.size() && squared[centre] > 0; ++i) {
      const double x = coordinate(i, 1, size.nx) - coordinate(centre, 1, size.nx),
                   y = coordinate(i, size.nx, size.ny) - coordinate(centre, size.nx, size.ny),
                   z = coordinate(i, size.nx * size.ny, size.nz) - coordinate(centre, size.nx * size.ny, size.nz);
      if (x * x * shape.steps.x + y * y * shape.steps.y + z * z * shape.steps.z < squared[centre])
        best[i] = std::max(best[i], squared[centre]);
    }
  std::vector<float> result;
  for (const double b : best) result.push_back(static_cast<float>(2 * std::sqrt(b) * shape.edge_mm));
  return result;
}

std::vector<float> thickness_map(const Bytes& bytes, const VolumeSize& size, const VoxelShape& shape, TestContext& t) {
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  ScratchVolume map(std::filesystem::temp_directory_path(), centred_grid(size.nx, size.ny, size.nz, {1, 1, 1}), "mm");
  local_thickness(bits, shape, &map, t.memory, t.context);
  std::vector<float> values(bytes.size());
  map.read(0, size.nz, values.data());
  return values;
}

TEST(thickness, is_the_definition) {
  const VolumeSize size{21, 17, 14};
  VoxelShape flat;
  flat.cubes = false;
  flat.steps = {1, 1, 1.96};
  flat.edge_mm = 0.5;
  for (const VoxelShape& shape : {VoxelShape{}, flat}) {
    const Bytes bytes = ball_bytes(size, 7, 8, 8);
    TestContext one(1), three(3);
    const auto map = thickness_map(bytes, size, shape, one);
    EXPECT_EQ(map, plain_thickness(bytes, size, shape));
    EXPECT_EQ(map, thickness_map(bytes, size, shape, three));
  }
}

TEST(thickness, of_a_ball_is_its_diameter) {
  const VolumeSize size{33, 33, 33};
  Bytes bytes;
  for (std::int64_t i = 0; i < size.voxels(); ++i) {
    const std::int64_t x = i % 33 - 16, y = i / 33 % 33 - 16, z = i / 33 / 33 - 16;
    bytes.push_back(x * x + y * y + z * z <= 100 ? 1 : 0);
  }
  TestContext t;
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  VoxelShape shape;
  shape.edge_mm = 0.1;
  const ThicknessResult result = local_thickness(bits, shape, nullptr, t.memory, t.context);
  EXPECT_NEAR(result.largest_mm, 2 * std::sqrt(101.0) * 0.1, 1e-12);
  EXPECT_NEAR(result.mean_mm, 2.0, 0.05);
}

// What is cut out of a volume is as thick as what is a region of it: `size` in the middle of nothing.
TEST(thickness, ends_at_the_faces_of_the_volume) {
  const VolumeSize size{21, 17, 14}, padded{size.nx + 2, size.ny + 2, size.nz + 2};
  VoxelShape flat;
  flat.cubes = false;
  flat.steps = {1, 1.44, 1.96};
  for (const VoxelShape& shape : {VoxelShape{}, flat})
    for (const double share : {0.9, 0.999, 1.0}) {
      const Bytes bytes = noise_bytes(size, share, 5);
      Bytes around(static_cast<std::size_t>(padded.voxels()), 0);
      const auto place = [&](std::int64_t i) {
        const std::int64_t x = i % size.nx + 1, y = i / size.nx % size.ny + 1, z = i / size.nx / size.ny + 1;
        return static_cast<std::size_t>((z * padded.ny + y) * padded.nx + x);
      };
      for (std::int64_t i = 0; i < size.voxels(); ++i) around[place(i)] = bytes[static_cast<std::size_t>(i)];
      TestContext t;
      const auto cut = thickness_map(bytes, size, shape, t), whole = thickness_map(around, padded, shape, t);
      for (std::int64_t i = 0; i < size.voxels(); ++i)
        ASSERT_EQ(cut[static_cast<std::size_t>(i)], whole[place(i)]) << "voxel " << i << ", share " << share;
    }
}

TEST(thickness, of_one_slice_is_flat) {
  const VolumeSize size{16, 12, 1};
  Bytes bytes(static_cast<std::size_t>(size.voxels()), 0);
  for (std::int64_t i = 0; i < size.voxels(); ++i) bytes[static_cast<std::size_t>(i)] = i % 16 >= 3 && i % 16 < 9;
  TestContext t;
  const auto map = thickness_map(bytes, size, {}, t);
  EXPECT_EQ(*std::max_element(map.begin(), map.end()), 6);
  EXPECT_EQ(map[4], 6);
}

TEST(thickness, of_one_voxel_is_refused) {
  TestContext t;
  BitVolume bits(t.memory, {1, 1, 1});
  fill_bits(bits, {1});
  EXPECT_THROW(local_thickness(bits, {}, nullptr, t.memory, t.context), Error);
}

}  // namespace
}  // namespace lepus::analysis
