// SPDX-License-Identifier: Apache-2.0
// Pictures, planes and numbers of a volume against the plainest computation of the same.
#include "view/picture.h"

#include <limits>
#include <random>

#include "view/numbers.h"
#include "view/plane.h"
#include "view/test_volume.h"

namespace lepus::view {
namespace {

const VolumeGrid odd{67, 70, 66, {1, 2, 3}, {0.5, 0.25, 1}};

std::vector<std::string> names() {
  std::vector<std::string> list{"v.mha"};
  if (test::have(".zarr")) list.emplace_back("v.zarr");
  if (test::have(".tif")) list.emplace_back("v.tif");
  return list;
}

TEST(ViewSlice, is_the_voxels_of_the_file) {
  for (const std::string& name : names()) {
    const TestVolume file(name, odd);
    const auto volume = open_for_viewing(file.path);
    PartCache cache(1 << 22);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const std::int64_t step : {1, 3})
        for (const std::int64_t index : {0, 17, 65}) {
          SliceQuery query;
          query.axis = axis;
          query.index = index;
          query.step = step;
          query.box = axis == 2 ? std::array<std::int64_t, 4>{5, 67, 0, 33} : std::array<std::int64_t, 4>{1, 60, 2, 66};
          const SlicePicture picture = slice_of(query, *volume, cache);
          std::vector<float> expected;
          for (std::int64_t r = query.box[2]; r < query.box[3]; r += step)
            for (std::int64_t c = query.box[0]; c < query.box[1]; c += step)
              expected.push_back(axis == 2   ? file.at(c, r, index)
                                 : axis == 1 ? file.at(c, index, r)
                                             : file.at(index, c, r));
          EXPECT_EQ(picture.values, expected) << name << ", axis " << axis << ", step " << step << ", " << index;
          EXPECT_EQ(picture.width * picture.height, static_cast<std::int64_t>(expected.size()));
        }
    EXPECT_LE(cache.bytes(), cache.limit());
  }
}

TEST(ViewSlice, of_a_slab_leaves_out_what_is_no_number) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TestVolume file("v.mha", {6, 5, 9, {}, {1, 1, 1}}, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    if (x == 0 && y == 0) return nan;
    if (x == 1 && z != 4) return nan;
    return static_cast<float>(x + 10 * y + 100 * z);
  });
  const auto volume = open_for_viewing(file.path);
  PartCache cache(1 << 20);
  SliceQuery query;
  query.index = 4;
  query.slab = 3;
  query.box = {0, 6, 0, 5};
  const auto value = [&](const char* mode, std::size_t x, std::size_t y) {
    query.mode = mode;
    return slice_of(query, *volume, cache).values[y * 6 + x];
  };
  EXPECT_TRUE(std::isnan(value("max", 0, 0)));
  EXPECT_EQ(value("max", 1, 2), 421);
  EXPECT_EQ(value("max", 3, 2), 523);
  EXPECT_EQ(value("min", 3, 2), 323);
  EXPECT_EQ(value("mean", 3, 2), 423);
  EXPECT_EQ(value("one", 3, 2), 423);
  query.index = 8;  // cut off at the end
  EXPECT_EQ(value("mean", 3, 2), 773);
}

TEST(ViewSlice, of_a_coarser_level_is_that_of_the_pyramid) {
  if (!test::have(".zarr")) GTEST_SKIP() << "this build has no OME-Zarr";
  const TestVolume file("v.zarr", {300, 20, 10, {}, {1, 1, 1}});
  const auto volume = open_for_viewing(file.path);
  ASSERT_EQ(volume->levels.size(), 3U);
  EXPECT_EQ(volume->levels[2].factor, 4);
  PartCache cache(1 << 24);
  SliceQuery query;
  query.index = 4;
  query.box = {0, 300, 0, 20};
  query.level.reset();
  query.step.reset();
  query.maximum = 150;
  const SlicePicture picture = slice_of(query, *volume, cache);
  EXPECT_EQ(picture.level, 1);
  EXPECT_EQ(picture.step, 1);
  EXPECT_EQ(picture.width, 150);
  float sum = 0;
  for (std::int64_t z : {4, 5})
    for (std::int64_t y : {0, 1})
      for (std::int64_t x : {0, 1}) sum += file.at(x, y, z);
  EXPECT_FLOAT_EQ(picture.values[0], sum / 8);
  query.maximum = 20;
  const SlicePicture small = slice_of(query, *volume, cache);
  EXPECT_EQ(small.level, 2);
  EXPECT_EQ(small.step, 4);  // 75 columns
  EXPECT_LE(small.width, 20);
}

TEST(ViewBytes, are_windowed_rounded_and_cut_off) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{-1, 0, 0.25F, 0.5F, 1, 2, nan};
  const std::string grey = bytes_of(values, PixelFormat::u8, {0, 1});
  EXPECT_EQ(std::vector<int>(grey.begin(), grey.end()),
            (std::vector<int>{0, 0, 64, static_cast<char>(128), static_cast<char>(255), static_cast<char>(255), 0}));
  const std::string labels = bytes_of({0, 1, 16777216, -3, nan}, PixelFormat::u32, {});
  std::vector<std::uint32_t> numbers(5);
  std::memcpy(numbers.data(), labels.data(), labels.size());
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 16777216, 0, 0}));
}

