// SPDX-License-Identifier: Apache-2.0
// Which voxel is drawn where: a volume whose value at (i, j, k) is 100 i + 10 j + k.
#include "analysis/slices.h"

#include <gtest/gtest.h>

#include "analysis/array_volume.h"
#include "core/test_context.h"

namespace lepus {
namespace {

ArrayVolume counting(Vec3 step) {
  const VolumeGrid grid{4, 3, 2, {10, 20, 30}, step};
  std::vector<float> values;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) values.push_back(static_cast<float>(100 * i + 10 * j + k));
  return {grid, values};
}

TEST(slices, upright_in_every_direction) {
  TestContext f;
  const auto slices = extract_slices(counting({1, 2, 3}), {{Axis::z, 1}, {Axis::y, 2}, {Axis::x, 3}}, 1, f.context);
  ASSERT_EQ(slices.size(), 3U);
  const Slice& xy = slices[0];
  EXPECT_EQ(xy.width, 4);
  EXPECT_EQ(xy.height, 3);
  EXPECT_EQ(xy.position_mm, 33);
  EXPECT_EQ(xy.values.front(), 21);  // top left: x least, y greatest
  EXPECT_EQ(xy.values.back(), 301);  // bottom right: x greatest, y least
  EXPECT_EQ(xy.pixel_height_mm, 2);
  const Slice& xz = slices[1];
  EXPECT_EQ(xz.width, 4);
  EXPECT_EQ(xz.height, 2);
  EXPECT_EQ(xz.values.front(), 21);  // top left: x least, z greatest
  EXPECT_EQ(xz.values.back(), 320);
  EXPECT_EQ(xz.position_mm, 24);
  const Slice& yz = slices[2];
  EXPECT_EQ(yz.width, 3);
  EXPECT_EQ(yz.values.front(), 301);  // top left: y least, z greatest
  EXPECT_EQ(yz.values.back(), 320);
  EXPECT_EQ(yz.pixel_width_mm, 2);
  EXPECT_EQ(yz.pixel_height_mm, 3);
}

TEST(slices, mirrored_axes_look_the_same_way_up) {
  TestContext f;
  const auto slices = extract_slices(counting({-1, -2, -3}), {{Axis::z, 1}, {Axis::y, 2}}, 1 << 20, f.context);
  EXPECT_EQ(slices[0].values.front(), 301);  // x least is voxel 3, y greatest is voxel 0
  EXPECT_EQ(slices[1].values.front(), 320);  // x least is voxel 3, z greatest is voxel 0
}

TEST(slices, only_what_is_there) {
  TestContext f;
  const ArrayVolume volume = counting({1, 2, 3});
  EXPECT_EQ(index_at(volume.grid(), Axis::y, 22.9), 1);
  EXPECT_EQ(index_at(volume.grid(), Axis::y, 23.1), 2);
  EXPECT_THROW(index_at(volume.grid(), Axis::y, 25.1), Error);
  EXPECT_THROW(index_at(volume.grid(), Axis::z, 28.4), Error);
  EXPECT_THROW(extract_slices(volume, {{Axis::z, 2}}, 1 << 20, f.context), Error);
  EXPECT_THROW(extract_slices(volume, {{Axis::x, -1}}, 1 << 20, f.context), Error);
}

TEST(slices, difference_is_second_less_first) {
  Slice a, b;
  a.values = {1, 2};
  b.values = {4, 1};
  EXPECT_EQ(difference(a, b).values, (std::vector<float>{3, -1}));
}

}  // namespace
}  // namespace lepus
