// SPDX-License-Identifier: Apache-2.0
// Raw frames, sinograms, selections, patterns, and what open_frames says about bad input.
#include <algorithm>
#include <thread>

#include "io/pixels.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

template <class Pixel>
void raw_round_trip(PixelType type) {
  const TempFolder folder;
  for (const bool big_endian : {false, true})
    for (const std::int64_t per_file : {1, 3}) {
      FrameFiles files;
      for (int f = 0; f < 2; ++f) {
        std::string bytes(17, 'h');  // an odd header: pixels are not aligned
        for (std::int64_t k = 0; k < per_file; ++k) {
          auto frame = pattern_frame<Pixel>(5, 4, f * per_file + k);
          if (big_endian) swap_bytes(frame.data(), 20, sizeof(Pixel));
          bytes += bytes_of(frame);
        }
        files.files.push_back(folder / (std::to_string(f) + ".raw"));
        write_file(files.files.back(), bytes);
      }
      files.raw = RawLayout{5, 4, per_file, type, 17, big_endian};
      const auto source = open_frames(files);
      EXPECT_EQ(source->frames(), 2 * per_file);
      EXPECT_EQ(source->columns(), 5);
      EXPECT_EQ(source->rows(), 4);
      EXPECT_EQ(source->pixel_type(), type);
      expect_pattern(*source);
      files.raw->frames_per_file = 0;  // as many as the file holds
      EXPECT_EQ(open_frames(files)->frames(), 2 * per_file);
    }
}

TEST(RawFrames, every_type_both_byte_orders_any_band) {
  raw_round_trip<std::uint8_t>(PixelType::u8);
  raw_round_trip<std::int8_t>(PixelType::i8);
  raw_round_trip<std::uint16_t>(PixelType::u16);
  raw_round_trip<std::int16_t>(PixelType::i16);
  raw_round_trip<std::uint32_t>(PixelType::u32);
  raw_round_trip<std::int32_t>(PixelType::i32);
  raw_round_trip<float>(PixelType::f32);
  raw_round_trip<double>(PixelType::f64);
}

TEST(RawFrames, extreme_values_survive) {
  const TempFolder folder;
  write_file(folder / "a.raw", bytes_of(std::vector<std::int16_t>{-32768, 32767, -1, 0}));
  const auto source = open_frames({{folder / "a.raw"}, "", RawLayout{2, 2, 1, PixelType::i16, 0, false}, {}});
  float pixels[4];
  source->read(0, 0, 2, pixels);
  EXPECT_EQ(pixels[0], -32768.0f);
  EXPECT_EQ(pixels[1], 32767.0f);
  EXPECT_EQ(pixels[2], -1.0f);
  std::int16_t native[2];
  source->read_native(0, 1, 2, native);
  EXPECT_EQ(native[0], -1);
}

TEST(RawFrames, wrong_sizes_are_named) {
  const TempFolder folder;
  write_file(folder / "a.raw", std::string(40, 'x'));
  write_file(folder / "b.raw", std::string(39, 'x'));
  write_file(folder / "c.raw", std::string(41, 'x'));
  const RawLayout layout{5, 4, 1, PixelType::u16, 0, false};
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.raw", folder / "b.raw"}, "", layout, {}}), ErrorKind::input, "b.raw");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "b.raw"}, "", layout, {}}), ErrorKind::input, "found 39 bytes");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "c.raw"}, "", layout, {}}), ErrorKind::input, "another size");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "d.raw"}, "", layout, {}}), ErrorKind::input, "d.raw: file not found");
  EXPECT_LEPUS_ERROR(open_frames({{folder.path()}, "", layout, {}}), ErrorKind::input, "it is a folder");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.raw"}, "", RawLayout{}, {}}), ErrorKind::input, "impossible raw layout");
  EXPECT_LEPUS_ERROR(
      open_frames({{folder / "a.raw"}, "", RawLayout{1 << 30, 1 << 30, 1 << 30, PixelType::f64, 0, false}, {}}),
      ErrorKind::input, "impossible raw layout");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.raw"}, "", {}, {}}), ErrorKind::input, "without a description");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "a.xyz"}, "", {}, {}}), ErrorKind::unsupported, ".xyz");
  EXPECT_LEPUS_ERROR(open_frames({}), ErrorKind::input, "no frames");
}

