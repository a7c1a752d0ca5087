// SPDX-License-Identifier: Apache-2.0
// The files against bytes written by hand, round trips, and everything that can be wrong with them.
#include "bench/rabbitct/format.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "io/test_support.h"
#include "bench/rabbitct/result.h"

namespace lepus::rabbitct {
namespace {

using test::TempFolder;
using test::write_file;

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// Two views of 3 x 2 pixels without references.
std::string small_file(int version) {
  std::string bytes = version == 2 ? raw<std::uint32_t>({2}) : "";
  bytes += raw<std::uint32_t>({3, 2, 2}) + raw<float>({2.5F, -1.0F});
  for (int view = 0; view < 2; ++view) {
    for (int i = 0; i < 12; ++i) bytes += raw<double>({100.0 * view + i});
    for (int i = 0; i < 6; ++i) bytes += raw<float>({10.0F * static_cast<float>(view) + static_cast<float>(i)});
  }
  return bytes;
}

TEST(RabbitFile, HeaderMatrixAndPixelsLieWhereTheFormatSays) {
  const TempFolder folder;
  for (const int version : {1, 2}) {
    write_file(folder / "a.rct", small_file(version));
    const DataFile file(folder / "a.rct");
    EXPECT_EQ(file.header().version, version);
    EXPECT_EQ(file.header().columns, 3);
    EXPECT_EQ(file.header().rows, 2);
    EXPECT_EQ(file.header().views, 2);
    EXPECT_EQ(file.header().hu_scale, (std::array<float, 2>{2.5F, -1.0F}));
    EXPECT_EQ(file.last_size(), 0);
    const Matrix34 m = file.matrix(1);  // w = a2 x + a5 y + a8 z + a11
    EXPECT_EQ(m(2, 0), 102);
    EXPECT_EQ(m(2, 1), 105);
    EXPECT_EQ(m(2, 3), 111);
    EXPECT_EQ(m(0, 3), 109);
    EXPECT_EQ(m(1, 0), 101);
    std::vector<float> pixels(6);
    file.read_view(1, pixels.data());
    EXPECT_EQ(pixels, (std::vector<float>{10, 11, 12, 13, 14, 15}));
  }
}

TEST(RabbitFile, WhatIsWrittenIsRead) {
  const TempFolder folder;
  for (const int version : {1, 2}) {
    const Header header{.version = version, .columns = 5, .rows = 4, .views = 2, .hu_scale = {7, 8}};
    DataWriter writer(folder / "a.rct", header, 128, true);
    Matrix34 matrix;
    for (std::size_t i = 0; i < 12; ++i) matrix.m[i] = 0.5 * static_cast<double>(i);
    const std::vector<float> pixels(20, 3.0F);
    writer.write_view(matrix, pixels.data());
    writer.write_view(matrix, pixels.data());
    std::vector<std::uint16_t> slice(128 * 128);
    for (std::int64_t z = 0; z < 128; ++z) {
      std::fill(slice.begin(), slice.end(), static_cast<std::uint16_t>(z));
      slice[3] = 4095;
      writer.write_slice(128, z % 2 == 0 ? slice.data() : nullptr);
    }
    writer.finish();
    const DataFile file(folder / "a.rct");
    EXPECT_EQ(file.header().version, version);
    EXPECT_EQ(file.last_size(), 128);
    EXPECT_EQ(file.matrix(1), matrix);
    std::vector<std::uint16_t> read(2 * slice.size());
    file.read_reference(128, 40, 42, read.data());
    EXPECT_EQ(read[0], 40);
    EXPECT_EQ(read[3], 4095);
    EXPECT_EQ(read[slice.size()], not_computed);
    EXPECT_LEPUS_ERROR(file.read_reference(256, 0, 1, read.data()), ErrorKind::input, "no reference of 256");
  }
  const Header header{.version = 2, .columns = 5, .rows = 4, .views = 2, .hu_scale = {1, 0}};
  {
    DataWriter writer(folder / "half.rct", header, 0, false);
    EXPECT_LEPUS_ERROR(writer.finish(), ErrorKind::internal, "not written to its end");
  }
  EXPECT_FALSE(test::fs::exists(folder / "half.rct"));
  EXPECT_LEPUS_ERROR(DataWriter(folder / "a.rct", header, 0, false), ErrorKind::disk, "exists");
}

TEST(RabbitFile, GridsAreRabbitCts) {
  for (const std::int64_t size : sizes) {
    const VolumeGrid grid = grid_of(size);
    EXPECT_EQ(grid.step_mm.x * static_cast<double>(size), 256);
    EXPECT_EQ(grid.origin_mm.z, -grid.step_mm.z * static_cast<double>(size - 1) / 2);
  }
  EXPECT_LEPUS_ERROR(grid_of(500), ErrorKind::usage, "128, 256, 512 and 1024");
  EXPECT_EQ(name_of_sizes(512), "128, 256 and 512");
}

TEST(RabbitFile, EveryLengthButTheRightOneIsRefused) {
  const TempFolder folder;
  for (const int version : {1, 2}) {
    const std::string whole = small_file(version);
    for (std::size_t length = 0; length < whole.size(); length += length < 30 ? 1 : 13) {
      write_file(folder / "a.rct", whole.substr(0, length));
      EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct"), ErrorKind::input, "a.rct");
    }
    for (const std::size_t more : {1, 1000, 128 * 128 * 128 * 2 - 1, 128 * 128 * 128 * 2 + 1}) {
      write_file(folder / "a.rct", whole + std::string(more, '\0'));
      EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct"), ErrorKind::input, "cut off");
    }
    write_file(folder / "a.rct", whole + std::string(128 * 128 * 128 * 2, '\0'));
    EXPECT_EQ(DataFile(folder / "a.rct").last_size(), 128);
  }
  EXPECT_LEPUS_ERROR(DataFile(folder / "none.rct"), ErrorKind::input, "none.rct");
}

TEST(RabbitFile, DamagedNumbersAreRefused) {
  const TempFolder folder;
  const std::string whole = small_file(2);
  const auto with = [&](std::size_t at, const std::string& bytes) {
    std::string damaged = whole;
    damaged.replace(at, bytes.size(), bytes);
    write_file(folder / "a.rct", damaged);
  };
  const std::size_t view1 = 24 + 96 + 24;
  with(view1 + 5 * 8, raw<double>({std::nan("")}));
  EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct").matrix(1), ErrorKind::input, "view 1, row 2, column 1");
  std::vector<float> pixels(6);
  with(view1 + 96 + 4 * 4, raw<float>({std::numeric_limits<float>::infinity()}));
  EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct").read_view(1, pixels.data()), ErrorKind::input, "column 1, row 1");
  with(16, raw<float>({std::nanf("")}));
  EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct"), ErrorKind::input, "HU scale");
  with(0, raw<std::uint32_t>({3}));  // no such version: the first word must be a width then
  EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct"), ErrorKind::input, "a.rct");
  with(4, raw<std::uint32_t>({0xFFFFFFFFU}));
  EXPECT_LEPUS_ERROR(DataFile(folder / "a.rct"), ErrorKind::input, "not a RabbitCT data file");
}

Result some_result(int version) {
  Result r;
  r.version = version;
  r.size = 128;
  r.microseconds = {5, 6, 1ULL << 40};
  r.centre_slice.assign(128 * 128, 1.5F);
  r.mean_squared_error = 0.25;
  r.largest_error = 3;
  for (std::uint32_t i = 0; i < 11; ++i) r.histogram[i] = i * i;
  return r;
}

TEST(RabbitResult, LiesInTheFileAsTheRunnerWritesIt) {
  const TempFolder folder;
  for (const int version : {1, 2}) {
    write_result(folder / "a.rctd", some_result(version), true);
    const std::string bytes = test::read_file(folder / "a.rctd");
    const std::size_t header = version == 2 ? 16 : 12;
    ASSERT_EQ(bytes.size(), header + 3 * 8 + 128 * 128 * 4 + 8 + 8 + 11 * 4 + 4);
    const std::string begin =
        version == 2 ? raw<std::int32_t>({531982, 2, 128, 3}) : raw<std::int32_t>({591984, 128, 3});
    EXPECT_EQ(bytes.substr(0, header), begin);
    EXPECT_EQ(bytes.substr(header, 16), raw<std::uint64_t>({5, 6}));
    const std::size_t tail = bytes.size() - 64;
    EXPECT_EQ(bytes.substr(tail, 16), raw<double>({0.25, 3}));
    EXPECT_EQ(bytes.substr(tail + 16 + 12, 4), raw<std::uint32_t>({9}));
    EXPECT_EQ(bytes.substr(tail + 60), raw<std::int32_t>({version == 2 ? 289135 : 489195}));
    const Result r = read_result(folder / "a.rctd");
    EXPECT_EQ(r.version, version);
    EXPECT_EQ(r.microseconds, some_result(version).microseconds);
    EXPECT_EQ(r.centre_slice, some_result(version).centre_slice);
    EXPECT_EQ(r.histogram, some_result(version).histogram);
    EXPECT_EQ(r.mean_squared_error, 0.25);
    EXPECT_TRUE(is_result(folder / "a.rctd"));
  }
}

TEST(RabbitResult, DamageIsRefused) {
  const TempFolder folder;
  for (const int version : {1, 2}) {
    write_result(folder / "a.rctd", some_result(version), true);
    const std::string whole = test::read_file(folder / "a.rctd");
    const auto refused = [&](const std::string& bytes, const std::string& words) {
      write_file(folder / "b.rctd", bytes);
      EXPECT_LEPUS_ERROR(read_result(folder / "b.rctd"), ErrorKind::input, words);
    };
    for (const std::size_t length : {0, 3, 4, 11, 12, 40, 60000}) refused(whole.substr(0, length), "b.rctd");
    refused(whole + "x", "longer");
    std::string damaged = whole;
    damaged[0] ^= 1;
    refused(damaged, "first word");
    damaged = whole;
    damaged[whole.size() - 4] ^= 1;
    refused(damaged, "last word");
    damaged = whole;
    damaged[version == 2 ? 8 : 4] ^= 1;  // the size
    refused(damaged, "129 voxels");
    if (version == 1) continue;
    damaged = whole;
    damaged[4] = 3;
    refused(damaged, "version");
  }
}

}  // namespace
}  // namespace lepus::rabbitct
