// SPDX-License-Identifier: Apache-2.0
// Independent judges: tifffile, h5py and VTK read what lepus wrote, and lepus reads what they wrote.
// tests/judges/formats_judge.py does their part.
#include "io/judge_test.h"
#include "io/scanner_samples.h"
#include "io/stack.h"

namespace lepus {
namespace {

using namespace test;

TEST(FormatsJudge, tifffile_reads_ours) {
  if (!have(".tif")) GTEST_SKIP() << "this build has no TIFF";
  const TempFolder folder;
  write_volume(folder / "volume.tif");
  write_volume(folder / "slices/");
  write_frames<std::uint8_t>(folder / "uint8.tif", PixelType::u8);
  write_frames<std::int16_t>(folder / "int16.tif", PixelType::i16);
  write_frames<std::uint16_t>(folder / "uint16.tif", PixelType::u16);
  write_frames<std::uint32_t>(folder / "uint32.tif", PixelType::u32);
  write_frames<double>(folder / "float64.tif", PixelType::f64);
  write_frames<std::uint16_t>(folder / "frames/%04d.tif", PixelType::u16);
  StackTarget big;
  big.path = folder / "big.tif";
  big.shape = {.columns = 7, .rows = 5, .images = 6, .type = PixelType::f32};
  big.text = {odd_grid(), "1/mm"};
  big.big_tiff_above = 0;
  const auto writer = create_tiff_stack(big);
  writer->write(0, 6, pattern_volume(odd_grid()).data());
  writer->finish("{\"program\":\"lepus\"}");
  JUDGE("check-tiff", folder.path());
}

TEST(FormatsJudge, olefile_reads_ours) {
  const TempFolder folder;
  write_zeiss(folder / "small.txrm", {.images = 250});
  write_zeiss(folder / "large.txrm", {.columns = 70, .rows = 41, .images = 120, .type = 10});
  JUDGE("check-ole", folder.path());
}

TEST(FormatsJudge, fabio_reads_and_writes_edf) {
  const TempFolder folder;
  write_edf(folder / "ours.edf", 7, 5, 6);
  JUDGE("edf", folder.path());
  for (const char* name : {"theirs.edf", "float.edf"}) expect_pattern(*open_frames({{folder / name}, "", {}, {}}));
}

TEST(FormatsJudge, h5py_reads_ours) {
  if (!have(".h5")) GTEST_SKIP() << "this build has no HDF5";
  const TempFolder folder;
  write_volume(folder / "volume.h5");
  write_volume(folder / "long.h5", 100000);
  write_frames<std::uint16_t>(folder / "frames.h5", PixelType::u16);
  JUDGE("check-hdf5", folder.path());
}

TEST(FormatsJudge, vtk_reads_ours) {
  const TempFolder folder;
  for (const char* name : {"volume.mha", "volume.nrrd"}) write_volume(folder / name, 30000, 31);
  fs::create_directory(folder / "mhd");
  fs::create_directory(folder / "nhdr");
  write_volume(folder / "mhd/volume.mhd", 100000, 31);
  write_volume(folder / "nhdr/volume.nhdr", 100000, 31);
  JUDGE("check-vtk", folder.path());
}

TEST(FormatsJudge, numpy_reads_our_raw) {
  const TempFolder folder;
  write_volume(folder / "volume.raw");
  write_frames<std::int32_t>(folder / "frames.raw", PixelType::i32);
  JUDGE("check-raw", folder.path());
}

TEST(FormatsJudge, others_read_our_16_bits) {
  for (const char* ending : {".tif", ".h5", ".zarr"})
    if (!have(ending)) GTEST_SKIP() << "this build has no " << ending;
  const TempFolder folder;
  const VolumeGrid grid = odd_grid();
  const std::vector<float> voxels = pattern_volume(grid);
  const auto write = [&](const std::string& name, const VolumeWriterOptions& options) {
    const auto writer = create_volume(folder / name, grid, options);
    writer->write(0, grid.nz, voxels.data());
    writer->finish("{}");
  };
  for (const char* name : {"u.mha", "u.nrrd", "u.tif", "u.h5", "u.raw", "u.zarr"})
    write(name, {.type = PixelType::u16, .scale = scale_of_range(-21, 43)});
  for (const char* name : {"h.tif", "h.h5", "h.raw", "h.zarr"}) write(name, {.type = PixelType::f16});
  JUDGE("check-16-bits", folder.path());
}

TEST(FormatsJudge, zarr_reads_ours) {
  if (!have(".zarr")) GTEST_SKIP() << "this build has no OME-Zarr";
  const TempFolder folder;
  write_volume(folder / "volume.zarr");
  const VolumeGrid grid{70, 131, 150, {-1.5, 2.25, 10.125}, {0.5, -0.25, 0.1}};  // two levels
  for (const PixelType type : {PixelType::f32, PixelType::u8, PixelType::u16, PixelType::i16}) {
    const auto writer = create_volume(folder / (std::string(name_of(type)) + ".zarr"), grid,
                                      {.force = false, .unit = "1/mm", .provenance_room = 0, .type = type});
    const std::vector<float> voxels = pattern_volume(grid);
    writer->write(0, grid.nz, voxels.data());
    writer->finish("{\"program\":\"lepus\"}");
  }
  JUDGE("check-zarr", folder.path());
}

TEST(FormatsJudge, lepus_reads_zarr) {
  if (!have(".zarr")) GTEST_SKIP() << "this build has no OME-Zarr";
  const TempFolder folder;
  JUDGE("make-zarr", folder.path());
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const auto reader = open_volume(entry.path());
    const VolumeGrid& grid = reader->grid();
    if (name.starts_with("ome")) {
      EXPECT_EQ(grid, (VolumeGrid{7, 5, 6, {-1.5, 2.25, 10.125}, {0.5, 0.25, 0.125}}));
      EXPECT_EQ(open_volume(entry.path().string() + "#1")->grid().nx, 4);
    } else {
      EXPECT_EQ(grid, (VolumeGrid{7, 5, 6, {}, {1, 1, 1}}));
    }
    for (std::int64_t z0 = 0; z0 < 6; ++z0)
      for (std::int64_t z1 = z0; z1 <= 6; ++z1) {
        std::vector<float> voxels(static_cast<std::size_t>(35 * (z1 - z0)), -1);
        reader->read(z0, z1, voxels.data());
        for (std::int64_t i = 0; i < 35 * (z1 - z0); ++i)
          ASSERT_EQ(voxels[static_cast<std::size_t>(i)],
                    name.starts_with("holes") && i / 35 + z0 >= 4
                        ? 7.0f
                        : static_cast<float>(pattern(i % 7, i / 7 % 5, i / 35 + z0)));
      }
    ++count;
  }
  EXPECT_GE(count, 60);
}

TEST(FormatsJudge, lepus_reads_tifffile) {
  if (!have(".tif")) GTEST_SKIP() << "this build has no TIFF";
  const TempFolder folder;
  JUDGE("make-tiff", folder.path());
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().filename() == "huge.tif") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto source = open_frames({{entry.path()}, "", {}, {}});
    EXPECT_EQ(source->frames(), 6);
    EXPECT_EQ(source->columns(), 7);
    EXPECT_EQ(source->rows(), 5);
    expect_pattern(*source);
    EXPECT_EQ(open_volume(entry.path())->grid(), (VolumeGrid{7, 5, 6, {}, {1, 1, 1}}));
    ++count;
  }
  EXPECT_GE(count, 30);
  // A sparse BigTIFF of 4.6 GB whose last page was written.
  const auto huge = open_frames({{folder / "huge.tif"}, "", {}, {}});
  EXPECT_EQ(huge->frames(), 2200);
  float row[1024];
  huge->read(2199, 1023, 1024, row);
  EXPECT_EQ(row[1023], 12345.0f);
  huge->read(2199, 0, 1, row);
  EXPECT_EQ(row[0], 0.0f);
}