TEST(RawFrames, a_file_that_shrinks_after_opening_is_truncated) {
  const TempFolder folder;
  write_file(folder / "a.raw", std::string(40, 'x'));
  const auto source = open_frames({{folder / "a.raw"}, "", RawLayout{5, 4, 1, PixelType::u16, 0, false}, {}});
  fs::resize_file(folder / "a.raw", 30);
  std::vector<float> pixels(20);
  EXPECT_NO_THROW(source->read(0, 0, 3, pixels.data()));
  EXPECT_LEPUS_ERROR(source->read(0, 2, 4, pixels.data()), ErrorKind::input, "a.raw: file is truncated");
  EXPECT_LEPUS_ERROR(source->read(0, 2, 5, pixels.data()), ErrorKind::internal, "rows outside");
}

// Sinogram images [row][view][column] of a scan with `rows` detector rows, whose frames are the pattern.
FrameFiles sinogram_files(const TempFolder& folder, std::int64_t columns, std::int64_t rows, std::int64_t views) {
  FrameFiles files;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::uint16_t> sinogram;
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t u = 0; u < columns; ++u) sinogram.push_back(static_cast<std::uint16_t>(pattern(u, row, view)));
    files.files.push_back(folder / (std::to_string(row) + ".raw"));
    write_file(files.files.back(), bytes_of(sinogram));
  }
  files.raw = RawLayout{columns, views, 1, PixelType::u16, 0, false};
  files.order = FrameOrder::sinograms;
  return files;
}

// A volume of integers with a scale, used as frames: the values are those of the volume, whatever the format.
TEST(ScaledFrames, are_read_as_their_values) {
  const TempFolder folder;
  const VolumeGrid grid = odd_grid();
  const std::vector<float> voxels = pattern_volume(grid);
  for (const std::string name : {"v.mha", "w.mhd", "v.nrrd", "v.h5", "v.tif", "v.npy", "v.npz", "v.raw", "s_%04d.tif",
                                 "s1%03d.tif", "s2_%03d_a.tif"}) {
    if (const std::string ending = fs::path(name).extension(); !have(ending)) continue;
    SCOPED_TRACE(name);
    const auto writer = create_volume(folder / name, grid,
                                      {.unit = "", .type = PixelType::u16, .scale = scale_of_range(-20.25, 44.75)});
    writer->write(0, grid.nz, voxels.data());
    writer->finish("");
    std::vector<float> expected(voxels.size()), slice(static_cast<std::size_t>(grid.nx * grid.ny));
    open_volume(folder / name)->read(0, grid.nz, expected.data());
    FrameFiles files;
    const bool series = name.front() == 's';
    files.files = series ? expand_pattern(folder.path(), name.substr(0, 2) + "*.tif") : std::vector{folder / name};
    files.dataset = name == "v.h5" || name == "v.npz" ? "volume" : "";
    const auto frames = open_frames(files);
    ASSERT_EQ(frames->frames(), grid.nz);
    for (std::int64_t z = 0; z < grid.nz; ++z) {
      frames->read(z, 0, grid.ny, slice.data());
      for (std::size_t i = 0; i < slice.size(); ++i)
        ASSERT_EQ(slice[i], expected[static_cast<std::size_t>(z) * slice.size() + i]) << z << ", " << i;
    }
  }
}

