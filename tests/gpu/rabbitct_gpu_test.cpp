// SPDX-License-Identifier: Apache-2.0
// RabbitCT on a GPU: streamed view by view, in blocks, and whole, in every precision, against the definition; and the
// module that RabbitCT's runner loads.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "io/test_support.h"
#include "need_device.h"
#include "bench/rabbitct/make.h"
#include "bench/rabbitct/module.h"
#include "bench/rabbitct/plain.h"
#include "bench/rabbitct/run.h"
#include "bench/rabbitct/view_stream.h"
#include "run/sweep.h"

namespace lepus::rabbitct {
namespace {

constexpr std::int64_t columns = 160, rows = 120, views = 70;  // two blocks and a part of a third

struct Quiet {
  ThreadPool threads;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
};

const DataFile& data() {
  static const test::TempFolder folder;
  static const DataFile file = [] {
    Quiet quiet;
    MakeOptions o;
    o.columns = columns;
    o.rows = rows;
    o.views = views;
    o.sizes = {128, 256};
    o.reference_slices = 16;
    make(folder / "small.rct", o, quiet.context);
    return DataFile(folder / "small.rct");
  }();
  return file;
}

const char* name_of(Precision p) { return p == Precision::exact ? "exact" : p == Precision::fast ? "fast" : "half"; }

// The bars: 0.05 HU as RabbitCT scores it for exact, 0.5 HU for fast. half holds values in 11 bits beside the texture
// unit's 8-bit weights, which alone make as large an error.
double bar(Precision p) { return p == Precision::exact ? 0.05 : 0.5; }

TEST(RabbitGpu, EveryProtocolAndPrecisionScoresWithinItsBar) {
  NEED_DEVICE();
  Quiet quiet;
  for (const std::int64_t size : {128, 256})
    for (const Protocol protocol : {Protocol::views, Protocol::blocks, Protocol::whole})
      for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
        RunOptions o;
        o.size = size;
        o.backend = "cuda";
        o.precision = precision;
        o.protocol = protocol;
        const RunReport r = run(data(), o, quiet.context);
        ASSERT_TRUE(r.score && r.unrounded);
        std::printf("%4lld %-6s %-5s RMSE %.4f HU (unrounded %.5f), %.2f ms, last view %.2f ms, %s\n",
                    static_cast<long long>(size),
                    protocol == Protocol::views    ? "views"
                    : protocol == Protocol::blocks ? "blocks"
                                                   : "whole",
                    name_of(precision), r.score->root_mean_squared_error(), r.unrounded->root_mean_squared_error(),
                    1e3 * r.seconds, 1e3 * r.last_view_seconds, r.kernel.c_str());
        EXPECT_TRUE(r.score->root_mean_squared_error() <= bar(precision));
        EXPECT_EQ(r.score->not_finite, 0);
      }
}

// Blocks of any length, matrices of any scale and sign: the definition's volume to single precision.
Devices card(Precision precision, ThreadPool& threads) {
  return open_devices(compute_on("cuda", "0", precision), threads);
}

TEST(RabbitGpu, AnyBlockAndAnyScaleFollowTheDefinition) {
  NEED_DEVICE();
  Quiet quiet;
  std::vector<float> view(columns * rows);
  for (const std::int64_t block : {1, 7, 32, 100})
    for (const double scale : {1.0, -1.0, 1e-3}) {
      PlainSlices plain(128, spread_slices(128, 4));
      StreamSetup setup;
      setup.columns = columns;
      setup.rows = rows;
      setup.size = 128;
      setup.block = block;
      const auto device = card(Precision::exact, quiet.threads);
      ViewStream stream(setup, *device.front(), quiet.threads);
      for (std::int64_t i = 0; i < views; ++i) {
        Matrix34 matrix = data().matrix(i);
        for (double& number : matrix.m) number *= scale;
        data().read_view(i, view.data());
        plain.add(matrix, columns, rows, view.data(), quiet.threads);
        stream.add(matrix, view.data());
        stream.release_views();  // the next view is read into the same place
      }
      std::vector<float> volume(128 * 128 * 128, -1.0F);  // not page-locked
      stream.finish(volume.data());
      double squares = 0, norm = 0;
      for (std::size_t s = 0; s < plain.slices().size(); ++s)
        for (std::int64_t i = 0; i < 128 * 128; ++i) {
          const double truth = plain.values(s)[i];
          const auto at = static_cast<std::size_t>(plain.slices()[s] * 128 * 128 + i);
          const double error = static_cast<double>(volume[at]) - truth;
          squares += error * error;
          norm += truth * truth;
        }
      EXPECT_TRUE(std::sqrt(squares / norm) <= 1e-5) << block << ", " << scale << ": " << std::sqrt(squares / norm);
    }
}

// Two views half a turn apart: symmetric ones, which the circular kernels would take together.
TEST(RabbitGpu, SymmetricViewsAreSummedOneByOne) {
  NEED_DEVICE();
  Quiet quiet;
  CircularScan scan;
  scan.source_axis_mm = 750;
  scan.source_detector_mm = 1200;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 2.5;
  for (int i = 0; i < 4; ++i) scan.angles_rad.push_back(pi / 2 * i);
  const ScanGeometry geometry = build_scan(scan);
  std::vector<float> view(columns * rows);
  data().read_view(5, view.data());
  for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
    PlainSlices plain(128, {20, 64});
    StreamSetup setup;
    setup.columns = columns;
    setup.rows = rows;
    setup.size = 128;
    const auto device = card(precision, quiet.threads);
    ViewStream stream(setup, *device.front(), quiet.threads);
    for (const Matrix34& matrix : geometry.matrices) {
      plain.add(matrix, columns, rows, view.data(), quiet.threads);
      stream.add(matrix, view.data());
    }
    stream.release_views();
    std::vector<float> volume(128 * 128 * 128);
    stream.finish(volume.data());
    double squares = 0, norm = 0;
    for (std::size_t s = 0; s < 2; ++s)
      for (std::int64_t i = 0; i < 128 * 128; ++i) {
        const double truth = plain.values(s)[i];
        const double error =
            static_cast<double>(volume[static_cast<std::size_t>(plain.slices()[s] * 128 * 128 + i)]) - truth;
        squares += error * error;
        norm += truth * truth;
      }
    // The bars of tests/parity: weights of 8 bits err by up to 1/512 of the step between neighbouring pixels.
    EXPECT_TRUE(std::sqrt(squares / norm) <= (precision == Precision::exact ? 1e-5 : 5e-3)) << name_of(precision);
  }
}

