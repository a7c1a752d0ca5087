// SPDX-License-Identifier: Apache-2.0
// TIFF files that libtiff itself wrote (strips, tiles, byte orders, BigTIFF, compression), read by rows; directories
// that promise what the file does not hold.
#ifdef LEPUS_HAVE_TIFF

#include <algorithm>
#include <atomic>
#include <thread>

#include <tiffio.h>

#include "io/frame_sources.h"
#include "io/stack.h"
#include "io/test_support.h"
#include "io/tiff_file.h"

namespace lepus {
namespace {

using namespace test;

struct Writing {
  const char* mode = "w";
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint32_t rows_per_strip = 0;  // 0: all
  std::uint32_t tile = 0;            // 0: strips
  bool backwards = false;            // strips in reversed order: not contiguous
  std::uint16_t predictor = 1;
};

template <class Pixel>
void write_with_libtiff(const fs::path& path, std::int64_t columns, std::int64_t rows, int pages, const Writing& w) {
  TIFF* tiff = TIFFOpen(path.c_str(), w.mode);
  ASSERT_NE(tiff, nullptr);
  for (int page = 0; page < pages; ++page) {
    auto pixels = pattern_frame<Pixel>(columns, rows, page);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(columns));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * sizeof(Pixel)));
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, w.compression);
    if (w.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, w.predictor);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                 std::is_floating_point_v<Pixel> ? SAMPLEFORMAT_IEEEFP
                 : std::is_signed_v<Pixel>       ? SAMPLEFORMAT_INT
                                                 : SAMPLEFORMAT_UINT);
    if (w.tile) {
      TIFFSetField(tiff, TIFFTAG_TILEWIDTH, w.tile);
      TIFFSetField(tiff, TIFFTAG_TILELENGTH, w.tile);
      std::vector<Pixel> block(w.tile * w.tile);
      for (std::uint32_t y = 0; y < rows; y += w.tile)
        for (std::uint32_t x = 0; x < columns; x += w.tile) {
          for (std::uint32_t j = 0; j < w.tile; ++j)
            for (std::uint32_t i = 0; i < w.tile; ++i)
              block[j * w.tile + i] = y + j < rows && x + i < columns
                                          ? pixels[static_cast<std::size_t>((y + j) * columns + x + i)]
                                          : Pixel{99};
          ASSERT_GE(TIFFWriteTile(tiff, block.data(), x, y, 0, 0), 0);
        }
    } else {
      const std::int64_t per_strip = w.rows_per_strip ? w.rows_per_strip : rows;
      TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(per_strip));
      const std::int64_t strips = (rows + per_strip - 1) / per_strip;
      for (std::int64_t k = 0; k < strips; ++k) {
        const std::int64_t strip = w.backwards ? strips - 1 - k : k;
        const std::int64_t count = std::min(per_strip, rows - strip * per_strip);
        ASSERT_GE(
            TIFFWriteEncodedStrip(tiff, static_cast<std::uint32_t>(strip), pixels.data() + strip * per_strip * columns,
                                  static_cast<tmsize_t>(count * columns * static_cast<std::int64_t>(sizeof(Pixel)))),
            0);
      }
    }
    ASSERT_EQ(TIFFWriteDirectory(tiff), 1);
  }
  TIFFClose(tiff);
}

template <class Pixel>
void check_variants(PixelType type) {
  const TempFolder folder;
  std::vector<Writing> variants;
  for (const char* mode : {"wl", "wb", "wl8", "wb8"}) {
    variants.push_back({.mode = mode});
    variants.push_back({.mode = mode, .rows_per_strip = 3});
    variants.push_back({.mode = mode, .rows_per_strip = 4, .backwards = true});
    variants.push_back({.mode = mode, .tile = 16});
    for (const std::uint16_t compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
      if (!TIFFIsCODECConfigured(compression)) continue;
      variants.push_back({.mode = mode, .compression = compression, .rows_per_strip = 3});
      variants.push_back({.mode = mode, .compression = compression, .tile = 32});
    }
    if (sizeof(Pixel) <= 4 && !std::is_floating_point_v<Pixel>)
      variants.push_back({.mode = mode, .compression = COMPRESSION_LZW, .rows_per_strip = 5, .predictor = 2});
  }
  for (const Writing& w : variants) {
    SCOPED_TRACE(testing::Message() << name_of(type) << " mode " << w.mode << " compression " << w.compression
                                    << " rows per strip " << w.rows_per_strip << " tile " << w.tile);
    write_with_libtiff<Pixel>(folder / "a.tif", 21, 18, 2, w);
    const auto source = open_frames({{folder / "a.tif"}, "", {}, {}});
    ASSERT_EQ(source->frames(), 2);
    ASSERT_EQ(source->columns(), 21);
    ASSERT_EQ(source->rows(), 18);
    ASSERT_EQ(source->pixel_type(), type);
    expect_pattern(*source);
    // Contiguous ones must be served straight from the file: one strip, or strips in order.
    const bool plain = read_tiff_directories(folder / "a.tif").pages[1].data_offset >= 0;
    EXPECT_EQ(plain, w.compression == COMPRESSION_NONE && !w.tile && !w.backwards);
  }
}

