// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy and MATLAB: NumPy reads what lepus writes, and lepus reads what NumPy, SciPy and h5py wrote, in every
// type, byte order, order of the axes, packed or not. tests/judges/arrays_judge.py does their part.
#include "core/crc32.h"
#include "io/judge_test.h"
#include "io/stored_array.h"
#include "io/zip_archive.h"

namespace lepus {
namespace {

using namespace test;

constexpr const char* script = "arrays_judge.py";

// Every file of a folder is a stack of 6 images of 5 x 7 pixels, or, with "image" in its name, the first of them.
void expect_patterns(const fs::path& folder, int at_least) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const std::int64_t images = name.find("image") == std::string::npos ? 6 : 1;
    const auto source = open_frames({{entry.path()}, "", {}, {}});
    ASSERT_EQ(source->frames(), images);
    ASSERT_EQ(source->columns(), 7);
    ASSERT_EQ(source->rows(), 5);
    expect_pattern(*source);
    EXPECT_EQ(open_volume(entry.path())->grid(), (VolumeGrid{7, 5, images, {}, {1, 1, 1}}));
    ++count;
  }
  EXPECT_GE(count, at_least);
}

TEST(Arrays, numpy_reads_ours) {
  const TempFolder folder;
  write_volume(folder / "volume.npy");
  write_volume(folder / "volume.npz");
  write_frames<std::uint16_t>(folder / "uint16.npy", PixelType::u16);
  write_frames<std::uint8_t>(folder / "uint8.npz", PixelType::u8);
  write_frames<double>(folder / "float64.npz", PixelType::f64);
  JUDGE_BY(script, "check-numpy", folder.path());
}

TEST(Arrays, lepus_reads_its_own) {
  for (const char* name : {"v.npy", "v.npz"}) {
    SCOPED_TRACE(name);
    const TempFolder folder;
    const VolumeGrid grid = odd_grid();
    const auto writer = create_volume(folder / name, grid, {.force = false, .unit = "HU", .provenance_room = 0});
    write_shuffled(*writer, grid, 3, 2);
    writer->finish(R"({"made":"here"})");
    const auto reader = open_volume(folder / name);
    EXPECT_EQ(reader->grid(), grid);
    EXPECT_EQ(reader->unit(), "HU");
    EXPECT_EQ(reader->provenance(), R"({"made":"here"})");
    std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
    reader->read(0, grid.nz, voxels.data());
    EXPECT_EQ(voxels, pattern_volume(grid));
  }
}

TEST(Arrays, a_side_car_of_another_type_is_refused) {
  const TempFolder folder;
  write_volume(folder / "v.npy");
  write_frames<double>(folder / "w.npy", PixelType::f64);
  fs::rename(folder / "w.npy", folder / "v.npy");  // the side-car of the volume stays
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.npy"), ErrorKind::input, "v.npy.json describes");
}

TEST(Arrays, lepus_reads_numpy) {
  const TempFolder folder;
  JUDGE_BY(script, "make-numpy", folder.path());
  expect_patterns(folder.path(), 80);
}

TEST(Arrays, files_of_one_image_each) {
  const TempFolder folder;
  JUDGE_BY(script, "make-numpy-files", folder.path());
  for (const char* kind : {"plain", "fortran", "packed"}) {
    SCOPED_TRACE(kind);
    const auto files = expand_pattern(folder.path(), std::string(kind) + "_*");
    ASSERT_EQ(files.size(), 6U);
    const auto source = open_frames({files, "", {}, {}});
    EXPECT_EQ(source->frames(), 6);
    expect_pattern(*source);
  }
  EXPECT_LEPUS_ERROR(open_frames({{folder / "plain_0.npy", folder / "other.npy"}, "", {}, {}}), ErrorKind::input,
                     "differs from the first");
}

