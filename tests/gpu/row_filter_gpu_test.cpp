// SPDX-License-Identifier: Apache-2.0
// The device's row filter against the CPU's, row by row, for every kind of scan, pixel and correction.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "device/cuda/cuda_check.h"
#include "filter/test_scans.h"
#include "need_device.h"
#include "row_filter_cases.h"
#include <lepus/error.h>

namespace lepus::gpu_test {
namespace {

using test_scans::angles;

// Both sides round a logarithm of about 11 to 5e-7 (absolute) and transform with an error of 3e-7 of the row's rms; the
// filter takes 0.29 of white noise and of these white frames alike (integral of f^2). Frames spread by 0.8, so that
// makes sqrt(2) * sqrt((5e-7 / 0.8)^2 + 3e-7^2) = 1.0e-6 of the filtered rms, which is less than a third of the largest
// value: 3.3e-7. The worst of some 100000 values lies within five standard deviations.
// Where a ray and its partner both count next to nothing, their ratio magnifies the rounding of its angle, on both
// sides alike: what that does to the CPU is measured with weights in double precision, and the device may lose as much.
constexpr double rms_tolerance = 3.3e-7, worst_tolerance = 2e-6;

CircularScan cone(std::vector<double> angles_rad, std::int64_t columns = 150, std::int64_t rows = 9) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = columns;
  s.rows = rows;
  s.pixel_width_mm = s.pixel_height_mm = 180.0 / static_cast<double>(columns);
  s.angles_rad = std::move(angles_rad);
  return s;
}

CircularScan tilted(CircularScan s) {
  s.in_plane_rad = 0.03;
  s.pitch_rad = 0.05;
  s.yaw_rad = -0.04;
  return s;
}

template <class Pixel>
cuda::DeviceBuffer<Pixel> on_device(const std::vector<Pixel>& host) {
  cuda::DeviceBuffer<Pixel> buffer(static_cast<std::int64_t>(host.size()));
  cuda::copy_to_device(buffer.data(), host.data(), host.size() * sizeof(Pixel), "upload");
  return buffer;
}

struct Filtered {
  std::vector<float> rows;  // [view][row][wide]
  std::vector<BadPixels> bad;
};

// All views of a scan, rows [0, rows), in cuts of `rows_at_once` rows; pixels as [view][row][column].
template <class Pixel>
Filtered on_gpu(const RowCase& c, const std::vector<Pixel>& pixels, std::int64_t rows_at_once) {
  const std::int64_t columns = c.geometry.columns, rows = c.geometry.rows, views = c.geometry.views();
  cuda::RowFilter filter = c.device_filter();
  const cuda::DeviceBuffer<Pixel> raw = on_device(pixels);
  cuda::DeviceBuffer<float> out(views * rows * c.wide());
  cuda::fill_device(out.data(), 0xFF, static_cast<std::size_t>(out.bytes()), "poison");  // not numbers
  cuda::check(cudaDeviceSynchronize(), "poison");
  const cuda::Stream stream;
  for (std::int64_t row = 0; row < rows; row += rows_at_once) {
    RowBatch batch;
    batch.views = views;
    batch.row0 = row;
    batch.row1 = std::min(rows, row + rows_at_once);
    batch.pixels = raw.data() + row * columns;
    batch.view_pixels = rows * columns;
    batch.out = out.data() + row * c.wide();
    batch.out_row = c.wide();
    batch.out_view = rows * c.wide();
    batch.counted_row0 = batch.row0;
    batch.counted_row1 = batch.row1;
    filter.filter(stream.get(), batch);
  }
  Filtered result;
  result.bad.resize(static_cast<std::size_t>(views));
  filter.bad_pixels(stream.get(), 0, result.bad);
  result.rows.resize(static_cast<std::size_t>(out.size()));
  cuda::check(cudaMemcpy(result.rows.data(), out.data(), static_cast<std::size_t>(out.bytes()), cudaMemcpyDeviceToHost),
              "download");
  return result;
}

std::vector<std::uint16_t> random_frames(const ScanGeometry& g) {
  std::vector<std::uint16_t> all;
  for (std::int64_t view = 0; view < g.views(); ++view) {
    const std::vector<std::uint16_t> frame = random_frame(view, g.columns * g.rows);
    all.insert(all.end(), frame.begin(), frame.end());
  }
  return all;
}

template <class Pixel>
void expect_same(const RowCase& c, const std::vector<Pixel>& pixels, const Filtered& got) {
  const std::int64_t frame = c.geometry.columns * c.geometry.rows, filtered = c.geometry.rows * c.wide();
  double rms = 0, worst = 0, magnified = 0;
  for (std::int64_t view = 0; view < c.geometry.views(); ++view) {
    const std::vector<float> expected = c.on_cpu(view, 0, c.geometry.rows, pixels.data() + view * frame);
    const Difference d = difference(expected.data(), got.rows.data() + view * filtered, filtered);
    const std::vector<float> exact =
        c.on_cpu(view, 0, c.geometry.rows, pixels.data() + view * frame, RowCase::Weights::double_precision);
    const Difference cpu = difference(exact.data(), expected.data(), filtered);
    ASSERT_GT(d.largest, 0);
    EXPECT_LT(d.rms, rms_tolerance + 2 * cpu.rms) << "view " << view;
    EXPECT_LT(d.worst, worst_tolerance + 2 * cpu.worst) << "view " << view;
    rms = std::max(rms, d.rms);
    worst = std::max(worst, d.worst);
    magnified = std::max(magnified, cpu.worst);
  }
  std::printf("  of the largest value: rms %.2g, worst %.2g; weights of the CPU: worst %.2g\n", rms, worst, magnified);
}

void check_scan(const ScanGeometry& geometry, const CaseOptions& options) {
  NEED_DEVICE();
  const RowCase c(geometry, options);
  const std::vector<std::uint16_t> frames = random_frames(geometry);
  expect_same(c, frames, on_gpu(c, frames, geometry.rows));
}

struct ScanCase {
  std::string name;
  CircularScan scan;
};
class RowFilterGpuScans : public testing::TestWithParam<ScanCase> {};

TEST_P(RowFilterGpuScans, SameAsCpu) { check_scan(build_scan(GetParam().scan), {}); }

INSTANTIATE_TEST_SUITE_P(
    All, RowFilterGpuScans,
    testing::Values(ScanCase{"full", cone(angles(24, 360))}, ScanCase{"short_scan", cone(angles(40, 230))},
                    ScanCase{"short_scan_off_the_middle", test_scans::with(cone(angles(40, 230)), 3, 0)},
                    ScanCase{"half_fan", test_scans::with(cone(angles(40, 360)), 70, 0)},
                    ScanCase{"half_fan_other_side", test_scans::with(cone(angles(40, 360)), -70, 0)},
                    ScanCase{"gaps", test_scans::without_views(cone(angles(60, 360)), 20, 26)},
                    ScanCase{"tilted", tilted(cone(angles(24, 360)))},
                    ScanCase{"tilted_short", tilted(cone(angles(40, 230)))},
                    ScanCase{"fan", test_scans::fan(angles(40, 230))},
                    ScanCase{"parallel", test_scans::fan(angles(40, 180), Beam::parallel)},
                    ScanCase{"parallel_off_the_middle",
                             test_scans::with(test_scans::fan(angles(40, 360), Beam::parallel), 20, 0)}),
    [](const auto& tested) { return tested.param.name; });

// One of every transform, the widest row it takes and one column less.
class RowFilterGpuLengths : public testing::TestWithParam<int> {};

TEST_P(RowFilterGpuLengths, SameAsCpu) {
  for (const int columns : {GetParam(), GetParam() - 1}) check_scan(build_scan(cone(angles(8, 360), columns, 3)), {});
}

INSTANTIATE_TEST_SUITE_P(All, RowFilterGpuLengths,
                         testing::Values(512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 6144, 8192));

TEST(RowFilterGpu, RowsTooLongForSharedMemory) { check_scan(build_scan(cone(angles(4, 360), 8300, 3)), {}); }

TEST(RowFilterGpu, CufftGivesTheSame) {
  CaseOptions options;
  options.transform = 420;  // none of the fused kernel's
  options.dead = true;
  check_scan(build_scan(test_scans::with(cone(angles(40, 360)), 10, 0)), options);
}

TEST(RowFilterGpu, Windows) {
  CaseOptions options;
  options.ramp.window = Window::hann;
  options.ramp.cutoff = 0.8;
  options.ramp.spatial_hamming_samples = 5;
  check_scan(build_scan(cone(angles(8, 360))), options);
}

TEST(RowFilterGpu, ContinuedRows) {
  CaseOptions options;
  options.ramp.extrapolate = 0.6;
  check_scan(build_scan(cone(angles(8, 360))), options);
  options.transform = 700;
  check_scan(build_scan(cone(angles(8, 360))), options);
}

TEST(RowFilterGpu, OneI0) {
  CaseOptions options;
  options.flats = false;
  check_scan(build_scan(cone(angles(8, 360))), options);
}

TEST(RowFilterGpu, DeadPixels) {
  CaseOptions options;
  options.dead = true;
  check_scan(build_scan(cone(angles(8, 360))), options);
}

template <class Pixel>
void check_type(PixelType type, double scale, bool counts) {
  NEED_DEVICE();
  CaseOptions options;
  options.type = type;
  options.counts = counts;
  options.saturation = std::numeric_limits<double>::infinity();
  const RowCase c(build_scan(cone(angles(4, 360))), options);
  std::vector<Pixel> pixels;
  for (const std::uint16_t value : random_frames(c.geometry)) pixels.push_back(static_cast<Pixel>(value * scale));
  expect_same(c, pixels, on_gpu(c, pixels, c.geometry.rows));
}

TEST(RowFilterGpu, PixelTypes) {
  check_type<std::uint8_t>(PixelType::u8, 1 / 256.0, false);
  check_type<std::int8_t>(PixelType::i8, 1 / 512.0, false);
  check_type<std::int16_t>(PixelType::i16, 0.5, true);
  check_type<std::uint32_t>(PixelType::u32, 1, true);
  check_type<std::int32_t>(PixelType::i32, 1, true);
  check_type<float>(PixelType::f32, 1, true);
  check_type<double>(PixelType::f64, 1, true);
  check_type<float>(PixelType::f32, 1e-4, false);
}

// Rows are cut anywhere between pairs; the bits stay.
TEST(RowFilterGpu, SameBitsForEveryCut) {
  NEED_DEVICE();
  const RowCase c(build_scan(cone(angles(40, 230), 150, 13)), {});
  const std::vector<std::uint16_t> frames = random_frames(c.geometry);
  const Filtered whole = on_gpu(c, frames, 13);
  for (const std::int64_t cut : {2, 4, 6}) {
    const Filtered parts = on_gpu(c, frames, cut);
    EXPECT_EQ(0, std::memcmp(whole.rows.data(), parts.rows.data(), whole.rows.size() * sizeof(float))) << cut;
  }
  cuda::RowFilter filter = c.device_filter();
  RowBatch odd;
  odd.views = 1;
  odd.row0 = 1;
  odd.row1 = 4;
  EXPECT_THROW(filter.filter(nullptr, odd), Error);
}

TEST(RowFilterGpu, CountsSaturatedPixels) {
  NEED_DEVICE();
  CaseOptions options;
  options.saturation = 40000;
  const RowCase c(build_scan(cone(angles(6, 360))), options);
  const std::vector<std::uint16_t> frames = random_frames(c.geometry);
  const Filtered got = on_gpu(c, frames, 4);
  const std::int64_t frame = c.geometry.columns * c.geometry.rows;
  for (std::int64_t view = 0; view < c.geometry.views(); ++view) {
    const auto begin = frames.begin() + view * frame;
    const auto saturated = std::count_if(begin, begin + frame, [](std::uint16_t v) { return v >= 40000; });
    ASSERT_GT(saturated, 0);
    EXPECT_EQ(saturated, got.bad[static_cast<std::size_t>(view)].saturated);
    EXPECT_EQ(0U, got.bad[static_cast<std::size_t>(view)].not_finite);
  }
}

class MemoryFrames final : public FrameSource {
public:
  MemoryFrames(const ScanGeometry& g, const std::vector<float>& pixels) : g_(g), pixels_(pixels) {}
  std::int64_t columns() const override { return g_.columns; }
  std::int64_t rows() const override { return g_.rows; }
  std::int64_t frames() const override { return g_.views(); }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t) const override { return "memory"; }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    std::memcpy(out, pixels_.data() + (frame * g_.rows + row0) * g_.columns,
                static_cast<std::size_t>((row1 - row0) * g_.columns) * sizeof(float));
  }

