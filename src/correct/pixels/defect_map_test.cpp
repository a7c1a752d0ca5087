// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "correct/pixels/defect_map.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include "io/frames.h"
#include "core/output_file.h"
#include "io/png_image.h"
#include <lepus/error.h>

namespace lepus::pixels {
namespace {

class DefectMap : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("lepus_defect_map_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path text(const std::string& words) {
    const auto file = folder_ / "map.txt";
    std::ofstream(file) << words;
    return file;
  }
  std::string refusal(const std::filesystem::path& file) {
    try {
      read_defect_map(file, 5, 4);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path folder_;
};

using List = std::vector<std::int64_t>;

TEST_F(DefectMap, ReadsTextOfPixelsAndRectangles) {
  EXPECT_EQ(read_defect_map(text("# mine\n3 1  # hot\n\n1 2 2 3\n"), 5, 4), (List{8, 11, 12, 16, 17}));
  EXPECT_EQ(read_defect_map(text(""), 5, 4), List{});
  EXPECT_NE(refusal(text("3 1\n5 0\n")).find(":2: 5 is not a column"), std::string::npos);
  EXPECT_NE(refusal(text("0 4\n")).find("4 is not a row"), std::string::npos);
  EXPECT_NE(refusal(text("0.5 1\n")).find("0.5 is not a column"), std::string::npos);
  EXPECT_NE(refusal(text("1 2 3\n")).find("neither a pixel nor a rectangle"), std::string::npos);
  EXPECT_NE(refusal(text("3 1 2 1\n")).find("empty"), std::string::npos);
  EXPECT_NE(refusal(folder_ / "nothing.txt").find("no such file"), std::string::npos);
}

TEST_F(DefectMap, ReadsPictures) {
  std::uint8_t picture[20] = {};
  picture[8] = 255;
  picture[17] = 1;
  if (png_available()) {
    write_file(folder_ / "map.png", png_of_grey(5, 4, picture, "map.png"), false);
    EXPECT_EQ(read_defect_map(folder_ / "map.png", 5, 4), (List{8, 17}));
    EXPECT_THROW(read_defect_map(folder_ / "map.png", 4, 5), Error);
    std::ofstream(folder_ / "broken.png") << "not a picture";
    EXPECT_NE(refusal(folder_ / "broken.png").find("PNG"), std::string::npos);
  }
#ifdef LEPUS_HAVE_TIFF
  FrameWriterOptions options{
      .columns = 5, .rows = 4, .frames = 1, .type = PixelType::u8, .force = false, .dataset = {}};
  const auto writer = create_frames(folder_ / "map.tif", options);
  writer->write(picture);
  writer->finish();
  EXPECT_EQ(read_defect_map(folder_ / "map.tif", 5, 4), (List{8, 17}));
  EXPECT_THROW(read_defect_map(folder_ / "map.tif", 5, 5), Error);
#endif
}

// 5 x 4 pixels of 16 bits with the values 1 and 255, both nothing on a screen, as scripts save masks.
TEST_F(DefectMap, ReadsPngsOf16BitsToTheLastBit) {
  if (!png_available()) GTEST_SKIP() << "built without PNG";
  constexpr unsigned char picture[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
      0x05, 0x00, 0x00, 0x00, 0x04, 0x10, 0x00, 0x00, 0x00, 0x00, 0x33, 0xc8, 0x76, 0xdf, 0x00, 0x00, 0x00, 0x04, 0x67,
      0x41, 0x4d, 0x41, 0x00, 0x00, 0xb1, 0x8f, 0x0b, 0xfc, 0x61, 0x05, 0x00, 0x00, 0x00, 0x12, 0x49, 0x44, 0x41, 0x54,
      0x78, 0xda, 0x63, 0x60, 0xc0, 0x00, 0x8c, 0x98, 0x42, 0x0c, 0xff, 0x41, 0x04, 0x00, 0x05, 0x40, 0x01, 0x01, 0x4d,
      0xc6, 0x3e, 0x25, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  std::ofstream(folder_ / "map.png", std::ios::binary).write(reinterpret_cast<const char*>(picture), sizeof picture);
  EXPECT_EQ(read_defect_map(folder_ / "map.png", 5, 4), (List{8, 17}));
}

TEST_F(DefectMap, SpeaksOfRecordedRows) {
  text("3 1\n2 2\n4 3\n");
  DefectMapOptions options{
      .file = folder_ / "map.txt", .columns = 5, .rows = 4, .first_row = 1, .row_step = 2, .maximum_share = 0.2};
  TestBand band(5, 2, 2);  // every second row from row 1: 1 and 3
  for (std::size_t i = 0; i < band.values.size(); ++i) band.values[i] = static_cast<float>(i * i % 89);
  const TestBand before = band;
  const auto correction = make_defect_map(options, facts_of(band));
  EXPECT_EQ(correction->summary(), "2 defective pixels replaced in every view");
  options.maximum_share = DefectMapOptions{}.maximum_share;
  EXPECT_THROW(make_defect_map(options, facts_of(band)), Error) << "2 of 10 pixels";
  TestHost machine(1);
  correction->apply(band.band(), {0, 2}, machine.queue());
  TestBand expected = before;
  for (std::int64_t view = 0; view < 2; ++view) {
    const float left = expected.at(0, view, 2), right = expected.at(0, view, 4);
    expected.at(0, view, 3) = left + (right - left) / 2;
    expected.at(1, view, 4) = expected.at(1, view, 3);
  }
  EXPECT_EQ(band.values, expected.values);
}

}  // namespace
}  // namespace lepus::pixels