TEST(Arrays, lepus_reads_matlab) {
  const TempFolder folder;
  JUDGE_BY(script, "make-matlab", folder.path());
  expect_patterns(folder / "stacks", 20);
  const fs::path mixed = folder / "mixed.mat";
  expect_pattern(*open_frames({{mixed}, "views", {}, {}}));
  expect_pattern(*open_frames({{mixed}, "transposed", {}, FrameOrder::columns}));
  EXPECT_EQ(open_volume(mixed.string() + ":views")->grid(), (VolumeGrid{7, 5, 6, {}, {1, 1, 1}}));
  EXPECT_LEPUS_ERROR(open_volume(mixed), ErrorKind::input, "views (6 x 5 x 7)");
  EXPECT_LEPUS_ERROR(open_volume(mixed.string() + ":view"), ErrorKind::input, "no array 'view'");
  EXPECT_LEPUS_ERROR(open_volume(mixed.string() + ":waves"), ErrorKind::input, "complex");
  EXPECT_LEPUS_ERROR(open_volume(mixed.string() + ":words"), ErrorKind::input, "text");
  EXPECT_LEPUS_ERROR(open_volume(mixed.string() + ":parts"), ErrorKind::input, "a structure");
  const ArrayFile arrays = read_array_file(mixed, FileKind::matlab);
  EXPECT_EQ(read_numbers(mixed, choose_array(arrays, "angles", mixed), 10), (std::vector<double>{0, 30.5, 61, 91.5}));
  if (have(".h5")) {
    expect_pattern(*open_frames({{folder / "seven.mat"}, "views", {}, {}}));
    EXPECT_EQ(open_volume((folder / "seven.mat").string() + ":views")->grid().nz, 6);
  }
}

TEST(Arrays, what_cannot_be_read_is_named) {
  const TempFolder folder;
  JUDGE_BY(script, "make-odd", folder.path());
  EXPECT_LEPUS_ERROR(open_volume(folder / "complex.npy"), ErrorKind::input, "'<c16'");
  EXPECT_LEPUS_ERROR(open_volume(folder / "vector.npy"), ErrorKind::input, "1 axes: 5");
  EXPECT_LEPUS_ERROR(open_volume(folder / "four.npy"), ErrorKind::input, "4 axes: 2 x 6 x 5 x 7");
  EXPECT_LEPUS_ERROR(open_volume(folder / "empty.npy"), ErrorKind::input, "0 x 5 x 7");
  EXPECT_LEPUS_ERROR(open_volume(folder / "two.npz"), ErrorKind::input, "a (6 x 5 x 7), b (6 x 5 x 7)");
  EXPECT_EQ(open_volume((folder / "two.npz").string() + ":b")->grid().nx, 7);
  EXPECT_EQ(open_volume(folder / "leading.npy")->grid().nz, 6);  // 1 x 1 x 6 x 5 x 7
}

// Sizes beyond 32 bits without writing them: a hole in the middle of an archive.
TEST(Arrays, archives_beyond_four_gibibytes) {
  const TempFolder folder;
  ZipEntry large{.name = "large.npy", .checksum = 1, .bytes = std::int64_t{5} << 30};
  ZipEntry late{.name = "late.npy", .checksum = 2, .bytes = 3};
  const std::string record = zip_record(large);
  late.start = static_cast<std::int64_t>(record.size()) + large.bytes;
  const std::string second = zip_record(late) + "abc";
  const std::int64_t start = late.start + static_cast<std::int64_t>(second.size());
  {
    std::ofstream out(folder / "large.npz", std::ios::binary);
    out << record;
    out.seekp(late.start);
    out << second << zip_directory({large, late}, start);
  }
  const std::vector<ZipEntry> entries = read_zip_directory(InputFile(folder / "large.npz"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].bytes, large.bytes);
  EXPECT_EQ(entries[0].data, static_cast<std::int64_t>(record.size()));
  EXPECT_EQ(entries[1].start, late.start);
  EXPECT_EQ(entries[1].bytes, 3);
  JUDGE_BY(script, "check-large", folder.path());
}

TEST(Arrays, checksums_of_pieces) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32(0, text.data(), 9), 0xCBF43926U);  // the check value that catalogues of checksums give
  for (std::int64_t cut = 0; cut <= 9; ++cut)
    EXPECT_EQ(crc32_joined(crc32(0, text.data(), cut), crc32(0, text.data() + cut, 9 - cut), 9 - cut), 0xCBF43926U);
}

}  // namespace
}  // namespace lepus
