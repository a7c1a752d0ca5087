// SPDX-License-Identifier: Apache-2.0
// Fields of headers, series of frames, the text of a scan file, folders of no known scanner.
#include "import/frame_series.h"
#include "import/header_fields.h"
#include "import/plain_frames.h"
#include "import/test_folder.h"

namespace lepus {
namespace {

using namespace import_test;

TEST(HeaderFields, ini_keeps_every_field_and_notes_its_use) {
  const Folder folder;
  HeaderFields h = read_ini_header(
      folder.write("a.log", "; remark\n[System]\nPixel (\xb5m)= 7,5\nName=a = b\n[Run]\nFiles=12\nnothing\n"));
  ASSERT_EQ(h.fields().size(), 3U);
  EXPECT_EQ(h.fields()[0].name, "System/Pixel (\xc2\xb5m)");
  EXPECT_EQ(h.fields()[1].value, "a = b");
  EXPECT_EQ(h.number("system/pixel (\xc2\xb5m)", "geometry.pixel_width_mm"), 7.5);
  EXPECT_EQ(h.require_count("Run/Files", "frames.views"), 12);
  EXPECT_EQ(h.fields()[0].use, "geometry.pixel_width_mm");
  EXPECT_EQ(h.fields()[1].use, "");
  EXPECT_EQ(h.where("Run/Files"), (folder.path() / "a.log").string() + ":6");
  EXPECT_THROW(h.require_number("System/Name", ""), Error);
  EXPECT_THROW(h.require_number("System/Other", ""), Error);
}

TEST(HeaderFields, xml_leaves_have_their_path) {
  const Folder folder;
  HeaderFields h = read_xml_header(
      folder.write("a.xml", "<?xml version=\"1.0\"?>\n<Scan>\n<Size><W>8</W><H>6</H></Size>\n<Fod>1.5e2</Fod></Scan>"));
  ASSERT_EQ(h.fields().size(), 3U);
  EXPECT_EQ(h.fields()[1].name, "Size/H");
  EXPECT_EQ(h.require_length("Fod", ""), 150);
  EXPECT_THROW(read_xml_header(folder.write("b.xml", "<Scan><Size>")), Error);
  EXPECT_THROW(read_ini_header(folder.write("c.log", std::string("[a]\0b=1", 7))), Error);
}

TEST(HeaderFields, a_byte_order_mark_is_no_part_of_the_first_line) {
  const Folder folder;
  EXPECT_TRUE(read_ini_header(folder.write("a.log", "\xef\xbb\xbf[System]\nRatio=2\n")).has("System/Ratio"));
  EXPECT_TRUE(read_xml_header(folder.write("a.xml", "\xef\xbb\xbf<Scan><Fod>1</Fod></Scan>")).has("Fod"));
}

TEST(HeaderFields, xml_attributes_have_the_path_of_their_element) {
  const Folder folder;
  HeaderFields h =
      read_xml_header(folder.write("a.xml", "<Scan a='1'><Orbit xsi:type=\"Circle\"><R>2</R></Orbit></Scan>"));
  ASSERT_EQ(h.fields().size(), 2U);
  EXPECT_EQ(h.text("Orbit@xsi:type", ""), "Circle");
}

TEST(HeaderFields, paths_of_any_system) {
  EXPECT_EQ(last_part("D:\\scans\\a b.tif"), "a b.tif");
  EXPECT_EQ(last_part("/data/x/"), "x");
}

TEST(FrameSeries, names_the_missing_frame) {
  const ExpectedFrames expected{3, "Files", "a.log:2"};
  const std::vector<NumberedFile> whole{{1, "f_01.tif"}, {2, "f_02.tif"}, {3, "f_03.tif"}};
  EXPECT_EQ(whole_series(whole, expected, "f_01.tif").size(), 3U);
  try {
    whole_series({{1, "f_01.tif"}, {3, "f_03.tif"}}, expected, "f_01.tif");
    FAIL();
  } catch (const Error& error) {
    expect_says(error, "f_02.tif is missing");
  }
  EXPECT_THROW(whole_series({{1, "f_1.tif"}, {1, "f_01.tif"}, {2, "f_2.tif"}}, expected, "f_1.tif"), Error);
}

TEST(FrameSeries, prefixes_may_end_in_digits) {
  const Folder folder;
  folder.frames("bone_~00%04d.tif", 3);
  folder.frames("bone_~01%04d.tif", 4);
  std::vector<std::string> warnings;
  const ExpectedFrames expected{4, "Files", "a.log:2"};
  EXPECT_EQ(find_series(folder.path(), {"bone_~01"}, {".tif"}, expected, warnings).size(), 4U);
  EXPECT_TRUE(warnings.empty());
  fs::remove(folder.path() / "bone_~010002.tif");
  try {
    find_series(folder.path(), {"bone_~01"}, {".tif"}, expected, warnings);
    FAIL();
  } catch (const Error& error) {
    expect_says(error, "the frame bone_~010002.tif is missing");
  }
}

TEST(ScanFileText, patterns_name_the_same_files_or_are_not_used) {
  const Folder folder;
  folder.frames("a/scan_%04d.tif", 4);
  ScanFileText text;
  std::vector<fs::path> files = expand_pattern(folder.path(), "a/*.tif");
  text.set_files("frames.files", files, "Prefix");
  text.set("geometry.pixel_width_mm", 0.5, "Pixel\n=");
  EXPECT_EQ(text.text(folder.path(), "h"),
            "# h\n\n[frames]\nfiles = \"a/scan_*.tif\"  # Prefix\n\n[geometry]\npixel_width_mm = 0.5  # Pixel =\n");
  files.pop_back();
  text.set_files("frames.files", files, "Prefix");
  EXPECT_NE(text.text(folder.path(), "h").find("  \"a/scan_0000.tif\",\n"), std::string::npos);
}

TEST(PlainFrames, say_what_is_there_and_ask_for_the_fewest_numbers) {
  const Folder folder;
  expect_says(folder.error(), "there are no files in it");
  folder.frames("proj/p%03d.tif", 5);
  folder.frames("flats/f%03d.tif", 2);
  folder.write("notes.doc", "x");
  const Error error = folder.error();
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  for (const char* part :
       {"5 files proj/p*.tif of 8 x 6 pixels", "1 .doc", "--pixel MM --source-axis MM --source-detector MM"})
    expect_says(error, part);
  GivenNumbers given{.pixel_mm = 0.2, .source_axis_mm = 50, .source_detector_mm = 100, .arc_deg = 180};
  const std::string text = scan_file_text(import_place(folder.path(), given), folder.path());
  for (const char* part : {"files = \"proj/p*.tif\"", "flats = [", "pixel_width_mm = 0.2  # given with --pixel",
                           "arc_deg = 180.0  # given"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_EQ(read_scan_text(text, folder.path() / "scan.toml").geometry.views(), 5);
  folder.frames("proj/q%03d.tif", 5);
  expect_says(folder.error(), "several series of frames");
}

TEST(PlainFrames, images_without_a_number_are_flats_and_darks_or_are_named) {
  const Folder folder;
  folder.frames("p_%03d.tif", 5);
  folder.frames("P_5.tif", 1);
  folder.frames("dark.tif", 1);
  folder.frames("white/mean.tif", 1);
  folder.frames("photo.tif", 1);
  const std::string text = folder.text({.pixel_mm = 0.2, .source_axis_mm = 50, .source_detector_mm = 100});
  for (const char* part : {"flats = \"white/mean.tif\"", "darks = \"dark.tif\"", "views = 5",
                           "# Warning: 2 TIFF files are not used", ": P_5.tif, photo.tif"})
    expect_has(text, part);
  EXPECT_EQ(text.find("no flats"), std::string::npos);
  // Beside a series of flats such a file is their mean, or a picture of something else.
  folder.frames("flat_%03d.tif", 3);
  const std::string series = folder.text({.pixel_mm = 0.2, .source_axis_mm = 50, .source_detector_mm = 100});
  EXPECT_EQ(series.find("flats = \"white/mean.tif\""), std::string::npos);
  expect_has(series, "3 TIFF files are not used");
}

}  // namespace
}  // namespace lepus
