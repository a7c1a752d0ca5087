// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "correct/pixels/defect_map.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include "io/frames.h"
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
    write_png_grey(folder_ / "map.png", 5, 4, picture);
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

TEST_F(DefectMap, SpeaksOfRecordedRows) {
  text("3 1\n2 2\n4 3\n");
  const CorrectionSpec spec = spec_named("defect-map", {{"file", std::string("map.txt")}});
  TestBand band(5, 2, 2);  // every second row from row 1: 1 and 3
  for (std::size_t i = 0; i < band.values.size(); ++i) band.values[i] = static_cast<float>(i * i % 89);
  const TestBand before = band;
  const auto correction = make_defect_map(spec, facts_of(band),
                                          {.folder = folder_, .columns = 5, .rows = 4, .first_row = 1, .row_step = 2});
  EXPECT_EQ(correction->summary(), "2 defective pixels replaced in every view");
  ThreadPool threads(1);
  correction->apply(band.band(), {0, 2}, threads);
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
