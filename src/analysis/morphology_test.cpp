// SPDX-License-Identifier: Apache-2.0
#include "analysis/morphology.h"

#include <gtest/gtest.h>

#include "analysis/sample.h"
#include "analysis/test_bits.h"
#include "device/host/device.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

// The definition: a voxel is there after dilation where one of the structuring element around it was.
Bytes plain_dilation(const Bytes& bytes, const VolumeSize& size, const MorphologyStep& step, const VoxelShape& shape) {
  Bytes result(bytes.size(), 0);
  const auto reach = static_cast<std::int64_t>(step.radius);
  for (std::int64_t z = 0; z < size.nz; ++z)
    for (std::int64_t y = 0; y < size.ny; ++y)
      for (std::int64_t x = 0; x < size.nx; ++x)
        for (std::int64_t k = std::max<std::int64_t>(0, z - reach); k <= std::min(size.nz - 1, z + reach); ++k)
          for (std::int64_t j = std::max<std::int64_t>(0, y - reach); j <= std::min(size.ny - 1, y + reach); ++j)
            for (std::int64_t i = std::max<std::int64_t>(0, x - reach); i <= std::min(size.nx - 1, x + reach); ++i) {
              const auto dx = static_cast<double>(i - x), dy = static_cast<double>(j - y),
                         dz = static_cast<double>(k - z);
              const double d = dx * dx * shape.steps.x + dy * dy * shape.steps.y + dz * dz * shape.steps.z;
              if (!step.box && d > step.radius * step.radius) continue;
              if (bytes[static_cast<std::size_t>((k * size.ny + j) * size.nx + i)] != 0)
                result[static_cast<std::size_t>((z * size.ny + y) * size.nx + x)] = 1;
            }
  return result;
}

Bytes flipped(Bytes bytes) {
  for (auto& byte : bytes) byte = byte != 0 ? 0 : 1;
  return bytes;
}

Bytes plain(const Bytes& bytes, const VolumeSize& size, const MorphologyStep& step, const VoxelShape& shape) {
  const auto dilated = [&](const Bytes& b) { return plain_dilation(b, size, step, shape); };
  const auto eroded = [&](const Bytes& b) { return flipped(dilated(flipped(b))); };
  switch (step.kind) {
    case MorphologyKind::erode:
      return eroded(bytes);
    case MorphologyKind::dilate:
      return dilated(bytes);
    case MorphologyKind::open:
      return dilated(eroded(bytes));
    default:
      return eroded(dilated(bytes));
  }
}

TEST(morphology, is_the_definition_in_slabs_of_any_size) {
  const VolumeSize size{67, 13, 11};
  const Bytes bytes = ball_bytes(size, 15, 5, 9);
  VoxelShape flat;
  flat.cubes = false;
  flat.steps = {1, 1, 2.25};
  for (const char* text :
       {"erode:2", "dilate:1.5", "open:3", "close:2.2", "erode-box:1", "dilate-box:3", "open-box:2", "close-box:1"})
    for (const VoxelShape& shape : {VoxelShape{}, flat})
      for (const std::int64_t limit :
           {std::int64_t{1} << 30, std::int64_t{50} << 10}) {  // the distances are 38 or 77 kB
        const MorphologyStep step = parse_morphology(text);
        TestContext t(2, limit);
        BitVolume bits(t.memory, size);
        fill_bits(bits, bytes);
        apply(step, shape, bits, t.memory, t.context);
        ASSERT_EQ(bytes_of(bits), plain(bytes, size, step, shape)) << text << ", limit " << limit;
      }
}

TEST(morphology, holes_are_filled_and_bays_are_not) {
  const VolumeSize size{5, 3, 3};
  Bytes bytes(45, 1);
  bytes[22] = 0;  // the middle
  TestContext t;
  BitVolume bits(t.memory, size);
  fill_bits(bits, bytes);
  apply(parse_morphology("fill-holes"), {}, bits, t.memory, t.context);
  EXPECT_EQ(bytes_of(bits), Bytes(45, 1));
  bytes[21] = bytes[20] = 0;  // now it opens to the side
  fill_bits(bits, bytes);
  apply(parse_morphology("fill-holes"), {}, bits, t.memory, t.context);
  EXPECT_EQ(bytes_of(bits), bytes);
}

TEST(morphology, words_that_make_no_sense_are_refused) {
  for (const char* text :
       {"", "open", "open:", "open:x", "open:-1", "open-box:1.5", "opne:2", "fill-holes:1", "open:nan"})
    EXPECT_THROW(parse_morphology(text), Error) << text;
}

// A tube (two voxels thick) around a block with a closed and an open pore.
TEST(sample, air_and_container_are_removed) {
  const VolumeSize size{40, 40, 6};
  const auto index = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<std::size_t>((z * size.ny + y) * size.nx + x);
  };
  Bytes dark(static_cast<std::size_t>(size.voxels()), 1);
  std::int64_t block = 0;
  for (std::int64_t z = 0; z < size.nz; ++z)
    for (std::int64_t y = 0; y < size.ny; ++y)
      for (std::int64_t x = 0; x < size.nx; ++x) {
        const std::int64_t r = (x - 20) * (x - 20) + (y - 20) * (y - 20);
        const bool tube = r >= 16 * 16 && r < 18 * 18, in_block = x >= 12 && x < 28 && y >= 12 && y < 28;
        if (tube || in_block) dark[index(x, y, z)] = 0;
        block += in_block ? 1 : 0;
      }
  dark[index(20, 20, 3)] = 1;                                                    // closed
  dark[index(12, 20, 3)] = dark[index(13, 20, 3)] = dark[index(14, 20, 3)] = 1;  // open, one voxel wide
  const auto sample_voxels = [&](const SampleOptions& options) {
    TestContext t;
    BitVolume air(t.memory, size), inside(t.memory, size);
    fill_bits(air, dark);
    fill_bits(inside, Bytes(dark.size(), 1));
    remove_surroundings(options, air, {}, inside, t.memory, t.context);
    return inside.count(t.context);
  };
  EXPECT_EQ(sample_voxels({.remove_air = true, .remove_container = true, .seal = 0}), block - 3);
  // A ball of radius 1 that rolls along the outside reaches one voxel into the opening.
  EXPECT_EQ(sample_voxels({.remove_air = true, .remove_container = true, .seal = 1}), block - 1);
  EXPECT_GT(sample_voxels({.remove_air = true, .remove_container = false, .seal = 0}), block);  // the tube is material
}

// The host's kernels for devices stand for any device: the same bits as without, whatever the slabs.
TEST(morphology, on_a_device_the_bits_are_the_same) {
  const VolumeSize size{70, 40, 33};
  const Bytes bytes = ball_bytes(size, 30, 9, 5);
  for (const char* text : {"erode:2", "dilate:3.5", "open:2", "close:5"}) {
    const MorphologyStep step = parse_morphology(text);
    TestContext plain, other(2, 24'000);  // two slabs at least
    const auto device = host::make_device("cpu", other.threads);
    BitVolume a(plain.memory, size), b(other.memory, size);
    fill_bits(a, bytes);
    fill_bits(b, bytes);
    apply(step, {}, a, plain.memory, plain.context);
    apply(step, {}, b, other.memory, other.context, device.get());
    EXPECT_EQ(bytes_of(a), bytes_of(b)) << text;
    EXPECT_NE(bytes_of(a), bytes) << text;
  }
}

}  // namespace
}  // namespace lepus::analysis
