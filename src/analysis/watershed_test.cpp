// SPDX-License-Identifier: Apache-2.0
// Parting blobs, and the growing of markers against scikit-image.
#include "analysis/watershed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "analysis/test_bits.h"
#include "core/format.h"

namespace lepus::analysis {
namespace {

std::vector<Label> parted(const Bytes& bytes, const VolumeSize& size, double depth, int threads) {
  TestContext t(threads);
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  const ArrayLabels labels =
      part_blobs(bits, {}, true, {.connectivity = Connectivity::faces, .depth = depth}, t.memory, t.context);
  std::vector<Label> all;
  labels.each_slice_in_order(
      [&](int, std::int64_t, const Label* slice) { all.insert(all.end(), slice, slice + size.nx * size.ny); });
  EXPECT_EQ(labels.count(), static_cast<std::int64_t>(*std::max_element(all.begin(), all.end())));
  return all;
}

TEST(watershed, balls_that_touch_are_parted_and_one_ball_is_not) {
  const VolumeSize size{50, 30, 30};
  const auto balls = [&](std::vector<Vec3> centres, double radius) {
    Bytes bytes;
    for (std::int64_t i = 0; i < size.voxels(); ++i) {
      const Vec3 p{static_cast<double>(i % 50), static_cast<double>(i / 50 % 30), static_cast<double>(i / 1500)};
      bool in = false;
      for (const Vec3& c : centres) in = in || norm(p - c) <= radius;
      bytes.push_back(in ? 1 : 0);
    }
    return bytes;
  };
  const auto one = parted(balls({{15, 15, 15}}, 10), size, 1, 2);
  EXPECT_EQ(*std::max_element(one.begin(), one.end()), 1U);
  const Bytes two = balls({{15, 15, 15}, {33, 15, 15}}, 10);
  const auto both = parted(two, size, 1, 2);
  EXPECT_EQ(*std::max_element(both.begin(), both.end()), 2U);
  for (std::size_t i = 0; i < two.size(); ++i) {
    EXPECT_EQ(both[i] > 0, two[i] > 0);
    const auto x = static_cast<std::int64_t>(i) % 50;
    if (two[i] != 0 && x != 24) {
      EXPECT_EQ(both[i], x < 24 ? 1U : 2U);
    }
  }
  const auto shallow = parted(two, size, 7, 2);  // the pass is less deep than that
  EXPECT_EQ(*std::max_element(shallow.begin(), shallow.end()), 1U);
  const Bytes many = ball_bytes(size, 60, 6, 3);
  EXPECT_EQ(parted(many, size, 0.5, 1), parted(many, size, 0.5, 3));
}

TEST(watershed_judge, markers_grow_as_in_scikit_image) {
  if (std::system(LEPUS_PYTHON " -c 'import skimage' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-skimage is not installed: the watershed is NOT checked against it";
  const VolumeSize size{40, 33, 26};
  // Heights that are all different: where voxels tie, the order in which markers are met decides.
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> heights(static_cast<std::size_t>(size.voxels()));
  const Bytes bytes = ball_bytes(size, 40, 8, 6);
  for (std::size_t i = 0; i < heights.size(); ++i) heights[i] = bytes[i] != 0 ? 1 + uniform(random) : 0;
  const auto markers = find_peaks(heights.data(), size, Connectivity::faces, 0.2);
  ASSERT_GT(markers.size(), 20U);
  std::vector<Label> labels(heights.size()), seeds(heights.size(), 0);
  grow_markers(heights.data(), size, Connectivity::faces, markers, labels.data());
  for (std::size_t i = 0; i < markers.size(); ++i)
    seeds[static_cast<std::size_t>(markers[i])] = static_cast<Label>(i + 1);
  const auto folder = std::filesystem::temp_directory_path() / format("lepus-watershed-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto save = [&](const char* name, const auto& values) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(values[0])));
  };
  save("heights", heights);
  save("seeds", seeds);
  const std::string script =
      "import numpy as n; from skimage.segmentation import watershed as w; s=(26,33,40); "
      "h=n.fromfile('heights').reshape(s); m=n.fromfile('seeds',n.uint32).reshape(s).astype(n.int32); "
      "w(-h,m,mask=h>0,connectivity=1).astype(n.uint32).tofile('out')";
  const int status = std::system(format("cd {} && " LEPUS_PYTHON " -c \"{}\"", folder.string(), script).c_str());
  std::vector<Label> expected(labels.size(), 0);
  std::ifstream(folder / "out", std::ios::binary)
      .read(reinterpret_cast<char*>(expected.data()), static_cast<std::streamsize>(expected.size() * sizeof(Label)));
  std::filesystem::remove_all(folder);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(labels, expected);
}

}  // namespace
}  // namespace lepus::analysis
