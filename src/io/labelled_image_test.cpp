// SPDX-License-Identifier: Apache-2.0
// Images between a header and a tail of "name value" lines: read, checked, cut off, damaged.
#include "io/labelled_image.h"

#include <bit>

#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

LabelledLayout layout_of(bool text_pixels) {
  LabelledLayout layout;
  for (const char* words :
       {"columns integer required", "views integer required", "row integer", "angle_deg number", "sample text"})
    layout.header.push_back(parse_label_rule(words));
  for (const char* words : {"current_ua number", "end text required"}) layout.tail.push_back(parse_label_rule(words));
  layout.text_pixels = text_pixels;
  layout.type = PixelType::u16;
  return layout;
}

constexpr const char* label = "columns 3\nsample  a small tooth\nviews = 2\nrow: 5\nangle_deg -1.5e1\n";
constexpr const char* tail = "current_ua 80\nend of row 5\n";

fs::path write_image(const TempFolder& folder, const std::string& text, const char* name = "a.sin") {
  write_file(folder / name, text);
  return folder / name;
}

std::unique_ptr<FrameSource> open_one(const fs::path& file, const LabelledLayout& layout) {
  FrameFiles files{{file}, "", {}, FrameOrder::frames};
  files.labelled = layout;
  return open_frames(files);
}

std::vector<float> pixels_of(const FrameSource& source, std::int64_t row0, std::int64_t row1) {
  std::vector<float> pixels(static_cast<std::size_t>((row1 - row0) * source.columns()));
  source.read(0, row0, row1, pixels.data());
  return pixels;
}

TEST(LabelledImage, header_and_tail_are_read_and_pixels_of_a_text) {
  const TempFolder folder;
  // Lines of the text need not be those of the image.
  const fs::path file = write_image(folder, std::string(label) + "1 2\n+3 40\t50\r\n\n 65535\n" + tail);
  const LabelledImage image = read_labelled_image(file, layout_of(true));
  EXPECT_EQ(image.columns, 3);
  EXPECT_EQ(image.lines, 2);
  ASSERT_EQ(image.header.size(), 5U);
  EXPECT_EQ(image.find("sample")->value, "a small tooth");
  EXPECT_EQ(image.find("row")->value, "5");
  EXPECT_EQ(image.find("end")->value, "of row 5");
  EXPECT_EQ(image.find("nothing"), nullptr);
  const auto source = open_one(file, layout_of(true));
  EXPECT_EQ(pixels_of(*source, 0, 2), (std::vector<float>{1, 2, 3, 40, 50, 65535}));
  EXPECT_EQ(pixels_of(*source, 1, 2), (std::vector<float>{40, 50, 65535}));
}

TEST(LabelledImage, binary_pixels_in_both_byte_orders) {
  const TempFolder folder;
  const std::string pixels("\x01\0\x02\0\x03\0\x0a\0\x0a\x0a\xff\xff", 12);
  for (const bool marked : {false, true}) {
    LabelledLayout layout = layout_of(false);
    if (marked) layout.header_end = "DATA";
    const fs::path file = write_image(folder, std::string(label) + (marked ? "DATA\n" : "") + pixels + tail);
    EXPECT_EQ(pixels_of(*open_one(file, layout), 0, 2), (std::vector<float>{1, 2, 3, 10, 2570, 65535}));
    layout.big_endian = true;
    EXPECT_EQ(pixels_of(*open_one(file, layout), 1, 2), (std::vector<float>{2560, 2570, 65535}));
  }
}

TEST(LabelledImage, sinograms_become_views) {
  const TempFolder folder;
  FrameFiles files{{}, "", {}, FrameOrder::sinograms};
  files.labelled = layout_of(true);
  files.labelled->number_from = "row";
  files.labelled->header[2].required = true;
  for (int row = 0; row < 4; ++row) {
    std::string numbers;
    for (int view = 0; view < 2; ++view)
      for (int column = 0; column < 3; ++column) numbers += std::to_string(pattern(column, row, view)) + " ";
    const std::string name = "s" + std::to_string(row);
    files.files.push_back(write_image(
        folder, "views 2\ncolumns 3\nrow " + std::to_string(7 + row) + "\n" + numbers + "\nend\n", name.c_str()));
  }
  const auto views = open_frames(files);
  EXPECT_EQ(views->rows(), 4);
  EXPECT_EQ(views->frames(), 2);
  expect_pattern(*views);
  std::swap(files.files[1], files.files[2]);
  EXPECT_LEPUS_ERROR(open_frames(files), ErrorKind::input, "row is 9, 8 is expected");
}

