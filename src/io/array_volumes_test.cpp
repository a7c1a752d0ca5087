// SPDX-License-Identifier: Apache-2.0
// FITS as astropy writes it, and volumes of scanners after headers that are made here field by field.
#include <cstring>

#include "io/judge_test.h"
#include "io/stored_array.h"

namespace lepus {
namespace {

using namespace test;

template <class Number>
void put(std::string& header, std::size_t offset, Number value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

template <class Pixel>
std::string pattern_bytes(bool big_endian) {
  std::string bytes;
  for (int z = 0; z < 6; ++z) bytes += bytes_of(pattern_frame<Pixel>(7, 5, z));
  if (big_endian)
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(Pixel))
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                   bytes.begin() + static_cast<std::ptrdiff_t>(i + sizeof(Pixel)));
  return bytes;
}

void expect_volume(const fs::path& path, Vec3 step_mm, float scale = 1) {
  const auto volume = open_volume(path);
  EXPECT_EQ(volume->grid(), (VolumeGrid{7, 5, 6, {}, step_mm}));
  std::vector<float> voxels(210);
  volume->read(0, 6, voxels.data());
  for (std::int64_t i = 0; i < 210; ++i)
    ASSERT_FLOAT_EQ(voxels[static_cast<std::size_t>(i)], scale * static_cast<float>(pattern(i % 7, i / 7 % 5, i / 35)));
}

TEST(ArrayVolumes, lepus_reads_fits) {
  const TempFolder folder;
  JUDGE_BY("arrays_judge.py", "make-fits", folder.path());
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    if (name.starts_with("two")) continue;
    const auto source = open_frames({{entry.path()}, "", {}, {}});
    ASSERT_EQ(source->frames(), 6);
    if (name.starts_with("uint16")) {
      EXPECT_EQ(source->pixel_type(), PixelType::u16);
    }
    expect_pattern(*source);
    ++count;
  }
  EXPECT_EQ(count, 12);
  expect_volume(folder / "millimetres.fits", {0.5, 0.25, 0.125});
  expect_pattern(*open_frames({{folder / "two.fits"}, "FLATS", {}, {}}));
  EXPECT_LEPUS_ERROR(open_volume(folder / "two.fits"), ErrorKind::input, "primary (6 x 5 x 7)");
}

TEST(ArrayVolumes, lepus_reads_ome_tiff) {
  if (!have(".tif")) GTEST_SKIP() << "this build has no TIFF";
  const TempFolder folder;
  JUDGE_BY("arrays_judge.py", "make-ome", folder.path());
  expect_volume(folder / "stack.ome.tif", {0.5, 0.25, 0.125});
  expect_volume(folder / "bare.ome.tif", {1, 1, 1});
  EXPECT_EQ(open_volume(folder / "stack.ome.tif")->format(), "OME-TIFF");
  EXPECT_LEPUS_ERROR(open_volume(folder / "times.ome.tif"), ErrorKind::unsupported, "6 times");
}

TEST(ArrayVolumes, vff) {
  const TempFolder folder;
  const std::string head =
      "ncaa\nrank=3;\ntype=raster;\nformat=slice;\nbits=16;\nbands=1;\nsize=7 5 6;\nspacing=1.0 1.0 2.0;\n"
      "elementsize=0.25;\ntitle=a test;\n\f\n";
  write_file(folder / "v.vff", head + pattern_bytes<std::int16_t>(true));
  expect_volume(folder / "v.vff", {0.25, 0.25, 0.5});
  write_file(folder / "v.vff", head + pattern_bytes<std::int16_t>(true).substr(1));
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.vff"), ErrorKind::input, "cut off");
  write_file(folder / "v.vff", head.substr(0, head.size() - 2));
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.vff"), ErrorKind::input, "form feed");
}

TEST(ArrayVolumes, isq) {
  const TempFolder folder;
  std::string head(512, '\0');
  std::memcpy(head.data(), "CTDATA-HEADER_V1", 16);
  const std::pair<std::size_t, std::int32_t> fields[] = {{44, 7},    {48, 5},    {52, 6},    {56, 3500},
                                                         {60, 1250}, {64, 1500}, {88, 4096}, {508, 2}};
  for (const auto& [offset, value] : fields) put(head, offset, value);
  const std::string more(1024, 'x');  // the two blocks that the last field announces
  write_file(folder / "v.isq", head + more + pattern_bytes<std::int16_t>(false));
  expect_volume(folder / "v.isq", {0.5, 0.25, 0.25}, 0.1F / 4096);
  EXPECT_EQ(open_volume(folder / "v.isq")->unit(), "1/mm");
  write_file(folder / "v.isq", head + more);
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.isq"), ErrorKind::input, "cut off");
  put(head, 56, std::int32_t{-1});
  write_file(folder / "v.isq", head + more + pattern_bytes<std::int16_t>(false));
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.isq"), ErrorKind::input, "voxel");
}

TEST(ArrayVolumes, rek) {
  const TempFolder folder;
  std::string head(2048, '\0');
  const std::pair<std::size_t, std::uint16_t> fields[] = {{0, 7}, {2, 5}, {4, 16}, {6, 6}};
  for (const auto& [offset, value] : fields) put(head, offset, value);
  put(head, 584, 125.0F);
  write_file(folder / "v.rek", head + pattern_bytes<std::uint16_t>(false));
  expect_volume(folder / "v.rek", {0.125, 0.125, 0.125});
  put(head, 4, std::uint16_t{12});
  write_file(folder / "v.rek", head + pattern_bytes<std::uint16_t>(false));
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.rek"), ErrorKind::unsupported, "12 bits");
  write_file(folder / "v.rek", head.substr(0, 100));
  EXPECT_LEPUS_ERROR(open_volume(folder / "v.rek"), ErrorKind::input, "2048");
}

}  // namespace
}  // namespace lepus