TEST(TiffFrames, unsigned_integers) {
  check_variants<std::uint8_t>(PixelType::u8);
  check_variants<std::uint16_t>(PixelType::u16);
  check_variants<std::uint32_t>(PixelType::u32);
}
TEST(TiffFrames, signed_integers) {
  check_variants<std::int8_t>(PixelType::i8);
  check_variants<std::int16_t>(PixelType::i16);
  check_variants<std::int32_t>(PixelType::i32);
}
TEST(TiffFrames, floats) {
  check_variants<float>(PixelType::f32);
  check_variants<double>(PixelType::f64);
}

TEST(TiffFrames, files_and_stacks_count_together) {
  const TempFolder folder;
  write_with_libtiff<std::uint16_t>(folder / "a.tif", 5, 4, 3, {});
  const FrameFiles files{{folder / "a.tif", folder / "a.tif"}, "", {}, {}};
  const auto source = open_frames(files);
  EXPECT_EQ(source->frames(), 6);
  EXPECT_EQ(source->name(4), (folder / "a.tif").string() + "[1]");
  float row[5];
  source->read(4, 2, 3, row);
  EXPECT_EQ(row[3], static_cast<float>(pattern(3, 2, 1)));
}

TEST(TiffFrames, thousands_of_files_with_few_descriptors_from_many_threads) {
  const TempFolder folder;
  FrameFiles files;
  for (int f = 0; f < 1500; ++f) {  // more than the usual limit of 1024 open files
    files.files.push_back(folder / (std::to_string(f) + ".tif"));
    write_with_libtiff<std::uint16_t>(
        files.files.back(), 6, 5, 1,
        {.compression = static_cast<std::uint16_t>(f % 2 ? COMPRESSION_LZW : COMPRESSION_NONE)});
  }
  const auto source = open_frames(files);
  EXPECT_EQ(source->frames(), 1500);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> rows(12);
      for (std::int64_t f = t; f < 1500; f += 3) {
        source->read(f, 2, 4, rows.data());
        for (std::int64_t i = 0; i < 12; ++i)
          if (rows[static_cast<std::size_t>(i)] != static_cast<float>(pattern(i % 6, 2 + i / 6, 0))) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(std::distance(fs::directory_iterator("/proc/self/fd"), {}), 64);
}

TEST(TiffFrames, differing_and_broken_files_are_named) {
  const TempFolder folder;
  write_with_libtiff<std::uint16_t>(folder / "a.tif", 5, 4, 1, {});
  write_with_libtiff<std::uint16_t>(folder / "b.tif", 4, 5, 1, {});
  write_with_libtiff<float>(folder / "c.tif", 5, 4, 1, {});
  write_file(folder / "d.tif", "not a TIFF file");
  write_file(folder / "e.tif", "");
  const auto with = [&](const char* name) { return FrameFiles{{folder / "a.tif", folder / name}, "", {}, {}}; };
  EXPECT_LEPUS_ERROR(open_frames(with("b.tif")), ErrorKind::input, "expected 5x4 uint16");
  EXPECT_LEPUS_ERROR(open_frames(with("b.tif")), ErrorKind::input, "found 4x5 uint16");
  EXPECT_LEPUS_ERROR(open_frames(with("c.tif")), ErrorKind::input, "found 5x4 float32");
  EXPECT_LEPUS_ERROR(open_frames(with("d.tif")), ErrorKind::input, "d.tif: not a readable TIFF");
  EXPECT_LEPUS_ERROR(open_frames(with("e.tif")), ErrorKind::input, "e.tif");
  EXPECT_LEPUS_ERROR(open_frames(with("f.tif")), ErrorKind::input, "f.tif: file not found");
}

TEST(TiffFrames, kinds_that_are_not_read_say_so) {
  const TempFolder folder;
  TIFF* tiff = TIFFOpen((folder / "rgb.tif").c_str(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
  char pixels[6] = {};
  TIFFWriteEncodedStrip(tiff, 0, pixels, 6);
  TIFFClose(tiff);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "rgb.tif"}, "", {}, {}}), ErrorKind::unsupported, "3 values per pixel");

  // Numbers of colours look like grey levels and are none.
  tiff = TIFFOpen((folder / "palette.tif").c_str(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
  std::vector<std::uint16_t> colours(256);
  TIFFSetField(tiff, TIFFTAG_COLORMAP, colours.data(), colours.data(), colours.data());
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
  TIFFWriteEncodedStrip(tiff, 0, pixels, 2);
  TIFFClose(tiff);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "palette.tif"}, "", {}, {}}), ErrorKind::unsupported, "palette");

  // A compression scheme that no libtiff has: the number of a file made with LZW, replaced.
  write_with_libtiff<std::uint16_t>(folder / "a.tif", 5, 4, 1, {.mode = "wl", .compression = COMPRESSION_LZW});
  std::string bytes = read_file(folder / "a.tif");
  const std::string entry("\x03\x01\x03\x00\x01\x00\x00\x00\x05\x00", 10);  // Compression, short, one, 5
  const std::size_t at = bytes.find(entry);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 8] = '\x77';
  bytes[at + 9] = '\x77';
  write_file(folder / "a.tif", bytes);
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.tif"}, "", {}, {}}), ErrorKind::unsupported, "scheme 30583");
}