TEST(LabelledImage, numbers_come_back_as_they_were_written) {
  const TempFolder folder;
  const float values[6] = {0.1F, -3.4e38F, 1.17549435e-38F, 1e-45F, 16777217.0F, 1.0F / 3};
  LabelledLayout layout = layout_of(true);
  layout.type = PixelType::f32;
  const fs::path file = write_image(folder, std::string(label) + text_of_pixels(PixelType::f32, values, 6) + tail);
  const auto source = open_one(file, layout);
  const std::vector<float> found = pixels_of(*source, 0, 2);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(values[i]));
}

// More text than is read at once, in a single line, with numbers that are cut between two pieces.
TEST(LabelledImage, a_text_is_read_in_pieces) {
  const TempFolder folder;
  constexpr int columns = 1000, lines = 300;
  std::string numbers;
  for (int i = 0; i < columns * lines; ++i) numbers += std::to_string(i % 65536) + (i % 7 == 0 ? "  " : " ");
  const fs::path file = write_image(folder, "columns 1000\nviews 300\n" + numbers + "\n" + tail);
  const auto source = open_one(file, layout_of(true));
  for (const std::int64_t line : {0, 131, 299}) {
    const std::vector<float> found = pixels_of(*source, line, line + 1);
    for (std::int64_t x = 0; x < columns; ++x)
      ASSERT_EQ(found[static_cast<std::size_t>(x)], static_cast<float>((line * columns + x) % 65536));
  }
}

TEST(LabelledImage, what_is_wrong_is_named) {
  const TempFolder folder;
  const LabelledLayout layout = layout_of(true);
  const auto refused = [&](const std::string& text, const char* words) {
    const fs::path file = write_image(folder, text);
    EXPECT_LEPUS_ERROR(pixels_of(*open_one(file, layout), 0, 2), ErrorKind::input, words);
  };
  const std::string numbers = "1 2 3\n4 5 6\n";
  refused("columns 3\n" + numbers + tail, "the header does not say views");
  refused("columns 3\nviews 2\ncolumns 3\n" + numbers + tail, "columns stands there twice");
  refused("columns 3.5\nviews 2\n" + numbers + tail, "columns is no integer");
  refused("columns 3\nviews 2\nangle_deg nan\n" + numbers + tail, "angle_deg is no number");
  refused("columns 0\nviews 2\n" + numbers + tail, "columns is impossible");
  refused("columns 3\nviews 2\nsampl bone\n" + numbers + tail, "did you mean sample?");
  refused("columns 3\nviews 2\n" + numbers + "current_ua 3\n", "the tail does not say end");
  refused("columns 3\nviews 2\n" + numbers + "current 3\nend\n", "the tail has a line that is not listed");
  refused("columns 3\nviews 2\n1 2 3\n4 5\n" + std::string(tail), "the file is cut off");
  refused("columns 3\nviews 2\n1 2 3\n4 5 6 7\n" + std::string(tail), "there are more numbers than the header says");
  refused("columns 3\nviews 2\n1 2 3\n4 5 65536\n" + std::string(tail), "a pixel is no uint16");
  refused("columns 3\nviews 2\n1 2 3\n4 5,5 6\n" + std::string(tail), "a pixel is no uint16");
  refused("columns 3\nviews 2\n", "the header does not end");
}

TEST(LabelledImage, a_layout_that_cannot_be_is_refused) {
  for (const char* words : {"", "columns", "columns float", "columns integer needed", "a b c d", "a=b text"})
    EXPECT_LEPUS_ERROR(parse_label_rule(words), ErrorKind::input, "\"columns integer required\"");
  EXPECT_EQ(words_of(parse_label_rule("  row   integer required ")), "row integer required");
  LabelledLayout layout = layout_of(true);
  check_layout(layout);
  layout.lines_from = "row";  // is not required
  EXPECT_LEPUS_ERROR(check_layout(layout), ErrorKind::input, "\"row\" is not listed as a required integer");
  layout = layout_of(true);
  layout.tail.push_back(layout.tail.front());
  EXPECT_LEPUS_ERROR(check_layout(layout), ErrorKind::input, "a name is listed twice");
}