private:
  const ScanGeometry& g_;
  const std::vector<float>& pixels_;
};

// What is not finite is counted and replaced as the CPU's audit does it: one pixel, a run, both edges, a whole row.
TEST(RowFilterGpu, ReplacesWhatIsNotFinite) {
  NEED_DEVICE();
  CaseOptions options;
  options.type = PixelType::f32;
  options.saturation = std::numeric_limits<double>::infinity();
  const RowCase c(build_scan(cone(angles(4, 360))), options);
  std::vector<float> pixels;
  for (const std::uint16_t value : random_frames(c.geometry)) pixels.push_back(static_cast<float>(value));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::size_t columns = static_cast<std::size_t>(c.geometry.columns);
  pixels[20] = nan;
  for (const std::size_t i : {columns + 30, columns + 31, columns + 32}) pixels[i] = -infinity;
  pixels[2 * columns] = pixels[3 * columns - 1] = infinity;
  std::fill_n(pixels.begin() + static_cast<std::ptrdiff_t>(4 * columns), columns, nan);
  const Filtered got = on_gpu(c, pixels, 4);
  EXPECT_EQ(6U + columns, got.bad[0].not_finite);
  EXPECT_EQ(0U, got.bad[1].not_finite);

  std::vector<float> repaired = pixels;
  const MemoryFrames source(c.geometry, pixels);
  RowAudit audit(source, {.maximum_fraction = 1, .saturation_level = 0});
  const std::int64_t frame = c.geometry.columns * c.geometry.rows;
  for (std::int64_t view = 0; view < c.geometry.views(); ++view)
    audit.record(view, 0, c.geometry.rows, pixels.data() + view * frame, repaired.data() + view * frame);
  EXPECT_EQ(static_cast<std::int64_t>(6 + columns), audit.not_finite());
  expect_same(c, repaired, got);
}

}  // namespace
}  // namespace lepus::gpu_test
