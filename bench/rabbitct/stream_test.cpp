// SPDX-License-Identifier: Apache-2.0
// RabbitCT's definition against hand-computed voxels, and every host kernel against the definition.
#include "bench/rabbitct/view_stream.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "device/host/backprojector.h"
#include "device/host/device.h"
#include "io/test_support.h"
#include "bench/rabbitct/format.h"
#include "bench/rabbitct/plain.h"

namespace lepus::rabbitct {
namespace {

// A source 600 mm before the volume, looking along +y with a tilt; `turn` about z; w = depth / 600 * scale.
Matrix34 some_matrix(double turn, double scale, std::int64_t columns, std::int64_t rows) {
  const double c = std::cos(turn), s = std::sin(turn), f = 0.9 * static_cast<double>(columns) / 300;
  const double u0 = 0.5 * static_cast<double>(columns - 1), v0 = 0.5 * static_cast<double>(rows - 1);
  const double w[4] = {-s / 600, c / 600, 0.02 / 600, 1};
  const double u[4] = {c * f, s * f, 0.01 * f, 0.3}, v[4] = {0, 0.005 * f, -f, 0.2};
  Matrix34 m;
  for (int i = 0; i < 4; ++i) {
    m(0, i) = scale * (u[i] + u0 * w[i]);
    m(1, i) = scale * (v[i] + v0 * w[i]);
    m(2, i) = scale * w[i];
  }
  return m;
}

struct Sweep {
  std::int64_t columns = 41, rows = 33;
  std::vector<Matrix34> matrices;
  std::vector<std::vector<float>> views;
};

// The views differ in scale by a few per cent, as a C-arm's do.
Sweep some_sweep(int views, double scale = 1) {
  Sweep sweep;
  std::uint32_t state = 7;
  for (int i = 0; i < views; ++i) {
    sweep.matrices.push_back(some_matrix(0.4 * i, scale * (1 + 0.03 * std::sin(i)), sweep.columns, sweep.rows));
    std::vector<float> view;
    for (std::int64_t k = 0; k < sweep.columns * sweep.rows; ++k) {
      state = state * 1664525U + 1013904223U;
      view.push_back(static_cast<float>(state >> 8) * 0x1p-24F - 0.3F);
    }
    sweep.views.push_back(std::move(view));
  }
  return sweep;
}

std::vector<float> volume_of(const Sweep& sweep, int threads, std::int64_t block, const std::string& kind = "cpu",
                             const std::string& target = "") {
  ThreadPool pool(threads);
  StreamSetup setup;
  setup.columns = sweep.columns;
  setup.rows = sweep.rows;
  setup.size = 128;
  setup.block = block;
  const auto device = host::make_device(kind, pool, target);
  ViewStream stream(setup, *device, pool);
  for (std::size_t i = 0; i < sweep.views.size(); ++i) stream.add(sweep.matrices[i], sweep.views[i].data());
  stream.release_views();
  std::vector<float> volume(128 * 128 * 128, -1.0F);
  stream.finish(volume.data());
  EXPECT_FALSE(stream.description().empty());
  return volume;
}

struct Difference {
  double rms = 0, largest = 0;  // over the rms and the largest value of the definition
};

Difference from_definition(const Sweep& sweep, const std::vector<float>& volume, double factor = 1) {
  ThreadPool pool(2);
  PlainSlices plain(128, spread_slices(128, 5));
  for (std::size_t i = 0; i < sweep.views.size(); ++i)
    plain.add(sweep.matrices[i], sweep.columns, sweep.rows, sweep.views[i].data(), pool);
  double squares = 0, norm = 0, largest = 0, peak = 0;
  for (std::size_t s = 0; s < plain.slices().size(); ++s)
    for (std::int64_t i = 0; i < 128 * 128; ++i) {
      const double truth = plain.values(s)[i];
      const double error =
          factor * static_cast<double>(volume[static_cast<std::size_t>(plain.slices()[s] * 128 * 128 + i)]) - truth;
      squares += error * error;
      norm += truth * truth;
      if (!(std::abs(error) <= largest)) largest = std::abs(error);
      peak = std::max(peak, std::abs(truth));
    }
  return {std::sqrt(squares / norm), largest / peak};
}

TEST(RabbitPlain, VoxelsByHand) {
  // u = (x + 127 + 2 w) / w with w = 2 + y / 127: voxel (0, 0, 0) is at (-127, -127, -127) mm.
  Matrix34 m{{1, 2.0 / 127, 0, 127 + 4, 0, 1.0 / 127, 1, 127 + 2, 0, 1.0 / 127, 0, 2}};
  const std::vector<float> view{1, 2, 3, 4, 10, 20, 30, 40};  // 4 x 2
  ThreadPool pool(1);
  PlainSlices plain(128, {0, 1});
  plain.add(m, 4, 2, view.data(), pool);
  // y = -127: w = 1, u = x + 127 + 2, v = z + 127 + 1 = 1.
  EXPECT_DOUBLE_EQ(plain.values(0)[0], 30);                         // x = -127: u = 2, v = 1
  EXPECT_DOUBLE_EQ(plain.values(0)[1], 0);                          // x = -125: u = 4, outside
  const double w = 2 + -125.0 / 127, u = 2 + 0 / w, v = 1 + 0 / w;  // the next line of voxels
  EXPECT_DOUBLE_EQ(u, 2);
  EXPECT_DOUBLE_EQ(v, 1);
  EXPECT_NEAR(plain.values(0)[128], 30 / (w * w), 1e-9);  // sums of numbers near 250 in double precision
  // One voxel to the right there: u = 2 + 2 / w, between the third and fourth columns or past the fourth.
  const double right = 2 + 2 / w, f = right - 3;
  ASSERT_TRUE(f > 0 && f < 1);
  EXPECT_NEAR(plain.values(0)[129], (1 - f) * 40 / (w * w), 1e-9);  // the fifth column is zero
  EXPECT_DOUBLE_EQ(plain.values(1)[0], 0);                          // v = 3
  // The same matrix times -3: the same place, a ninth of the weight.
  for (double& number : m.m) number *= -3;
  plain.add(m, 4, 2, view.data(), pool);
  EXPECT_DOUBLE_EQ(plain.values(0)[0], 30 + 30.0 / 9);
}

TEST(RabbitPlain, BehindTheSourceIsNothing) {
  const Matrix34 m{{1, 0, 0, 0, 0, 0, 1, 0, 0, 1.0 / 50, 0, 1}};  // w = 1 + y / 50, negative below y = -50
  const std::vector<float> view(512 * 512, 1.0F);
  ThreadPool pool(1);
  PlainSlices plain(128, {64});
  plain.add(m, 512, 512, view.data(), pool);
  EXPECT_EQ(plain.values(0)[70], 0);               // y = -127
  EXPECT_GT(plain.values(0)[64 * 128 + 70], 0.9);  // y = 1
}

TEST(RabbitPlain, SlicesAreSpread) {
  EXPECT_EQ(spread_slices(128, 4), (std::vector<std::int64_t>{16, 48, 80, 112}));
  EXPECT_EQ(spread_slices(128, 1), (std::vector<std::int64_t>{64}));
  EXPECT_EQ(spread_slices(128, 1000).size(), 128U);
  EXPECT_TRUE(spread_slices(128, 0).empty());
}

// The bars of the backends' own parity test: coordinates in single precision.
TEST(RabbitStream, EveryHostKernelFollowsTheDefinition) {
  const Sweep sweep = some_sweep(3);
  for (const std::string& target : cpu_targets()) {
    const Difference d = from_definition(sweep, volume_of(sweep, 2, 0, "cpu", target));
    EXPECT_TRUE(d.rms <= 1e-5 && d.largest <= 1e-4) << target << ": " << d.rms << ", " << d.largest;
  }
}

TEST(RabbitStream, TheReferenceBackendIsTheDefinition) {
  const Sweep sweep = some_sweep(2);
  const Difference d = from_definition(sweep, volume_of(sweep, 2, 0, "reference"));
  EXPECT_TRUE(d.rms <= 1e-7 && d.largest <= 2e-7) << d.rms << ", " << d.largest;  // one rounding to float
}

TEST(RabbitStream, AnyScaleOfTheMatricesIsTakenAtItsWord) {
  for (const double scale : {1e-3, -1.0, 750.0}) {
    const Sweep sweep = some_sweep(2, scale);
    const Difference d = from_definition(sweep, volume_of(sweep, 2, 0));
    EXPECT_TRUE(d.rms <= 1e-5 && d.largest <= 1e-4) << scale << ": " << d.rms << ", " << d.largest;
  }
}

TEST(RabbitStream, BlocksChangeRoundingAloneAndThreadsNothing) {
  const Sweep sweep = some_sweep(5);
  const auto one = volume_of(sweep, 1, 0);
  const auto three = volume_of(sweep, 3, 0);
  EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0);
  for (const std::int64_t block : {1, 2}) {
    const Difference d = from_definition(sweep, volume_of(sweep, 2, block));
    EXPECT_TRUE(d.rms <= 1e-5 && d.largest <= 1e-4) << block << ": " << d.rms << ", " << d.largest;
  }
}

TEST(RabbitStream, MatricesThatCannotBeUsedAreNamed) {
  ThreadPool pool(1);
  StreamSetup setup;
  setup.columns = 4;
  setup.rows = 4;
  setup.size = 128;
  const std::vector<float> view(16, 1.0F);
  const auto device = host::make_device("cpu", pool);
  ViewStream stream(setup, *device, pool);
  stream.add(some_matrix(0, 1, 4, 4), view.data());
  Matrix34 bad = some_matrix(0.1, 1, 4, 4);
  bad(1, 2) = std::nan("");
  EXPECT_LEPUS_ERROR(stream.add(bad, view.data()), ErrorKind::geometry, "view 1");
  ViewStream flat(setup, *device, pool);
  EXPECT_LEPUS_ERROR(flat.add(Matrix34{}, view.data()), ErrorKind::geometry, "view 0");
  ViewStream uneven(setup, *device, pool);
  uneven.add(some_matrix(0, 1, 4, 4), view.data());
  EXPECT_LEPUS_ERROR(uneven.add(some_matrix(0, 1e4, 4, 4), view.data()), ErrorKind::geometry, "scale");
  setup.size = 100;
  EXPECT_LEPUS_ERROR(ViewStream(setup, *device, pool), ErrorKind::usage, "128, 256");
}

}  // namespace
}  // namespace lepus::rabbitct