TEST(LabelledImage, every_truncation_is_refused) {
  const TempFolder folder;
  for (const bool text_pixels : {false, true}) {
    const LabelledLayout layout = layout_of(text_pixels);
    const std::string whole =
        std::string("columns 3\nviews 2\n") + (text_pixels ? "1 2 3\n4 5 6\n" : std::string(12, '\x7f')) + "end\n";
    const auto read = [&] { return pixels_of(*open_one(folder / "a.sin", layout), 0, 2); };
    write_image(folder, whole);
    EXPECT_EQ(read().size(), 6U);
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
      write_image(folder, whole.substr(0, size));
      EXPECT_THROW(read(), Error) << size;
    }
  }
}

TEST(LabelledSlices, a_volume_comes_back) {
  const TempFolder folder;
  const VolumeGrid grid = odd_grid();
  const std::vector<float> voxels = pattern_volume(grid);
  for (const PixelType type : {PixelType::f32, PixelType::u16, PixelType::f16}) {
    const fs::path place = folder / name_of(type);
    VolumeWriterOptions options;
    options.type = type;
    options.unit = "1/mm";
    options.scale = {0.5, -20.25};  // every voxel is a step of it
    const auto writer = create_volume(place / "s_%04d.vol", grid, options);
    writer->write(2, grid.nz, voxels.data() + 2 * grid.nx * grid.ny);
    writer->write(0, 2, voxels.data());
    writer->finish("{\"made\":1}");
    const auto reader = open_volume(place);
    EXPECT_EQ(reader->grid(), grid);
    EXPECT_EQ(reader->unit(), "1/mm");
    EXPECT_EQ(reader->provenance(), "{\"made\":1}");
    std::vector<float> found(voxels.size());
    reader->read(0, grid.nz, found.data());
    EXPECT_EQ(found, voxels) << name_of(type);
    EXPECT_NE(read_file(place / "s_0003.vol").find("slice 3\n"), std::string::npos);
  }
  const fs::path place = folder / "float32";
  EXPECT_LEPUS_ERROR(create_volume(place / "s_%04d.vol", grid, {}), ErrorKind::disk, "exists");
  EXPECT_LEPUS_ERROR(create_unfinished(folder / "t_%04d.vol", grid, {}), ErrorKind::unsupported, "lepus convert");
  fs::remove(place / "s_0005.vol");
  EXPECT_LEPUS_ERROR(open_volume(place), ErrorKind::input, "slices is 6, there are 5 files");
  fs::remove(place / "s_0002.vol");
  EXPECT_LEPUS_ERROR(open_volume(place), ErrorKind::input, "slice is 3, 2 is expected");
}

TEST(LabelledSlices, another_layout_is_listed_in_the_folder) {
  const TempFolder folder;
  write_file(folder / "layout.json",
             R"({"header": ["NX integer required", "NY integer required", "Z integer required"], "tail": ["END text"],
                 "columns_from": "NX", "lines_from": "NY", "number_from": "Z", "type": "int16",
                 "step_mm": [0.5, 0.5, 2], "origin_mm": [1, 2, 3]})");
  for (int z = 0; z < 2; ++z)
    write_file(folder / ("a" + std::to_string(z) + ".vol"),
               "NX 2\nNY 1\nZ " + std::to_string(40 + z) + "\n-7 " + std::to_string(z) + "\nEND of slice\n");
  const auto volume = open_volume(folder / "");
  EXPECT_EQ(volume->grid(), (VolumeGrid{2, 1, 2, {1, 2, 3}, {0.5, 0.5, 2}}));
  EXPECT_NE(volume->provenance().find("of slice"), std::string::npos);
  std::vector<float> voxels(4);
  volume->read(0, 2, voxels.data());
  EXPECT_EQ(voxels, (std::vector<float>{-7, 0, -7, 1}));
  write_file(folder / "layout.json", R"({"header": ["NX integer"]})");
  EXPECT_LEPUS_ERROR(open_volume(folder / ""), ErrorKind::input, "is not listed as a required integer");
  write_file(folder / "layout.json", R"({"header": 5})");
  EXPECT_LEPUS_ERROR(open_volume(folder / ""), ErrorKind::input, "layout.json");
}

}  // namespace
}  // namespace lepus
