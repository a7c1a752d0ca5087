// SPDX-License-Identifier: Apache-2.0
// OLE compound files, and the scans of Zeiss microscopes in them.
#include "io/ole_file.h"
#include "io/scanner_samples.h"
#include "io/zeiss_file.h"

namespace lepus {
namespace {

using namespace test;

TEST(OleFile, streams_of_every_length_and_many_names_come_back) {
  const TempFolder folder;
  OleWriter writer(folder / "a.ole", false, 0);
  std::map<std::string, std::string> streams;
  const std::size_t lengths[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 20000};
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string name =
        i % 3 == 0 ? "top" + std::to_string(i) : "folder" + std::to_string(i % 7) + "/deeper/" + std::to_string(i);
    std::string bytes;
    for (std::size_t k = 0; k < lengths[i % 9]; ++k) bytes += static_cast<char>(17 * k + i);
    streams[name] = bytes;
  }
  for (const auto& [name, bytes] : streams) writer.add(name, bytes);
  const std::size_t place = writer.reserve("late", 10000);
  writer.write(place, 5000, std::string(5000, 'b').data(), 5000);
  writer.write(place, 0, std::string(5000, 'a').data(), 5000);
  streams["late"] = std::string(5000, 'a') + std::string(5000, 'b');
  writer.finish();

  const OleFile file(folder / "a.ole");
  EXPECT_EQ(file.streams().size(), streams.size());
  for (const auto& [name, bytes] : streams) {
    const OleStream* found = file.find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(file.read(*found, 1 << 20), bytes) << name;
  }
  EXPECT_NE(file.find("LATE"), nullptr);
  EXPECT_EQ(file.find("later"), nullptr);
  EXPECT_EQ(file.read(*file.find("late"), 3), "aaa");
}

TEST(OleFile, a_table_longer_than_the_header_lists) {
  // 109 tables of 1024 sectors of 4096 bytes are listed in the header: a sparse file beyond that.
  const TempFolder folder;
  const std::int64_t image = std::int64_t{300} << 20;
  OleWriter writer(folder / "large.ole", false, 0);
  writer.reserve("first", image);
  const std::size_t second = writer.reserve("second", image);
  const std::int64_t end = image - 4;
  writer.write(second, end, "last", 4);
  writer.finish();
  const OleFile file(folder / "large.ole");
  const auto extents = file.extents(*file.find("second"));
  ASSERT_EQ(extents.size(), 1u);
  std::string bytes(4, ' ');
  file.file().read(extents[0].offset + end, bytes.data(), 4);
  EXPECT_EQ(bytes, "last");
}

TEST(ZeissFrames, views_and_flats_row_by_row) {
  const TempFolder folder;
  for (const int type : {5, 10})
    for (const std::int64_t columns : {7, 70}) {  // small streams, and large ones
      write_zeiss(folder / "a.txrm", {.columns = columns, .rows = 33, .images = 3, .type = type});
      const auto views = open_frames({{folder / "a.txrm"}, "", {}, {}});
      EXPECT_EQ(views->frames(), 3);
      EXPECT_EQ(views->pixel_type(), type == 5 ? PixelType::u16 : PixelType::f32);
      EXPECT_EQ(views->name(2), (folder / "a.txrm").string() + ":ImageData1/Image3");
      expect_pattern(*views);
      const auto flats = open_frames({{folder / "a.txrm"}, "ReferenceData", {}, {}});
      EXPECT_EQ(flats->pixel_type(), PixelType::f32);
      expect_pattern(*flats);
    }
}

TEST(ZeissFrames, more_than_a_hundred_images_and_several_files) {
  const TempFolder folder;
  write_zeiss(folder / "a.txrm", {.images = 203});
  expect_pattern(*open_frames({{folder / "a.txrm"}, "", {}, {}}));
  write_zeiss(folder / "b.xrm", {.images = 1});
  const auto both = open_frames({{folder / "a.txrm", folder / "b.xrm"}, "", {}, {}});
  EXPECT_EQ(both->frames(), 204);
  const auto volume = open_volume(folder / "a.txrm");
  EXPECT_EQ(volume->grid().nz, 203);
  EXPECT_DOUBLE_EQ(volume->grid().step_mm.x, 0.0025);
}

TEST(ZeissFrames, what_is_wrong_is_named) {
  const TempFolder folder;
  const fs::path file = folder / "a.txrm";
  const auto open = [&](const std::string& set = "") { return open_frames({{file}, set, {}, {}}); };
  write_zeiss(file, {.missing = 3});
  EXPECT_LEPUS_ERROR(open(), ErrorKind::input, "no ImageData1/Image3");
  write_zeiss(file, {.images = 0});
  EXPECT_LEPUS_ERROR(open(), ErrorKind::input, "there is no ImageData1/Image1");
  write_zeiss(file, {.type = 7});
  EXPECT_LEPUS_ERROR(open(), ErrorKind::unsupported, "ImageInfo/DataType is 7");
  write_zeiss(file, {.reference = false});
  EXPECT_LEPUS_ERROR(open("ReferenceData"), ErrorKind::input, "has no ReferenceData");
  EXPECT_LEPUS_ERROR(open("/exchange/data"), ErrorKind::input, "no images are called /exchange/data");
  write_zeiss(folder / "b.txrm", {.columns = 8});
  EXPECT_LEPUS_ERROR(open_frames({{file, folder / "b.txrm"}, "", {}, {}}), ErrorKind::input, "expected 7x5 uint16");
  OleWriter word(folder / "letter.doc", false, 0);
  word.add("WordDocument", "Dear Sir");
  word.finish();
  EXPECT_LEPUS_ERROR(open_frames({{folder / "letter.doc"}, "", {}, {}}), ErrorKind::input,
                     "not a file of a Zeiss microscope");
  OleWriter wrong(folder / "short.txrm", false, 0);
  for (const char* size : {"ImageInfo/ImageWidth", "ImageInfo/ImageHeight"}) wrong.add(size, bytes_of_number(7));
  wrong.add("ImageInfo/DataType", bytes_of_number(5));
  wrong.add("ImageData1/Image1", std::string(97, 'x'));
  wrong.finish();
  EXPECT_LEPUS_ERROR(open_frames({{folder / "short.txrm"}, "", {}, {}}), ErrorKind::input, "has 97 bytes");
}

}  // namespace
}  // namespace lepus