TEST(ScaledFrames, files_have_one_scale_for_the_pixels_that_they_hold) {
  const TempFolder folder;
  const auto raw = [&](const std::string& name, const std::string& value) {
    write_file(folder / name, bytes_of(pattern_frame<std::uint16_t>(5, 4, 0)));
    write_file(folder / (name + ".json"), R"({"lepus":"frames","size":[5,4,1],"type":"uint16")" + value + "}");
    return folder / name;
  };
  const auto first = raw("a.raw", R"(,"value":{"slope":2,"offset":1})"),
             same = raw("b.raw", R"(,"value":{"slope":2,"offset":1})"), other = raw("c.raw", "");
  std::vector<float> image(20);
  open_frames({{first, same}, "", {}, {}})->read(1, 0, 4, image.data());
  EXPECT_EQ(image[1], 2.0F * static_cast<float>(pattern(1, 0, 0)) + 1);
  EXPECT_LEPUS_ERROR(open_frames({{first, other}, "", {}, {}}), ErrorKind::unsupported, "not that of the first file");
  if (!have(".tif")) return;
  // Another program wrote other pixels over one slice: what lepus noted is not for them.
  const auto writer = create_volume(folder / "%04d.tif", odd_grid(),
                                    {.unit = "", .type = PixelType::u16, .scale = scale_of_range(-20.25, 44.75)});
  writer->write(0, odd_grid().nz, pattern_volume(odd_grid()).data());
  writer->finish("");
  const auto single = create_frames(folder / "x.tif", {7, 5, 1, PixelType::f32, false, ""});
  single->write(pattern_frame<float>(7, 5, 0).data());
  single->finish();
  fs::rename(folder / "x.tif", folder / "0000.tif");
  EXPECT_LEPUS_ERROR(open_frames({{folder / "0000.tif"}, "", {}, {}}), ErrorKind::input, "lepus noted is for");
}

TEST(Sinograms, are_served_as_frames) {
  const TempFolder folder;
  const auto source = open_frames(sinogram_files(folder, 5, 4, 7));
  EXPECT_EQ(source->frames(), 7);
  EXPECT_EQ(source->rows(), 4);
  EXPECT_EQ(source->columns(), 5);
  expect_pattern(*source);
}

