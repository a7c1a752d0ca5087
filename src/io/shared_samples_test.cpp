// SPDX-License-Identifier: Apache-2.0
// Files that other people's programs wrote: real scans and format samples. Expected values: tifffile 2023.2 and
// h5py 3.7.
#include "io/test_support.h"
#include "io/varian_file.h"
#include "io/zeiss_file.h"

namespace lepus {
namespace {

using namespace test;

fs::path shared(const std::string& name) {
  const char* folder = std::getenv("LEPUS_SHARED_DATA");
  return (folder ? fs::path(folder) : fs::path(LEPUS_SOURCE_DIR) / "../shared/data") / name;
}

#define SKIP_WITHOUT(path, ending)                                                              \
  if (!fs::exists(path)) GTEST_SKIP() << "SKIPPED: no " << (path) << "; set LEPUS_SHARED_DATA"; \
  if (!have(ending)) GTEST_SKIP() << "SKIPPED: this build cannot read " << (ending)

struct Sum {
  double first = 0, middle = 0, last = 0, all = 0;
};
Sum sum_of(const FrameSource& source, std::int64_t frame) {
  std::vector<float> pixels(static_cast<std::size_t>(source.rows() * source.columns()));
  source.read(frame, 0, source.rows(), pixels.data());
  Sum sum{pixels.front(), pixels[static_cast<std::size_t>(source.rows() / 2 * source.columns() + source.columns() / 2)],
          pixels.back(), 0};
  for (const float v : pixels) sum.all += v;
  return sum;
}

// Expected values: SciPy 1.10.
TEST(SharedSamples, mirt_matlab) {
  const fs::path file = shared("mirt_fdk_example/fdkexampledata.mat");
  if (!fs::exists(file)) GTEST_SKIP() << "SKIPPED: no " << file << "; set LEPUS_SHARED_DATA";
  const auto frames = open_frames({{file}, "proj", {}, {}});
  EXPECT_EQ(frames->frames(), 72);
  EXPECT_EQ(frames->rows(), 60);
  EXPECT_EQ(frames->columns(), 64);
  const Sum sum = sum_of(*frames, 10);
  EXPECT_EQ(sum.middle, 2.9775493F);
  EXPECT_NEAR(sum.all, 4749.352723320946, 1e-9);
  const auto truth = open_volume(file.string() + ":xtrue");
  EXPECT_EQ(truth->grid(), (VolumeGrid{64, 60, 50, {}, {1, 1, 1}}));
  EXPECT_LEPUS_ERROR(open_volume(file), ErrorKind::input, "xtrue (50 x 60 x 64)");
}

TEST(SharedSamples, dxchange_tiff) {
  SKIP_WITHOUT(shared("dxchange_formats"), ".tif");
  struct Sample {
    const char* name;
    std::int64_t columns, rows;
    PixelType type;
    Sum sum;
  };
  const Sample samples[] = {{"reader_00000.tiff", 16, 8, PixelType::i8, {1, 1, 1, 128}},
                            {"test_f32_0001.tiff", 8, 9, PixelType::f32, {0, 36, 71, 2556}},
                            {"test_spots_0001.tiff", 10, 10, PixelType::f32, {0, 5, 9, 550}}};
  for (const Sample& sample : samples) {
    const auto source = open_frames({{shared("dxchange_formats") / sample.name}, "", {}, {}});
    EXPECT_EQ(source->frames(), 1);
    EXPECT_EQ(source->columns(), sample.columns);
    EXPECT_EQ(source->rows(), sample.rows);
    EXPECT_EQ(source->pixel_type(), sample.type);
    const Sum sum = sum_of(*source, 0);
    EXPECT_EQ(sum.first, sample.sum.first);
    EXPECT_EQ(sum.middle, sample.sum.middle);
    EXPECT_EQ(sum.last, sample.sum.last);
    EXPECT_EQ(sum.all, sample.sum.all);
  }
}

TEST(SharedSamples, dxchange_hdf5) {
  SKIP_WITHOUT(shared("dxchange_formats"), ".h5");
  const auto source = open_frames({{shared("dxchange_formats/reader.h5")}, "", {}, {}});
  EXPECT_EQ(source->frames(), 4);
  EXPECT_EQ(source->rows(), 8);
  EXPECT_EQ(source->columns(), 16);
  EXPECT_EQ(source->pixel_type(), PixelType::i8);
  EXPECT_EQ(sum_of(*source, 3).all, 128.0);
  const std::string group = "20151120_100640_testBL832h5file";
  const auto one =
      open_frames({{shared("dxchange_formats/read_stack.h5")}, group + "/" + group + "_0000_0007.tif", {}, {}});
  EXPECT_EQ(one->frames(), 1);
  EXPECT_EQ(one->rows(), 10);
  EXPECT_EQ(one->pixel_type(), PixelType::u16);
  EXPECT_EQ(sum_of(*one, 0).all, 100.0);
}

TEST(SharedSamples, tomopy_tooth) {
  SKIP_WITHOUT(shared("tomopy_tooth/tooth.h5"), ".h5");
  const auto source = open_frames({{shared("tomopy_tooth/tooth.h5")}, "", {}, {}});
  EXPECT_EQ(source->frames(), 181);
  EXPECT_EQ(source->rows(), 2);
  EXPECT_EQ(source->columns(), 640);
  EXPECT_EQ(source->pixel_type(), PixelType::f32);
  float row[640];
  source->read(90, 1, 2, row);
  EXPECT_EQ(row[0], 27210.0f);
  EXPECT_EQ(row[320], 7306.5f);
  EXPECT_EQ(open_frames({{shared("tomopy_tooth/tooth.h5")}, "/exchange/data_white", {}, {}})->frames(), 10);
  EXPECT_LEPUS_ERROR(open_frames({{shared("tomopy_tooth/tooth.h5")}, "/exchange/theta", {}, {}}), ErrorKind::input,
                     "found 1 dimensions");
  const auto volume = open_volume(shared("tomopy_tooth/tooth.h5").string() + ":/exchange/data_dark");
  EXPECT_EQ(volume->grid(), (VolumeGrid{640, 2, 10, {}, {1, 1, 1}}));
}

TEST(SharedSamples, zeiss) {  // expected: olefile 0.46
  const fs::path tomo = shared("dxchange_formats/txrm_test_chip_tomo.txrm"),
                 one = shared("dxchange_formats/test_chip00.xrm");
  if (!fs::exists(tomo)) GTEST_SKIP() << "SKIPPED: no " << tomo << "; set LEPUS_SHARED_DATA";
  const auto views = open_frames({{tomo}, "", {}, {}});
  EXPECT_EQ(views->frames(), 7);
  EXPECT_EQ(views->columns(), 256);
  EXPECT_EQ(views->pixel_type(), PixelType::u16);
  const double middles[] = {389, 367, 407, 400, 358, 377, 373};
  const double sums[] = {4280467, 5708686, 6420958, 6923329, 6523982, 5553009, 4079730};
  for (std::int64_t i = 0; i < 7; ++i) {
    const Sum sum = sum_of(*views, i);
    EXPECT_EQ(sum.middle, middles[i]);
    EXPECT_EQ(sum.all, sums[i]);
  }
  EXPECT_EQ(sum_of(*open_frames({{one}, "", {}, {}}), 0).all, 11192542.0);
  const Sum flat = sum_of(*open_frames({{one}, "ReferenceData", {}, {}}), 0);
  EXPECT_EQ(flat.first, 82);
  EXPECT_EQ(flat.last, 35);
  EXPECT_EQ(flat.all, 77982600.0);
  const ZeissFile header(tomo);
  EXPECT_EQ(header.ole().streams().size(), 670u);
  EXPECT_EQ(header.integer("ImageInfo/NoOfImages"), 7);
  EXPECT_FLOAT_EQ(static_cast<float>(header.floats("ImageInfo/Angles").at(6)), 44.985878f);
  EXPECT_FLOAT_EQ(static_cast<float>(header.floats("Alignment/X-Shifts").at(1)), -0.94368505f);
  EXPECT_EQ(header.shown_value(*header.ole().find("ImageInfo/CameraName")), "Imaging");
  EXPECT_EQ(header.shown_value(*header.ole().find("ImageInfo/DataType")), "5");
  EXPECT_EQ(header.shown_value(*header.ole().find("ImageInfo/ExpTimes")), "5 5 5 5 5 5 5");
}

TEST(SharedSamples, varian_xim) {  // expected: a decoder of twenty lines in Python
  const fs::path file = shared("varian_xim/FilterBowtie.xim");
  if (!fs::exists(file)) GTEST_SKIP() << "SKIPPED: no " << file << "; set LEPUS_SHARED_DATA";
  const auto source = open_frames({{file}, "", {}, {}});
  EXPECT_EQ(source->columns(), 1024);
  EXPECT_EQ(source->rows(), 768);
  const Sum sum = sum_of(*source, 0);
  EXPECT_EQ(sum.first, 0);
  EXPECT_EQ(sum.middle, 5544);
  EXPECT_EQ(sum.last, 14756);
  EXPECT_EQ(sum.all, 6087751423.0);
  const VarianImage image = read_xim(file);
  EXPECT_EQ(image.fields.size(), 143u + 5u);
  EXPECT_EQ(image.number("KVNormChamber"), 90870);
  EXPECT_NEAR(image.number("KVDetectorLat").value(), -16.000157596561134, 1e-12);
  std::int64_t consumed = 0;
  std::uint32_t highest = 0;
  unpack_rows(InputFile(file), image.packed.value(), {}, 768, [&](const PackedRowStart& next) {
    consumed = next.byte;
    highest = std::max(highest, *std::max_element(next.above.begin(), next.above.end()));
  });
  EXPECT_EQ(consumed, 859274);
  EXPECT_EQ(image.packed->data_bytes, 859274);
  EXPECT_EQ(highest, 26122u);
}

TEST(SharedSamples, savu_i13) {
  SKIP_WITHOUT(shared("savu_i13_24737"), ".tif");
  const auto source = open_frames({expand_pattern(shared("savu_i13_24737"), "tiffs/*.tiff"), "", {}, {}});
  EXPECT_EQ(source->frames(), 91);
  EXPECT_EQ(source->rows(), 135);
  EXPECT_EQ(source->columns(), 160);
  EXPECT_EQ(source->pixel_type(), PixelType::u16);
  const Sum first = sum_of(*source, 0);
  EXPECT_EQ(first.first, 0);
  EXPECT_EQ(first.middle, 3994);
  EXPECT_EQ(first.last, 21024);
  EXPECT_EQ(first.all, 482630903.0);
  EXPECT_EQ(sum_of(*source, 90).all, 480873194.0);
  const Sum flat = sum_of(*open_frames({{shared("savu_i13_24737/flat_00001.tiff")}, "", {}, {}}), 0);
  EXPECT_EQ(flat.middle, 41719);
  EXPECT_EQ(flat.all, 803416747.0);
}

}  // namespace
}  // namespace lepus
