// SPDX-License-Identifier: Apache-2.0
// A small sweep made, run and scored: every kernel of the host, every protocol, and what a run refuses.
#include "bench/rabbitct/run.h"

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "device/host/backprojector.h"
#include "device/host/device.h"
#include "filter/weights.h"
#include "io/test_support.h"
#include "bench/rabbitct/make.h"
#include "bench/rabbitct/view_stream.h"

namespace lepus::rabbitct {
namespace {

using test::TempFolder;

struct Quiet {
  ThreadPool threads{2};
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
};

MakeOptions small_sweep() {
  MakeOptions o;
  o.columns = 64;
  o.rows = 48;
  o.views = 16;
  o.sizes = {128};
  o.reference_slices = 8;
  return o;
}

// One file for all tests of the process.
const DataFile& small_data() {
  static const TempFolder folder;
  static const DataFile file = [] {
    Quiet quiet;
    make(folder / "small.rct", small_sweep(), quiet.context);
    return DataFile(folder / "small.rct");
  }();
  return file;
}

RunOptions at_128(const std::string& backend, Protocol protocol = Protocol::blocks) {
  RunOptions o;
  o.size = 128;
  o.backend = backend;
  o.protocol = protocol;
  o.check_slices = 2;
  return o;
}

TEST(RabbitMake, TheSweepIsAShortScanThatWobbles) {
  const ScanGeometry geometry = c_arm_sweep(small_sweep());
  EXPECT_EQ(FdkWeights(geometry).coverage(), Coverage::short_scan);
  const DataFile& file = small_data();
  EXPECT_EQ(file.header().version, 2);
  EXPECT_EQ(file.header().views, 16);
  EXPECT_EQ(file.last_size(), 128);
  double smallest = 2, largest = 0;  // w in the middle: near 1 and different in each view
  for (std::int64_t view = 0; view < 16; ++view) {
    const double w = file.matrix(view)(2, 3);
    smallest = std::min(smallest, w);
    largest = std::max(largest, w);
  }
  EXPECT_TRUE(smallest > 0.98 && largest < 1.02 && largest - smallest > 1e-3) << smallest << " to " << largest;
}

// 16 coarse views blur and streak; but the phantom is where it should be and as dense: Shepp-Logan's brain has 200 HU
// of this scale between the ventricles and outside is air.
TEST(RabbitMake, TheReferenceShowsThePhantom) {
  std::vector<std::uint16_t> slice(128 * 128);
  small_data().read_reference(128, 56, 57, slice.data());  // of 8 spread slices the fourth
  double inside = 0, outside = 0;
  for (int y = 60; y < 68; ++y)
    for (int x = 60; x < 68; ++x) inside += slice[static_cast<std::size_t>(y * 128 + x)] / 64.0;
  for (int y = 60; y < 68; ++y)
    for (int x = 6; x < 10; ++x) outside += slice[static_cast<std::size_t>(y * 128 + x)] / 32.0;
  EXPECT_NEAR(inside, 200, 100);
  EXPECT_LT(outside, 100);
  small_data().read_reference(128, 57, 58, slice.data());
  EXPECT_EQ(slice[0], not_computed);
}

// The bar: 0.05 HU as RabbitCT scores it for exact arithmetic. A score of 0.05 stands for an error of 0.003 HU.
TEST(RabbitRun, EveryKernelScoresWithinTheBar) {
  const DataFile& file = small_data();
  for (const std::string& target : cpu_targets()) {
    ThreadPool threads(2);
    StreamSetup setup;
    setup.columns = 64;
    setup.rows = 48;
    setup.size = 128;
    const auto device = host::make_device("cpu", threads, target);
    ViewStream stream(setup, *device, threads);
    std::vector<float> view(64 * 48), volume(128 * 128 * 128);
    for (std::int64_t i = 0; i < 16; ++i) {
      file.read_view(i, view.data());
      stream.add(file.matrix(i), view.data());
    }
    stream.finish(volume.data());
    EXPECT_EQ(last_cpu_target(), target);
    Score score;
    std::vector<std::uint16_t> reference(128 * 128);
    for (std::int64_t z = 0; z < 128; ++z) {
      file.read_reference(128, z, z + 1, reference.data());
      score.add(volume.data() + z * 128 * 128, reference.data(), 128 * 128, file.header().hu_scale);
    }
    std::printf("%-8s RMSE %.4f HU, largest %g HU, %lld voxels\n", target.c_str(), score.root_mean_squared_error(),
                score.largest, static_cast<long long>(score.voxels));
    EXPECT_EQ(score.voxels, 8 * 128 * 128);
    EXPECT_TRUE(score.root_mean_squared_error() <= 0.05) << target;
    EXPECT_TRUE(score.largest <= 1) << target;
  }
}

TEST(RabbitRun, EveryProtocolGivesTheSameScoreToRounding) {
  Quiet quiet;
  for (const Protocol protocol : {Protocol::views, Protocol::blocks, Protocol::whole}) {
    const RunReport report = run(small_data(), at_128("cpu", protocol), quiet.context);
    EXPECT_EQ(report.microseconds.size(), 16U);
    EXPECT_GT(report.seconds, 0);
    EXPECT_EQ(report.centre_slice.size(), 128U * 128U);
    EXPECT_EQ(report.backend, "cpu");
    EXPECT_FALSE(report.kernel.empty());
    ASSERT_TRUE(report.score && report.unrounded);
    EXPECT_TRUE(report.score->root_mean_squared_error() <= 0.05);
    EXPECT_EQ(report.unrounded->voxels, 2 * 128 * 128);
    EXPECT_TRUE(report.unrounded->root_mean_squared_error() <= 0.003)
        << report.unrounded->root_mean_squared_error() << " HU";
    std::int64_t counted = 0;
    for (const std::int64_t n : report.score->histogram) counted += n;
    EXPECT_EQ(counted, report.score->voxels);
  }
}

TEST(RabbitRun, ResultsAreWrittenAndAreThoseOfTheRun) {
  const TempFolder folder;
  Quiet quiet;
  RunOptions options = at_128("cpu");
  options.check_slices = 0;
  const RunReport report = run(small_data(), options, quiet.context);
  EXPECT_FALSE(report.unrounded);
  for (const int version : {1, 2}) {
    write_result(folder / "a.rctd", report.result(version), true);
    const Result read = read_result(folder / "a.rctd");
    EXPECT_EQ(read.version, version);
    EXPECT_EQ(read.microseconds, report.microseconds);
    EXPECT_EQ(read.mean_squared_error, report.score->mean_squared_error());
    EXPECT_EQ(read.centre_slice, report.centre_slice);
  }
}

TEST(RabbitRun, WhatIsNotThereIsRefused) {
  const TempFolder folder;
  Quiet quiet;
  RunOptions options = at_128("cpu");
  options.size = 100;
  EXPECT_LEPUS_ERROR(run(small_data(), options, quiet.context), ErrorKind::usage, "128, 256, 512 and 1024");
  options.size = 256;
  EXPECT_LEPUS_ERROR(run(small_data(), options, quiet.context), ErrorKind::input, "no reference of 256");
  options = at_128("cpu");
  options.memory_bytes = 1 << 20;
  EXPECT_LEPUS_ERROR(run(small_data(), options, quiet.context), ErrorKind::memory, "memory limit");
  options = at_128("gpu");
  EXPECT_LEPUS_ERROR(run(small_data(), options, quiet.context), ErrorKind::usage, "unknown backend");
  MakeOptions make_options = small_sweep();
  make_options.sizes = {256};  // 128 is there, but nothing of it was computed
  make_options.views = 3;
  make_options.reference_slices = 1;
  make_options.version = 1;
  make(folder / "b.rct", make_options, quiet.context);
  EXPECT_LEPUS_ERROR(run(DataFile(folder / "b.rct"), at_128("cpu"), quiet.context), ErrorKind::input, "was computed");
  EXPECT_EQ(DataFile(folder / "b.rct").header().version, 1);
  make_options.sizes = {100};
  EXPECT_LEPUS_ERROR(make(folder / "c.rct", make_options, quiet.context), ErrorKind::usage, "128, 256");
  make_options = small_sweep();
  make_options.views = 1;
  EXPECT_LEPUS_ERROR(make(folder / "c.rct", make_options, quiet.context), ErrorKind::usage, "--views");
}

}  // namespace
}  // namespace lepus::rabbitct
