// SPDX-License-Identifier: Apache-2.0
// Frames written by create_frames and read again, in every format and type; what stays behind when writing is given up.
#include <cstring>

#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

template <class Pixel>
void round_trip(PixelType type) {
  for (const char* name : {"a.tif", "f/%04d.tif", "f/x%dy.tif", "a.h5", "a.raw"}) {
    if (std::string(name).ends_with(".tif") && !have(".tif")) continue;
    if (std::string(name).ends_with(".h5") && !have(".h5")) continue;
    SCOPED_TRACE(testing::Message() << name << " " << name_of(type));
    const TempFolder folder;
    FrameWriterOptions options{.columns = 7, .rows = 5, .frames = 11, .type = type, .force = false, .dataset = ""};
    {
      const auto writer = create_frames(folder / name, options);
      for (int f = 0; f < 11; ++f) writer->write(pattern_frame<Pixel>(7, 5, f).data());
      const Pixel one{};
      EXPECT_LEPUS_ERROR(writer->write(&one), ErrorKind::internal, "more than 11");
      writer->finish();
    }
    const bool many = std::strchr(name, '%') != nullptr;
    const auto source = open_frames({expand_pattern(folder.path(), many ? "f" : name), "", {}, {}});
    EXPECT_EQ(source->frames(), 11);
    EXPECT_EQ(source->pixel_type(), type);
    expect_pattern(*source);
    EXPECT_LEPUS_ERROR(create_frames(folder / name, options), ErrorKind::disk, "exists already");
    options.force = true;
    const std::size_t before = folder.entries();
    {
      const auto writer = create_frames(folder / name, options);
      writer->write(pattern_frame<Pixel>(7, 5, 3).data());
      EXPECT_LEPUS_ERROR(writer->finish(), ErrorKind::internal, "1 of 11");
    }
    EXPECT_EQ(folder.entries(), before);
    expect_pattern(*source);  // the old frames are still there
  }
}

TEST(FrameWriter, every_format_and_type) {
  round_trip<std::uint8_t>(PixelType::u8);
  round_trip<std::int8_t>(PixelType::i8);
  round_trip<std::uint16_t>(PixelType::u16);
  round_trip<std::int16_t>(PixelType::i16);
  round_trip<std::uint32_t>(PixelType::u32);
  round_trip<std::int32_t>(PixelType::i32);
  round_trip<float>(PixelType::f32);
  round_trip<double>(PixelType::f64);
}

TEST(FrameWriter, several_datasets_have_names) {
  if (!have(".h5")) GTEST_SKIP() << "this build has no HDF5";
  const TempFolder folder;
  const auto writer = create_frames(
      folder / "a.h5",
      {.columns = 4, .rows = 3, .frames = 2, .type = PixelType::u16, .force = false, .dataset = "entry/data/flats"});
  for (int f = 0; f < 2; ++f) writer->write(pattern_frame<std::uint16_t>(4, 3, f).data());
  writer->finish();
  const auto source = open_frames({{folder / "a.h5"}, "/entry/data/flats", {}, {}});
  EXPECT_EQ(source->name(1), (folder / "a.h5").string() + ":/entry/data/flats[1]");
  expect_pattern(*source);
  // A missing dataset: the message lists what there is.
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.h5"}, "", {}, {}}), ErrorKind::input, "/exchange/data");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.h5"}, "", {}, {}}), ErrorKind::input, "/entry/data/flats");
  // The same dataset as sinograms: 2 detector rows, 3 views.
  const auto turned = open_frames({{folder / "a.h5"}, "/entry/data/flats", {}, FrameOrder::sinograms});
  EXPECT_EQ(turned->frames(), 3);
  EXPECT_EQ(turned->rows(), 2);
  float row[4];
  turned->read(2, 1, 2, row);
  EXPECT_EQ(row[3], static_cast<float>(pattern(3, 2, 1)));
}

TEST(FrameWriter, refuses_what_cannot_be) {
  const TempFolder folder;
  EXPECT_LEPUS_ERROR(
      create_frames(folder / "a.xyz", {.columns = 1, .rows = 1, .frames = 1, .type = {}, .force = {}, .dataset = {}}),
      ErrorKind::unsupported, ".xyz");
  EXPECT_LEPUS_ERROR(
      create_frames(folder / "a.raw", {.columns = 0, .rows = 1, .frames = 1, .type = {}, .force = {}, .dataset = {}}),
      ErrorKind::usage, "impossible frames");
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace lepus
