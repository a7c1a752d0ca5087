// SPDX-License-Identifier: Apache-2.0
// OME-Zarr: the pyramid, levels by name, slices in any order, what may not be replaced; chunks that are missing or
// damaged, metadata of strangers. formats_judge_test.cpp holds it against zarr-python.
#include <array>
#include <random>

#include "io/stack.h"
#include "io/test_support.h"
#include "io/zarr_array.h"

namespace lepus {
namespace {

using namespace test;

class Zarr : public testing::Test {
protected:
  void SetUp() override {
    if (!have(".zarr")) GTEST_SKIP() << "this build has no OME-Zarr";
  }
  // One chunk of 2 x 3 x 4 voxels, not packed, with another piece of JSON in place of one that is there.
  fs::path array(const std::string& from = "", const std::string& to = "") const {
    fs::create_directories(folder / "a.zarr");
    std::string json =
        R"({"zarr_format": 2, "shape": [2, 3, 4], "chunks": [2, 3, 4], "dtype": "|u1", "compressor": null, "fill_value": 0, "order": "C", "filters": null})";
    if (!from.empty()) {
      EXPECT_NE(json.find(from), std::string::npos) << from;
      json.replace(json.find(from), from.size(), to);
    }
    write_file(folder / "a.zarr/.zarray", json);
    write_file(folder / "a.zarr/0.0.0", "abcdefghijklmnopqrstuvwx");
    return folder / "a.zarr";
  }
  static std::vector<float> voxels_of(const VolumeReader& reader) {
    std::vector<float> voxels(static_cast<std::size_t>(reader.grid().voxels()));
    reader.read(0, reader.grid().nz, voxels.data());
    return voxels;
  }
  TempFolder folder;
};

TEST_F(Zarr, levels_halve_until_the_largest_edge_is_small) {
  const VolumeGrid grid{5, 300, 3, {1, 2, 3}, {0.5, 0.25, -1}};
  const std::vector<float> voxels = pattern_volume(grid);
  const auto writer = create_volume(folder / "v.zarr/", grid);
  writer->write(0, 3, voxels.data());
  writer->finish("");
  const auto one = open_volume(folder / "v.zarr#1"), two = open_volume(folder / "v.zarr#2");
  EXPECT_EQ(voxels_of(*open_volume(folder / "v.zarr/")), voxels);
  EXPECT_EQ(voxels_of(*open_volume(folder / "v.zarr#0")), voxels);
  EXPECT_EQ(one->grid(), (VolumeGrid{3, 150, 2, {1.25, 2.125, 2.5}, {1, 0.5, -2}}));
  EXPECT_EQ(two->grid(), (VolumeGrid{2, 75, 1, {1.75, 2.375, 1.5}, {2, 1, -4}}));
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return float_pattern(x, y, z); };
  EXPECT_EQ(voxels_of(*one)[0], (at(0, 0, 0) + at(1, 0, 0) + at(0, 1, 0) + at(1, 1, 0) + at(0, 0, 1) + at(1, 0, 1) +
                                 at(0, 1, 1) + at(1, 1, 1)) /
                                    8);
  EXPECT_EQ(voxels_of(*one).back(), (at(4, 298, 2) + at(4, 299, 2)) / 2);  // x and z are odd
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr#3"), ErrorKind::usage, "last one is 2");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr#-1"), ErrorKind::usage, "'-1'");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr#99999999999999999999"), ErrorKind::usage, "level '999");
}

// Three layers of chunks, several bands of rows, odd at every end.
TEST_F(Zarr, threads_in_any_order_write_the_same_chunks_of_every_level) {
  const VolumeGrid grid{67, 131, 145, {}, {1, 1, 1}};
  const std::vector<float> voxels = pattern_volume(grid);
  const auto one = create_volume(folder / "in-order.zarr", grid);
  one->write(0, grid.nz, voxels.data());
  one->finish("{}");
  const auto expected = files_below(folder / "in-order.zarr");
  EXPECT_EQ(expected.size(), 3u + 3 * 3 * 2 + 1 + 2 * 2 * 1);  // group, level 0, level 1
  const auto writer = create_volume(folder / "any.zarr", grid);
  write_shuffled(*writer, grid, 7, 30);
  writer->finish("{}");
  EXPECT_EQ(files_below(folder / "any.zarr"), expected);
  EXPECT_EQ(voxels_of(*open_volume(folder / "any.zarr")), voxels);
}

TEST_F(Zarr, only_a_zarr_volume_is_replaced_and_only_when_asked) {
  const VolumeGrid grid = odd_grid();
  const VolumeWriterOptions force{.force = true, .unit = "", .provenance_room = 0};
  fs::create_directories(folder / "mine.zarr");
  write_file(folder / "mine.zarr/thesis.tex", "mine");
  EXPECT_LEPUS_ERROR(create_volume(folder / "mine.zarr", grid), ErrorKind::disk, "exists already");
  EXPECT_LEPUS_ERROR(create_volume(folder / "mine.zarr", grid, force), ErrorKind::disk, "something else");
  write_file(folder / "file.zarr", "mine");
  EXPECT_LEPUS_ERROR(create_volume(folder / "file.zarr", grid, force), ErrorKind::disk, "it is a file");
  EXPECT_LEPUS_ERROR(create_volume(folder / "none/v.zarr", grid), ErrorKind::disk, "there is no folder");
  EXPECT_EQ(folder.entries(), 3u);
  fs::create_directories(folder / "empty.zarr");
  const auto writer = create_volume(folder / "empty.zarr", grid);
  writer->write(0, grid.nz, pattern_volume(grid).data());
  writer->finish("");
  EXPECT_EQ(voxels_of(*open_volume(folder / "empty.zarr")), pattern_volume(grid));
}

TEST_F(Zarr, a_chunk_of_ours_that_is_missing_is_an_error_and_never_a_hole) {
  const VolumeGrid grid{70, 5, 6, {}, {1, 1, 1}};
  const auto writer = create_volume(folder / "v.zarr", grid);
  writer->write(0, grid.nz, pattern_volume(grid).data());
  writer->finish("");
  fs::remove(folder / "v.zarr/0/0/0/1");
  const auto reader = open_volume(folder / "v.zarr");
  EXPECT_LEPUS_ERROR(voxels_of(*reader), ErrorKind::input, "0/0/0/1");
}

TEST_F(Zarr, damaged_chunks_are_an_error_or_other_voxels) {
  const VolumeGrid grid{20, 16, 40, {}, {1, 1, 1}};
  const auto writer = create_volume(folder / "v.zarr", grid);
  writer->write(0, grid.nz, pattern_volume(grid).data());
  writer->finish("");
  const fs::path chunk = folder / "v.zarr/0/0/0/0";
  const std::string whole = read_file(chunk);
  std::vector<float> slices(20 * 16 * 40);
  const auto reader = open_volume(folder / "v.zarr");
  const auto attempt = [&](const std::string& bytes, std::int64_t z0, std::int64_t z1) {
    write_file(chunk, bytes);
    const auto error = error_of([&] { reader->read(z0, z1, slices.data()); });
    EXPECT_TRUE(!error || error->kind() == ErrorKind::input) << error->what();
    return error.has_value();
  };
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 200) {
    EXPECT_TRUE(attempt(whole.substr(0, length), 0, 40)) << length;
    EXPECT_TRUE(attempt(whole.substr(0, length), 3, 5)) << length;
  }
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 2; ++k) bytes[i % 2 ? random() % 64 : random() % bytes.size()] = static_cast<char>(random());
    refused += i % 3 ? attempt(bytes, 0, 40) : attempt(bytes, 17, 18);
  }
  EXPECT_GT(refused, 300);
}

