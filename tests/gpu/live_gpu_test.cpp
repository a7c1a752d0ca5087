// SPDX-License-Identifier: Apache-2.0
// The volume of a live reconstruction on a GPU: blocks of views in any order, in every precision, against the
// reconstruction of the whole in memory; boxes of it; and how soon it is ready after the last view.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "io/test_support.h"
#include "live/live_volume.h"
#include "need_device.h"

namespace lepus {
namespace {

using Clock = std::chrono::steady_clock;

struct GpuScan {
  Scan scan;
  std::vector<float> data;
};

GpuScan gpu_scan(const test::TempFolder& folder, std::int64_t columns, std::int64_t rows, std::int64_t views,
                 const VolumeGrid& grid, double shift_u_mm) {
  CircularScan circle;
  circle.source_axis_mm = 400;
  circle.source_detector_mm = 700;
  circle.columns = columns;
  circle.rows = rows;
  circle.pixel_width_mm = circle.pixel_height_mm = 160.0 / static_cast<double>(columns);
  circle.detector_shift_u_mm = shift_u_mm;
  for (std::int64_t i = 0; i < views; ++i)
    circle.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  GpuScan made;
  made.scan.geometry = build_scan(circle);
  made.scan.content = FrameContent::line_integrals;
  made.scan.grid = grid;
  made.data.resize(static_cast<std::size_t>(columns * rows * views));
  // Two balls' shadows, roughly: smooth, so that 8-bit weights do not drown everything else.
  for (std::int64_t view = 0, i = 0; view < views; ++view)
    for (std::int64_t v = 0; v < rows; ++v)
      for (std::int64_t u = 0; u < columns; ++u, ++i) {
        const double turn = 2 * pi * static_cast<double>(view) / static_cast<double>(views);
        const double x = static_cast<double>(u) / static_cast<double>(columns) - 0.5 - 0.15 * std::cos(turn);
        const double y = static_cast<double>(v) / static_cast<double>(rows) - 0.45;
        made.data[static_cast<std::size_t>(i)] = static_cast<float>(std::sqrt(std::max(0.0, 0.05 - x * x - y * y)));
      }
  const auto file = folder / "one.raw";
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(made.data.data()), columns * rows * 4);
  made.scan.frames.files.assign(1, file);
  made.scan.frames.raw = RawLayout{.columns = columns, .rows = rows, .type = PixelType::f32};
  made.scan.recorded = {columns, rows, views, PixelType::f32};
  made.scan.selection = {.frames = {}, .first_row = 0, .row_step = 1, .rows = rows};
  return made;
}

std::vector<LiveView> views_of(const GpuScan& s, const std::vector<std::int64_t>& order, std::size_t first,
                               std::size_t count) {
  const std::int64_t pixels = s.scan.recorded.columns * s.scan.recorded.rows;
  std::vector<LiveView> block(count);
  for (std::size_t i = 0; i < count; ++i) {
    block[i].view = order[first + i];
    block[i].counts = Buffer<float>(pixels);
    std::copy_n(s.data.data() + block[i].view * pixels, pixels, block[i].counts.data());
  }
  return block;
}

struct Quiet {
  ThreadPool threads;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
};

// exact: both sides are held to 1e-5 of the double-precision reference by tests/parity, so that they may differ by
// 2e-5. fast and half: weights of 8 bits err by up to 1/512 of the step between neighbouring pixels, 5e-3 in
// tests/parity.
TEST(LiveGpu, AnyOrderAndBlocksGiveTheReconstruction) {
  NEED_DEVICE();
  Quiet quiet;
  const test::TempFolder folder;
  const VolumeGrid grid = centred_grid(90, 84, 70, {0.9, 0.9, 0.9});
  for (const double shift : {0.0, 40.0})
    for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
      const GpuScan s = gpu_scan(folder, 128, 110, 96, grid, shift);
      std::vector<float> whole(static_cast<std::size_t>(grid.voxels())), live(whole);
      fdk(s.scan.geometry, s.data, grid, whole,
          {.filter = {}, .field_of_view_mask = true, .compute = compute_on("cpu")});
      Compute options;
      options.backend = "cuda";
      options.precision = precision;
      LiveVolume volume(s.scan, s.scan.frames.files.front(), options, quiet.context);
      std::vector<std::int64_t> order(96);
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
      std::mt19937 random(3);
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t next = 0; next < order.size();) {
        // One block of symmetric views among them: they are summed one by one.
        const auto most = static_cast<std::size_t>(volume.block());
        const std::size_t count = std::min({order.size() - next, most, 1 + random() % 40});
        std::vector<LiveView> block = views_of(s, order, next, count);
        next += count;
        volume.add(block, quiet.context);
      }
      volume.wait();
      volume.read({0, grid.nx, 0, grid.ny, 0, grid.nz}, live.data());
      double squares = 0, norm = 0;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        squares += std::pow(static_cast<double>(live[i]) - static_cast<double>(whole[i]), 2);
        norm += std::pow(static_cast<double>(whole[i]), 2);
      }
      const double error = std::sqrt(squares / norm);
      std::printf("shift %g, %s: %.3g (%s)\n", shift,
                  precision == Precision::exact  ? "exact"
                  : precision == Precision::fast ? "fast"
                                                 : "half",
                  error, volume.sum().kernel().c_str());
      EXPECT_TRUE(error <= (precision == Precision::exact ? 2e-5 : 5e-3)) << error;
      for (const VoxelBox& box : {VoxelBox{45, 46, 0, 84, 0, 70}, VoxelBox{0, 90, 42, 43, 0, 70},
                                  VoxelBox{0, 90, 0, 84, 35, 36}, VoxelBox{3, 7, 5, 11, 2, 9}}) {
        std::vector<float> part(static_cast<std::size_t>(box.voxels()));
        volume.read(box, part.data());
        std::size_t i = 0;
        for (std::int64_t z = box.z0; z < box.z1; ++z)
          for (std::int64_t y = box.y0; y < box.y1; ++y)
            for (std::int64_t x = box.x0; x < box.x1; ++x, ++i)
              ASSERT_EQ(part[i], live[static_cast<std::size_t>((z * grid.ny + y) * grid.nx + x)]);
      }
    }
}

