// SPDX-License-Identifier: Apache-2.0
#include "analysis/components.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "analysis/test_bits.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// The plain version: each component is flooded from its first voxel.
std::vector<Label> flooded(const Bytes& bytes, const VolumeSize& size, Connectivity connectivity) {
  const int most = connectivity == Connectivity::faces ? 1 : connectivity == Connectivity::edges ? 2 : 3;
  std::vector<Label> labels(bytes.size(), 0);
  Label count = 0;
  for (std::int64_t start = 0; start < size.voxels(); ++start) {
    if (bytes[static_cast<std::size_t>(start)] == 0 || labels[static_cast<std::size_t>(start)] != 0) continue;
    std::vector<std::int64_t> open{start};
    labels[static_cast<std::size_t>(start)] = ++count;
    while (!open.empty()) {
      const std::int64_t at = open.back(), x = at % size.nx, y = at / size.nx % size.ny, z = at / size.nx / size.ny;
      open.pop_back();
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            const std::int64_t i = x + dx, j = y + dy, k = z + dz;
            if (std::abs(dx) + std::abs(dy) + std::abs(dz) > most || i < 0 || j < 0 || k < 0 || i >= size.nx ||
                j >= size.ny || k >= size.nz)
              continue;
            const auto next = static_cast<std::size_t>((k * size.ny + j) * size.nx + i);
            if (bytes[next] == 0 || labels[next] != 0) continue;
            labels[next] = count;
            open.push_back(static_cast<std::int64_t>(next));
          }
    }
  }
  return labels;
}

std::vector<Label> labels_of(const Components& components, Context& context) {
  const VolumeSize& size = components.bits().size();
  std::vector<Label> labels(static_cast<std::size_t>(size.voxels()));
  components.each_slice(context, [&](int, std::int64_t z, const SliceRuns& runs) {
    fill_labels(runs, size, labels.data() + z * size.nx * size.ny);
  });
  return labels;
}

TEST(components, are_those_of_a_flood_however_the_volume_is_cut) {
  for (const VolumeSize size : {VolumeSize{1, 1, 1}, {5, 1, 9}, {64, 3, 4}, {63, 9, 7}, {131, 12, 10}})
    for (const double share : {0.0, 0.1, 0.3, 0.6, 1.0})
      for (const Connectivity connectivity : {Connectivity::faces, Connectivity::edges, Connectivity::corners}) {
        const Bytes bytes = noise_bytes(size, share, 3);
        const std::vector<Label> expected = flooded(bytes, size, connectivity);
        for (const int pieces : {1, 2, 3, 7}) {
          TestContext t;
          BitVolume bits(t.memory, size);
          fill_bits(bits, bytes);
          const Components components(bits, connectivity, t.memory, t.context, pieces);
          ASSERT_EQ(labels_of(components, t.context), expected)
              << size.nx << " voxels wide, share " << share << ", " << pieces << " pieces";
          std::vector<std::int64_t> voxels(static_cast<std::size_t>(components.count()) + 1, 0);
          for (const Label label : expected) voxels[label] += label > 0 ? 1 : 0;
          ASSERT_EQ(components.voxels(), voxels);
        }
      }
}

TEST(components, of_bits_in_a_scratch_file_are_the_same) {
  const VolumeSize size{70, 40, 30};
  const Bytes bytes = ball_bytes(size, 40, 6, 5);
  TestContext large, small(2, 12 << 10);  // 9.4 KiB of bits: more than half of what may be taken
  BitVolume in_memory(large.memory, size), on_disk(small.memory, size);
  fill_bits(in_memory, bytes);
  fill_bits(on_disk, bytes);
  EXPECT_EQ(bytes_of(on_disk), bytes);
  const Components a(in_memory, Connectivity::corners, large.memory, large.context);
  const Components b(on_disk, Connectivity::corners, small.memory, small.context, 4);
  EXPECT_EQ(labels_of(a, large.context), labels_of(b, small.context));
}

TEST(components, are_dropped_and_numbered_anew) {
  TestContext t;
  const VolumeSize size{9, 1, 1};
  BitVolume bits(t.memory, size);
  fill_bits(bits, {1, 0, 1, 1, 0, 0, 1, 0, 1});
  Components components(bits, Connectivity::faces, t.memory, t.context);
  EXPECT_EQ(components.voxels(), (std::vector<std::int64_t>{0, 1, 2, 1, 1}));
  const auto touched = components_touching(
      components, [](std::int64_t, Word* words, int) { set_bits(words, 3, 7); }, t.context);
  EXPECT_EQ(touched, (std::vector<std::uint8_t>{0, 0, 1, 1, 0}));
  components.drop({0, 0, 1, 0, 1});
  EXPECT_EQ(components.count(), 2);
  EXPECT_EQ(labels_of(components, t.context), (std::vector<Label>{0, 0, 1, 1, 0, 0, 0, 0, 2}));
}

TEST(components, of_noise_that_do_not_fit_are_refused) {
  TestContext t(1, 64 << 10);
  const VolumeSize size{128, 64, 32};
  BitVolume bits(t.memory, size);
  fill_bits(bits, noise_bytes(size, 0.1, 1));
  try {
    const Components components(bits, Connectivity::faces, t.memory, t.context);
    FAIL() << "the limit was not kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("noise"), std::string::npos);
  }
}

}  // namespace
}  // namespace lepus::analysis
