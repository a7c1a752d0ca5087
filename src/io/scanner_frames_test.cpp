// SPDX-License-Identifier: Apache-2.0
// Frames in the files of medical imagers and of the ESRF.
#include "io/scanner_samples.h"

namespace lepus {
namespace {

using namespace test;

std::vector<fs::path> series(const TempFolder& folder, const std::string& ending,
                             const std::function<void(const fs::path&, std::int64_t)>& write) {
  std::vector<fs::path> files;
  for (std::int64_t f = 0; f < 3; ++f) {
    files.push_back(folder / ("p" + std::to_string(f) + ending));
    write(files.back(), f);
  }
  return files;
}

TEST(PackedRows, every_length_of_difference_comes_back) {
  const TempFolder folder;
  std::mt19937 random(7);
  for (const std::int64_t columns : {1, 2, 5, 64})
    for (const std::int64_t rows : {1, 2, 3, 40}) {
      std::vector<std::int32_t> pixels;
      for (std::int64_t i = 0; i < columns * rows; ++i) {
        const auto word = static_cast<std::int32_t>(random());  // wraps around, too
        pixels.push_back(i % 3 == 0 ? word : i % 3 == 1 ? word % 20000 : word % 50);
      }
      write_file(folder / "a.xim", xim_bytes(pixels.data(), columns, rows, {}));
      const VarianImage image = read_xim(folder / "a.xim");
      ASSERT_TRUE(image.packed.has_value());
      std::int64_t consumed = 0;
      std::vector<std::int32_t> found;
      unpack_rows(InputFile(folder / "a.xim"), *image.packed, {}, rows, [&](const PackedRowStart& next) {
        for (const std::uint32_t word : next.above) found.push_back(static_cast<std::int32_t>(word));
        consumed = next.byte;
      });
      EXPECT_EQ(found, pixels);
      EXPECT_EQ(consumed, image.packed->data_bytes);
    }
}

TEST(VarianFrames, bands_in_any_order_are_those_of_the_image) {
  const TempFolder folder;
  const auto xim = series(folder, ".xim", [](const fs::path& p, std::int64_t f) { write_xim(p, 11, 40, f); });
  const auto forward = open_frames({xim, "", {}, {}});
  EXPECT_EQ(forward->pixel_type(), PixelType::i32);
  expect_pattern(*forward);
  const auto backward = open_frames({xim, "", {}, {}});
  for (std::int64_t row = 39; row >= 0; --row) {
    std::vector<float> pixels(11);
    backward->read(1, row, row + 1, pixels.data());
    for (std::int64_t x = 0; x < 11; ++x)
      EXPECT_EQ(pixels[static_cast<std::size_t>(x)], static_cast<float>(pattern(x, row, 1)));
  }
  expect_pattern(*open_frames(
      {series(folder, ".hnd", [](const fs::path& p, std::int64_t f) { write_hnd(p, 12, 9, f); }), "", {}, {}}));
  expect_pattern(*open_frames(
      {series(folder, ".hnc", [](const fs::path& p, std::int64_t f) { write_hnc(p, 13, 5, f); }), "", {}, {}}));
}

TEST(VarianFrames, headers_and_what_is_wrong_with_them) {
  const TempFolder folder;
  write_xim(folder / "a.xim", 4, 3);
  EXPECT_EQ(read_xim(folder / "a.xim").number("KVSourceRtn"), 12.5);
  write_hnd(folder / "a.hnd", 4, 3);
  EXPECT_EQ(read_hnd(folder / "a.hnd").number("CTProjectionAngle"), 77.25);
  EXPECT_EQ(read_hnd(folder / "a.hnd").number("CTNormChamber"), 4321);
  EXPECT_FALSE(read_hnd(folder / "a.hnd").number("PatientID").has_value());
  write_xim(folder / "b.xim", 5, 3);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.xim", folder / "b.xim"}, "", {}, {}}), ErrorKind::input,
                     "expected 4x3 int32");
  std::string empty = read_file(folder / "a.xim");
  empty.replace(12, 8, std::string(8, '\0'));
  write_file(folder / "empty.xim", empty);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "empty.xim"}, "", {}, {}}), ErrorKind::input, "holds no pixels");
  write_hnc(folder / "a.hnc", 4, 3);
  write_file(folder / "short.hnc", read_file(folder / "a.hnc").substr(0, 530));
  EXPECT_LEPUS_ERROR(open_frames({{folder / "short.hnc"}, "", {}, {}}), ErrorKind::input, "the file has 530");
}

TEST(HisFrames, dark_pixels_are_bright) {
  const TempFolder folder;
  write_his(folder / "a.his", 6, 4, 2);
  const auto source = open_frames({{folder / "a.his"}, "", {}, {}});
  EXPECT_EQ(source->columns(), 6);
  EXPECT_EQ(source->rows(), 4);
  std::uint16_t row[6];
  source->read_native(0, 3, 4, row);
  for (int x = 0; x < 6; ++x) EXPECT_EQ(row[x], pattern(x, 3, 2) + 1);
  const std::string stored = read_file(folder / "a.his");
  EXPECT_EQ(number_at<std::uint16_t>(stored, 100), 65536 - (pattern(0, 0, 2) + 1)) << "68 and 32 bytes of header";
}

TEST(EdfFrames, several_images_both_byte_orders_and_names) {
  const TempFolder folder;
  write_edf(folder / "a.edf", 7, 5, 3);
  const auto source = open_frames({{folder / "a.edf"}, "", {}, {}});
  expect_pattern(*source);
  EXPECT_EQ(source->name(2), (folder / "a.edf").string() + "[2]");
  EXPECT_EQ(read_edf_headers(folder / "a.edf").at(1).text("MOTOR_POS"), "1.5 -2");
  std::string big = read_file(folder / "a.edf").substr(0, 512 + 70);
  big.replace(big.find("LowByteFirst"), 12, "HighByteFirst");
  big.erase(big.find("   "), 1);  // the header keeps its length
  for (std::size_t i = 512; i < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  write_file(folder / "big.edf", big);
  expect_pattern(*open_frames({{folder / "big.edf"}, "", {}, {}}));
  write_file(folder / "cut.edf", read_file(folder / "a.edf").substr(0, 560));
  EXPECT_LEPUS_ERROR(open_frames({{folder / "cut.edf"}, "", {}, {}}), ErrorKind::input, "do not fit into 560 bytes");
}

}  // namespace
}  // namespace lepus