TEST_F(Zarr, arrays_of_strangers) {
  EXPECT_EQ(voxels_of(*open_volume(array()))[23], 'x');
  EXPECT_EQ(open_volume(array())->grid(), (VolumeGrid{4, 3, 2, {}, {1, 1, 1}}));
  EXPECT_EQ(open_volume(array())->format(), "Zarr");
  EXPECT_EQ(voxels_of(*open_volume(array("\"shape\": [2, 3, 4]", "\"shape\": [1, 2, 3]"))),
            (std::vector<float>{'a', 'b', 'c', 'e', 'f', 'g'}));
  EXPECT_EQ(voxels_of(*open_volume(array("\"shape\": [2, 3, 4]", "\"shape\": [2, 3, 5]")))[4], 0);
  const std::array<std::array<const char*, 3>, 24> refused{{
      {"[2, 3, 4]", "[2000000000000, 3000000000, 4000000000]", "voxels"},
      {"[2, 3, 4]", "[1000000, 1000000, 1000000]", "far less"},
      {"[2, 3, 4]", "[0, 3, 4]", "positive"},
      {"[2, 3, 4]", "[-2, 3, 4]", "positive"},
      {"[2, 3, 4]", "[2.5, 3, 4]", "whole"},
      {"[2, 3, 4]", "[1e99, 3, 4]", "whole"},
      {"[2, 3, 4]", "[18446744073709551615, 3, 4]", "whole"},
      {"[2, 3, 4]", "[3, 4]", "different lengths"},
      {"[2, 3, 4]", "\"24\"", "not a list"},
      {"\"chunks\": [2, 3, 4]", "\"chunks\": [200000, 300000, 400000]", "1 GiB"},
      {"\"chunks\": [2, 3, 4]", "\"chunks\": [1024, 1024, 1024]", "24 bytes for 1073741824"},
      {"\"chunks\": [2, 3, 4]", "\"chunks\": [2, 3, 5]", "24 bytes, expected 30"},
      {"|u1", "<u9", "dtype"},
      {"|u1", "<M8[ns]", "dtype"},
      {"\"|u1\"", "[[\"a\", \"<f4\"]]", "dtype"},
      {"null, \"fill", "{\"id\": \"lzma\"}, \"fill", "lzma"},
      {"null, \"fill", "{\"id\": \"blosc\"}, \"fill", "header"},
      {"null, \"fill", "{\"id\": \"zstd\"}, \"fill", "damaged"},
      {"null, \"fill", "{\"id\": \"zlib\"}, \"fill", "damaged"},
      {"\"fill_value\": 0", "\"fill_value\": [0]", "fill_value"},
      {"\"order\": \"C\"", "\"order\": \"F\"", "Fortran"},
      {"\"filters\": null", "\"filters\": [{\"id\": \"delta\"}]", "filters"},
      {"\"zarr_format\": 2", "\"zarr_format\": 3", "version 2"},
      {"\"order\": \"C\"", "\"dimension_separator\": \"../\"", "dimension_separator"},
  }};
  for (const auto& [from, to, said] : refused) {
    const auto error = error_of([&] { voxels_of(*open_volume(array(from, to))); });
    ASSERT_TRUE(error.has_value()) << to;
    EXPECT_TRUE(error->kind() == ErrorKind::input || error->kind() == ErrorKind::unsupported) << error->what();
    EXPECT_NE(std::string(error->what()).find(said), std::string::npos) << to << ": " << error->what();
  }
  const fs::path a = array("\"fill_value\": 0", "\"fill_value\": null");
  fs::rename(a / "0.0.0", a / "9.9.9");
  EXPECT_LEPUS_ERROR(voxels_of(*open_volume(a)), ErrorKind::input, "no fill_value");
  write_file(a / ".zarray", std::string(100000, '['));
  EXPECT_LEPUS_ERROR(open_volume(a), ErrorKind::input, "nested");
  write_file(a / "zarr.json", "{}");
  EXPECT_LEPUS_ERROR(open_volume(a), ErrorKind::unsupported, "version 3");
}