TEST(ViewBytes, have_65535_steps_between_the_smallest_and_the_largest_value) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-2, 1.25F, 6, nan, inf, -inf};
  const GreyRange range = range_of_values(values);
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 6);
  const std::string bytes = bytes_of(values, PixelFormat::u16, range);
  std::vector<std::uint16_t> steps(values.size());
  ASSERT_EQ(bytes.size(), 2 * steps.size());
  std::memcpy(steps.data(), bytes.data(), bytes.size());
  EXPECT_EQ(steps[0], 1);
  EXPECT_NEAR(range.low + (steps[1] - 1) * (range.high - range.low) / 65534, 1.25, 0.5 * 8 / 65534);
  EXPECT_EQ(steps[2], 65535);
  EXPECT_EQ(steps[3], 0);
  EXPECT_EQ(steps[4], 65535);
  EXPECT_EQ(steps[5], 1);
  EXPECT_GT(range_of_values({3, 3}).high, 3);  // never empty
  EXPECT_EQ(range_of_values({nan, inf}).high, 1);
}

TEST(ViewBox, is_coarsened_until_it_fits) {
  const TestVolume file("v.mha", odd);
  const auto volume = open_for_viewing(file.path);
  PartCache cache(1 << 22);
  const BoxPart plan = plan_box({{3, 67, 0, 70, 10, 66}, 32}, *volume);
  EXPECT_EQ(plan.part.step, (std::array<std::int64_t, 3>{3, 3, 3}));
  const std::string bytes = box_bytes(plan, *volume, cache, PixelFormat::f32, {});
  std::vector<float> values(bytes.size() / 4), expected;
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (std::int64_t z = 10; z < 66; z += 3)
    for (std::int64_t y = 0; y < 70; y += 3)
      for (std::int64_t x = 3; x < 67; x += 3) expected.push_back(file.at(x, y, z));
  EXPECT_EQ(values, expected);
}

// A linear volume is known between its voxels, too.
TEST(ViewPlane, is_trilinear_and_ends_with_the_volume) {
  const TestVolume file("v.mha", {40, 50, 60, {}, {1, 1, 1}}, [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<float>(x + 100 * y + 10000 * z);
  });
  const auto volume = open_for_viewing(file.path);
  PartCache cache(1 << 22);
  const PlaneGrid plane{{-3, 2.25, 1.5}, {0.3, 0.2, 0.1}, {0.1, -0.15, 0.4}, 130, 90};
  const auto values = sample_plane(plane, volume->levels.front(), cache);
  int inside = 0;
  for (std::int64_t r = 0; r < 90; ++r)
    for (std::int64_t c = 0; c < 130; ++c) {
      const Vec3 at = plane.origin + static_cast<double>(c) * plane.right + static_cast<double>(r) * plane.down;
      const float found = values[static_cast<std::size_t>(r * 130 + c)];
      const auto away = [](double x, double n) { return std::max(-x, x - n); };  // beyond the outermost centres
      const double out = std::max({away(at.x, 39), away(at.y, 49), away(at.z, 59)});
      if (out > 0.5 + 1e-9) {
        EXPECT_TRUE(std::isnan(found)) << c << ", " << r;
      } else if (out <= 0) {
        ++inside;
        EXPECT_NEAR(found, at.x + 100 * at.y + 10000 * at.z, 0.1) << c << ", " << r;
      }
    }
  EXPECT_GT(inside, 2000);
}

TEST(ViewNumbers, of_a_region_are_exact) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(1);
  std::normal_distribution<float> noise(1000, 1);
  const TestVolume file("v.mha", {21, 23, 25, {}, {1, 1, 1}},
                        [&](std::int64_t x, std::int64_t, std::int64_t) { return x == 5 ? nan : noise(random); });
  const auto volume = open_for_viewing(file.path);
  PartCache cache(1 << 20);
  const CancelFlag never;
  for (const RegionShape shape : {RegionShape::box, RegionShape::ellipsoid}) {
    const auto found = statistics_of(*volume, shape, {2, 20, 3, 22, 1, 24}, cache, never);
    double sum = 0, squares = 0;
    std::int64_t count = 0, bad = 0;
    for (std::int64_t z = 1; z < 24; ++z)
      for (std::int64_t y = 3; y < 22; ++y)
        for (std::int64_t x = 2; x < 20; ++x) {
          const double u = (static_cast<double>(x) - 10.5) / 9, v = (static_cast<double>(y) - 12) / 9.5,
                       w = (static_cast<double>(z) - 12) / 11.5;
          if (shape == RegionShape::ellipsoid && u * u + v * v + w * w > 1) continue;
          const auto value = static_cast<double>(file.at(x, y, z));
          if (std::isnan(value)) {
            ++bad;
            continue;
          }
          ++count;
          sum += value;
          squares += (value - 1000) * (value - 1000);
        }
    const double mean = sum / static_cast<double>(count);
    EXPECT_EQ(found.voxels, count + bad);
    EXPECT_EQ(found.not_finite, bad);
    EXPECT_NEAR(found.mean, mean, 1e-9);
    EXPECT_NEAR(found.standard_deviation,
                std::sqrt(squares / static_cast<double>(count) - (mean - 1000) * (mean - 1000)), 1e-9);
  }
}

TEST(ViewNumbers, histogram_counts_every_value_once) {
  const ValueHistogram h = histogram_of({-1, 0, 0.1F, 0.5F, 0.99F, 1, 2}, 2, 0, 1);
  EXPECT_EQ(h.counts, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(h.below, 1);
  EXPECT_EQ(h.above, 1);
}

}  // namespace
}  // namespace lepus::view