TEST(FormatsJudge, lepus_reads_h5py) {
  if (!have(".h5")) GTEST_SKIP() << "this build has no HDF5";
  const TempFolder folder;
  JUDGE("make-hdf5", folder.path());
  const auto check = [&](const std::string& dataset, PixelType type) {
    SCOPED_TRACE(dataset);
    const auto source = open_frames({{folder / "a.h5"}, dataset, {}, {}});
    EXPECT_EQ(source->frames(), 6);
    EXPECT_EQ(source->pixel_type(), type);
    expect_pattern(*source);
  };
  const std::pair<const char*, PixelType> types[] = {
      {"uint8", PixelType::u8},   {"int8", PixelType::i8},    {"uint16", PixelType::u16},  {"int16", PixelType::i16},
      {"uint32", PixelType::u32}, {"int32", PixelType::i32},  {"float32", PixelType::f32}, {"float64", PixelType::f64},
      {"int64", PixelType::f64},  {"float16", PixelType::f32}};
  for (const auto& [name, type] : types)
    for (const char* layout : {"little", "big", "chunked", "gzip", "shuffled"})
      check(std::string(layout) + "/" + name, type);
  check("virtual", PixelType::u16);
  check("", PixelType::u16);  // /exchange/data
  const auto flat = open_frames({{folder / "a.h5"}, "two_dimensions", {}, {}});
  EXPECT_EQ(flat->frames(), 1);
  expect_pattern(*flat);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.h5"}, "text", {}, {}}), ErrorKind::input, "dimensions");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.h5"}, "compound", {}, {}}), ErrorKind::unsupported, "plain numbers");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.h5"}, "unwritten", {}, {}}), ErrorKind::input, "never written");
  EXPECT_EQ(open_volume(folder / "only.h5")->grid(), (VolumeGrid{7, 5, 6, {}, {1, 1, 1}}));
  // A sparse dataset of 4.6 GB.
  const auto huge = open_frames({{folder / "huge.h5"}, "data", {}, {}});
  float row[1024];
  huge->read(2199, 1023, 1024, row);
  EXPECT_EQ(row[1023], 12345.0f);
}

TEST(FormatsJudge, lepus_reads_vtk) {
  const TempFolder folder;
  JUDGE("make-vtk", folder.path());
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".mha" && ending != ".mhd") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto reader = open_volume(entry.path());
    EXPECT_EQ(reader->grid(), (VolumeGrid{7, 5, 6, {-1.5, 2.25, 10.125}, {0.5, 0.25, 0.125}}));
    std::vector<float> voxels(7 * 5 * 6);
    reader->read(0, 6, voxels.data());
    for (std::int64_t i = 0; i < 210; ++i)
      ASSERT_EQ(voxels[static_cast<std::size_t>(i)], static_cast<float>(pattern(i % 7, i / 7 % 5, i / 35)));
    ++count;
  }
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace lepus