TEST_F(Zarr, what_is_not_there_is_said) {
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr"), ErrorKind::input, "folder not found");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr#1"), ErrorKind::input, "folder not found");
  fs::create_directories(folder / "v.zarr");
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.zarr/"), ErrorKind::input, "no Zarr volume");
  write_file(folder / "f.zarr", "mine");
  EXPECT_LEPUS_ERROR(open_volume(folder / "f.zarr"), ErrorKind::unsupported, "f.zarr");
}

TEST_F(Zarr, groups_of_strangers) {
  fs::create_directories(folder / "g.zarr");
  fs::rename(array(), folder / "g.zarr/inside");
  fs::create_directories(folder / "outside");
  fs::copy(folder / "g.zarr/inside", folder / "outside", fs::copy_options::recursive);
  write_file(folder / "g.zarr/.zgroup", "{\"zarr_format\": 2}");
  const auto open = [&](const std::string& path, const std::string& axes, const std::string& transformations) {
    write_file(folder / "g.zarr/.zattrs", "{\"multiscales\": [{\"axes\": " + axes + ", \"datasets\": [{\"path\": \"" +
                                              path + "\", \"coordinateTransformations\": " + transformations + "}]}]}");
    return open_volume(folder / "g.zarr");
  };
  const std::string axes = R"([{"name": "z", "type": "space"}, {"name": "y", "type": "space", "unit": "micrometer"},
                               {"name": "x", "type": "space", "unit": "centimeter"}])";
  const std::string scale =
      R"([{"type": "scale", "scale": [2, 3, 4]}, {"type": "translation", "translation": [1, 1, 1]}])";
  EXPECT_EQ(open("inside", axes, scale)->grid(), (VolumeGrid{4, 3, 2, {10, 0.001, 1}, {40, 0.003, 2}}));
  for (const char* path : {"../outside", "/etc", "..", ".", "", "inside/../../outside"})
    EXPECT_LEPUS_ERROR(open(path, axes, scale), ErrorKind::input, "outside the folder");
  EXPECT_LEPUS_ERROR(open("none", axes, scale), ErrorKind::input, "not found");
  EXPECT_LEPUS_ERROR(open("inside", "[]", scale), ErrorKind::unsupported, "axes");
  EXPECT_LEPUS_ERROR(open("inside", R"([{"name": "x"}, {"name": "y"}, {"name": "z"}])", scale), ErrorKind::unsupported,
                     "z, y, x");
  EXPECT_LEPUS_ERROR(
      open("inside", R"([{"name": "z", "type": "space", "unit": "parsec"}, {"name": "y"}, {"name": "x"}])", scale),
      ErrorKind::unsupported, "parsec");
  EXPECT_LEPUS_ERROR(open("inside", axes, R"([{"type": "scale", "scale": [2, 3]}])"), ErrorKind::input, "each axis");
  EXPECT_LEPUS_ERROR(open("inside", axes, R"([{"type": "scale", "scale": [2, 3, 0]}])"), ErrorKind::input,
                     "voxel size");
  EXPECT_LEPUS_ERROR(open("inside", axes, R"([{"type": "scale", "scale": ["2", 3, 1]}])"), ErrorKind::input, "numbers");
  EXPECT_LEPUS_ERROR(open("inside", axes, R"([{"type": "affine"}])"), ErrorKind::unsupported, "affine");
  write_file(folder / "g.zarr/.zattrs", "{}");
  EXPECT_LEPUS_ERROR(open_volume(folder / "g.zarr"), ErrorKind::input, "without multiscales");
}

}  // namespace
}  // namespace lepus