TEST(TiffFrames, one_directory_of_imagej_can_hold_many_images) {
  const TempFolder folder;
  TIFF* tiff = TIFFOpen((folder / "j.tif").c_str(), "wb");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 5);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 4);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 4);
  TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, "ImageJ=1.53t\nimages=1\nslices=3\n");
  auto first = pattern_frame<std::uint16_t>(5, 4, 0);
  TIFFWriteEncodedStrip(tiff, 0, first.data(), 40);
  TIFFClose(tiff);
  // The other images follow the first one; libtiff put the directory there, so the whole is laid out anew.
  std::string bytes = read_file(folder / "j.tif");
  const TiffContents before = read_tiff_directories(folder / "j.tif");
  ASSERT_EQ(before.pages.size(), 1u);
  std::string pixels;
  for (int f = 0; f < 3; ++f)
    for (const std::uint16_t value : pattern_frame<std::uint16_t>(5, 4, f)) {
      pixels += static_cast<char>(value >> 8);
      pixels += static_cast<char>(value & 255);
    }
  const std::size_t old_offset = static_cast<std::size_t>(before.pages[0].data_offset), new_offset = bytes.size();
  const std::string entry("\x01\x11\x00\x04\x00\x00\x00\x01", 8);  // StripOffsets, long, one
  const std::size_t at = bytes.find(entry);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(static_cast<unsigned char>(bytes[at + 11]), old_offset);
  bytes[bytes.find("images=1") + 7] = '3';
  bytes[at + 10] = static_cast<char>(new_offset >> 8);
  bytes[at + 11] = static_cast<char>(new_offset & 255);
  write_file(folder / "j.tif", bytes + pixels);
  const auto source = open_frames({{folder / "j.tif"}, "", {}, {}});
  EXPECT_EQ(source->frames(), 3);
  expect_pattern(*source);
  write_file(folder / "j.tif", bytes + pixels.substr(0, 110));
  EXPECT_LEPUS_ERROR(open_frames({{folder / "j.tif"}, "", {}, {}}), ErrorKind::input, "stack is truncated");
}

TEST(TiffStack, writes_big_tiff_where_offsets_need_it) {
  const TempFolder folder;
  for (const std::int64_t limit : {std::int64_t{1000}, std::int64_t{1} << 32}) {
    StackTarget target;
    target.path = folder / "a.tif";
    target.shape = {.columns = 9, .rows = 7, .images = 5, .type = PixelType::u16};
    target.force = true;
    target.big_tiff_above = limit;
    const auto writer = create_tiff_stack(target);
    for (int f = 0; f < 5; ++f) writer->write(f, 1, pattern_frame<std::uint16_t>(9, 7, f).data());
    writer->finish("");
    EXPECT_EQ(read_file(folder / "a.tif")[2], limit == 1000 ? 43 : 42);
    const auto source = open_frames({{folder / "a.tif"}, "", {}, {}});
    EXPECT_EQ(source->frames(), 5);
    expect_pattern(*source);
  }
}

}  // namespace
}  // namespace lepus

#endif