// Four views a quarter of a turn apart in one block.
TEST(LiveGpu, SymmetricViewsInOneBlock) {
  NEED_DEVICE();
  Quiet quiet;
  const test::TempFolder folder;
  const VolumeGrid grid = centred_grid(64, 64, 48, {1, 1, 1});
  const GpuScan s = gpu_scan(folder, 96, 80, 4, grid, 0);
  std::vector<float> whole(static_cast<std::size_t>(grid.voxels())), live(whole);
  fdk(s.scan.geometry, s.data, grid, whole, {.filter = {}, .field_of_view_mask = true, .compute = compute_on("cpu")});
  Compute options;
  options.backend = "cuda";
  options.precision = Precision::half;
  LiveVolume volume(s.scan, s.scan.frames.files.front(), options, quiet.context);
  std::vector<LiveView> block = views_of(s, {0, 1, 2, 3}, 0, 4);
  volume.add(block, quiet.context);
  volume.wait();
  volume.read({0, 64, 0, 64, 0, 48}, live.data());
  double squares = 0, norm = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    squares += std::pow(static_cast<double>(live[i]) - static_cast<double>(whole[i]), 2);
    norm += std::pow(static_cast<double>(whole[i]), 2);
  }
  EXPECT_TRUE(std::sqrt(squares / norm) <= 5e-3) << std::sqrt(squares / norm);
}

// How soon a 512^3 volume is ready when views come one by one; printed, and within what a scanner would notice.
TEST(LiveGpu, ReadySoonAfterTheLastView) {
  NEED_DEVICE();
  Quiet quiet;
  const test::TempFolder folder;
  const GpuScan s = gpu_scan(folder, 1248, 960, 24, centred_grid(512, 512, 512, {0.15, 0.15, 0.15}), 0);
  Compute options;
  options.backend = "cuda";
  LiveVolume volume(s.scan, s.scan.frames.files.front(), options, quiet.context);
  std::vector<std::int64_t> order(24);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  double one = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<LiveView> block = views_of(s, order, i, 1);
    const auto start = Clock::now();
    volume.add(block, quiet.context);
    volume.wait();
    one = 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::printf("a view of 1248 x 960 is filtered and in 512^3 after %.1f ms (filter on the host, %d threads)\n", one,
              quiet.threads.size());
  EXPECT_LT(one, 1000);
}

}  // namespace
}  // namespace lepus