TEST(Sinograms, many_threads_and_more_blocks_than_are_kept) {
  const TempFolder folder;
  // 2048 columns x 40 rows x 2 bytes: 51 views to a block of 8 MiB; 300 views make 6 blocks, 4 are kept.
  const std::int64_t columns = 2048, rows = 40, views = 300;
  const auto source = open_frames(sinogram_files(folder, columns, rows, views));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> frame(static_cast<std::size_t>(rows * columns));
      for (std::int64_t view = t; view < views; view += 23) {
        source->read(view, 0, rows, frame.data());
        for (std::int64_t y = 0; y < rows; y += 3)
          for (std::int64_t x = 0; x < columns; x += 17)
            if (frame[static_cast<std::size_t>(y * columns + x)] != static_cast<float>(pattern(x, y, view))) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Sinograms, of_another_length_are_named) {
  const TempFolder folder;
  const FrameFiles files = sinogram_files(folder, 5, 4, 7);
  fs::resize_file(folder / "2.raw", 60);
  EXPECT_LEPUS_ERROR(open_frames(files), ErrorKind::input, "2.raw");
}

TEST(SelectFrames, frames_and_rows_in_steps) {
  const TempFolder folder;
  std::string bytes;
  for (int f = 0; f < 10; ++f) bytes += bytes_of(pattern_frame<std::uint16_t>(3, 31, f));
  write_file(folder / "a.raw", bytes);
  const FrameFiles files{{folder / "a.raw"}, "", RawLayout{3, 31, 10, PixelType::u16, 0, false}, {}};
  for (const std::int64_t step : {1, 2, 3, 5, 7}) {
    const std::int64_t first = 2, rows = (31 - first - 1) / step + 1;
    const auto part = select_frames(open_frames(files), {{9, 0, 4}, first, step, rows});
    EXPECT_EQ(part->frames(), 3);
    EXPECT_EQ(part->rows(), rows);
    EXPECT_EQ(part->name(0), (folder / "a.raw").string() + "[9]");
    const std::int64_t chosen[] = {9, 0, 4};
    for (std::int64_t f = 0; f < 3; ++f)
      for (std::int64_t row0 = 0; row0 < rows; ++row0) {
        std::vector<float> band(static_cast<std::size_t>((rows - row0) * 3));
        part->read(f, row0, rows, band.data());
        for (std::int64_t y = row0; y < rows; ++y)
          for (std::int64_t x = 0; x < 3; ++x)
            ASSERT_EQ(band[static_cast<std::size_t>((y - row0) * 3 + x)],
                      static_cast<float>(pattern(x, first + y * step, chosen[f])));
      }
  }
  EXPECT_LEPUS_ERROR(select_frames(open_frames(files), {{10}, 0, 1, 31}), ErrorKind::input, "frame 10");
  EXPECT_LEPUS_ERROR(select_frames(open_frames(files), {{0}, 0, 2, 17}), ErrorKind::input, "a frame has 31");
  EXPECT_LEPUS_ERROR(select_frames(open_frames(files), {{0}, 0, 1, 0}), ErrorKind::input, "rows");
}

TEST(ExpandPattern, sorts_numbers_as_numbers) {
  const TempFolder folder;
  fs::create_directories(folder / "frames");
  fs::create_directories(folder / "set2");
  fs::create_directories(folder / "set10");
  for (const char* name : {"frames/b10.tif", "frames/b2.tif", "frames/b1.TIFF", "frames/notes.txt", "frames/.b3.tif",
                           "frames/x[1].tif", "set2/a.tif", "set10/a.tif"})
    write_file(folder / name, "");
  const auto names = [&](const std::string& pattern_text) {
    std::vector<std::string> result;
    for (const fs::path& file : expand_pattern(folder.path(), pattern_text))
      result.push_back(fs::relative(file, folder.path()).string());
    return result;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("frames/b*.tif"), (Names{"frames/b2.tif", "frames/b10.tif"}));
  EXPECT_EQ(names("frames"), (Names{"frames/b1.TIFF", "frames/b2.tif", "frames/b10.tif", "frames/x[1].tif"}));
  EXPECT_EQ(names("frames/b?.*"), (Names{"frames/b1.TIFF", "frames/b2.tif"}));
  EXPECT_EQ(names("frames/x[1].tif"), (Names{"frames/x[1].tif"}));  // a name, not a class of characters
  EXPECT_EQ(names("set*/a.tif"), (Names{"set2/a.tif", "set10/a.tif"}));
  EXPECT_EQ(names("frames/notes.txt"), (Names{"frames/notes.txt"}));
  fs::create_directories(folder / "a*b");
  fs::create_directories(folder / "axb");
  for (const char* name : {"a*b/1.tif", "axb/1.tif", "axb/2.tif"}) write_file(folder / name, "");
  EXPECT_EQ(expand_pattern(folder.path(), "a*b/*.tif"), std::vector<fs::path>{folder / "a*b/1.tif"})
      << "what exists goes before what a star may mean";
  EXPECT_EQ(expand_pattern("", (folder / "frames/b*.tif").string()).size(), 2u);  // absolute
  EXPECT_LEPUS_ERROR(names("frames/c*.tif"), ErrorKind::input, "no file matches");
  EXPECT_LEPUS_ERROR(names("nowhere/c*.tif"), ErrorKind::input, "nowhere");
  EXPECT_LEPUS_ERROR(names("frames/c1.tif"), ErrorKind::input, "no such file");
}

TEST(Pixels, products_do_not_overflow) {
  EXPECT_EQ(checked_product(3, 4, 5, 2), 120);
  EXPECT_EQ(checked_product(0, 4), std::nullopt);
  EXPECT_EQ(checked_product(-1, -4), std::nullopt);
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31, 2), std::nullopt);
  EXPECT_EQ(checked_product(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX), std::nullopt);
}

TEST(Pixels, CountingAndConvertingSeeTheSameValues) {
  std::vector<unsigned char> bytes(8 * 1001);
  std::uint32_t state = 7;
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  for (const PixelType type :
       {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32, PixelType::i32, PixelType::f32}) {
    std::vector<float> values(1000);
    convert_to_float(type, bytes.data() + 1, 1000, values.data());  // at any byte
    for (const float level : {-1e30F, -7.0F, 0.5F, 100.0F, 20000.0F, 1e9F, 1e38F})
      EXPECT_EQ(count_at_least(type, bytes.data() + 1, 1000, level),
                std::ranges::count_if(values, [&](float value) { return value >= level; }))
          << name_of(type) << " " << level;
  }
}

}  // namespace
}  // namespace lepus