TEST(RabbitGpu, TheModuleProvidesPageLockedMemoryAndIsReadyWithTheLastView) {
  NEED_DEVICE();
  ::setenv("LEPUS_RABBITCT_BACKEND", "cuda", 1);
  void* library = ::dlopen(LEPUS_RABBITCT_MODULE, RTLD_LAZY);
  ASSERT_NE(library, nullptr) << ::dlerror();
  ModuleFunction call[5];
  for (int i = 0; i < 5; ++i) call[i] = reinterpret_cast<ModuleFunction>(::dlsym(library, module_functions[i]));
  OriginalData d;
  std::memset(&d, 0, sizeof(d));
  d.size = 128;
  d.columns = columns;
  d.rows = rows;
  d.voxel_mm = 2;
  d.origin_mm = -127;
  d.view_buffers = 17;
  d.views = views;
  ASSERT_EQ(call[0](&d), 1);
  ASSERT_EQ(call[1](&d), 1);
  ASSERT_NE(d.volume, nullptr);
  ASSERT_NE(d.views_ahead, nullptr);
  for (std::uint32_t first = 0; first < views; first += d.view_buffers) {
    const std::uint32_t count = std::min(d.view_buffers, static_cast<std::uint32_t>(views) - first);
    for (std::uint32_t i = 0; i < count; ++i) data().read_view(first + i, d.views_ahead[i]);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Matrix34 m = data().matrix(first + i);
      double by_column[12];
      for (int k = 0; k < 12; ++k) by_column[k] = m(k % 3, k / 3);
      d.matrix = by_column;
      d.view = d.views_ahead[i];
      d.view_number = first + i;
      d.views_read = count;
      d.first_of_read = i == 0;
      ASSERT_EQ(call[2](&d), 1);
    }
  }
  Score score;
  std::vector<std::uint16_t> reference(128 * 128);
  for (std::int64_t z = 0; z < 128; ++z) {
    data().read_reference(128, z, z + 1, reference.data());
    score.add(d.volume + z * 128 * 128, reference.data(), 128 * 128, data().header().hu_scale);
  }
  EXPECT_TRUE(score.root_mean_squared_error() <= 0.05) << score.root_mean_squared_error();
  EXPECT_EQ(call[3](&d), 1);
  EXPECT_EQ(call[4](&d), 1);
}

}  // namespace
}  // namespace lepus::rabbitct
