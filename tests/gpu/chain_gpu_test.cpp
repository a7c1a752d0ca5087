// SPDX-License-Identifier: Apache-2.0
// The chain of corrections on the GPU against the same on the host: every family in one chain, and each alone.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "correct/beam/beam.h"
#include "need_device.h"
#include "pipeline/chain_cases_test.h"
#include "pipeline/correction_chain.h"

namespace lepus {
namespace {

struct Difference {
  double rms = 0, largest = 0;
};

// Flats of a beam that got weaker, with gains.
std::unique_ptr<Correction> changing_flats(const FrameSource& frames) {
  const std::int64_t pixels = frames.columns() * frames.rows();
  std::vector<Buffer<float>> flats;
  Buffer<float> mean(pixels);
  for (int when = 0; when < 3; ++when) {
    flats.emplace_back(pixels);
    for (std::int64_t i = 0; i < pixels; ++i)
      flats.back()[i] =
          static_cast<float>(50000 - 2000 * when + 300 * chain_test::noise_at(static_cast<std::uint64_t>(i)));
  }
  for (std::int64_t i = 0; i < pixels; ++i) mean[i] = flats[1][i];
  const auto views = static_cast<double>(frames.frames());
  return make_flat_interpolation(
      FlatSeries(frames.columns(), frames.rows(), frames.frames(), {0, 0.4 * views, views}, std::move(flats)),
      std::move(mean));
}

// Of all rows of a chain on both engines, over the largest value.
Difference difference(const std::vector<CorrectionSpec>& specs, bool flats_change = false) {
  const chain_test::SmallScan scan(specs);
  auto [frames, normalisation] = scan.inputs();
  const RowBand rows{0, frames.rows()};
  const auto flats = [&, &recorded = frames] { return flats_change ? changing_flats(recorded) : nullptr; };
  CorrectionChain on_host(scan.scan, frames, &normalisation, scan.context(), flats());
  CorrectionChain on_device(scan.scan, frames, &normalisation, scan.context(), flats());
  const ChainBand host = on_host.bring(rows, nullptr, *host_engine(scan.context().threads));
  const ChainBand device = on_device.bring(rows, nullptr, *device_engine("0", scan.context().threads));
  double squares = 0, largest = 0, value = 0;
  for (std::int64_t i = 0; i < host.band.floats(); ++i) {
    const double d = std::abs(static_cast<double>(host.data[i]) - static_cast<double>(device.data[i]));
    squares += d * d;
    largest = d <= largest ? largest : d;  // NaN stays
    value = std::max(value, std::abs(static_cast<double>(host.data[i])));
  }
  return {std::sqrt(squares / static_cast<double>(host.band.floats())) / value, largest / value};
}

// The log and the exponential of host and device differ by some rounding steps (6e-8 of a value up to 1.6); filters sum
// up to 61 values in another order. A decision (is this pixel hot?) that falls the other way would show as 1e-2.
constexpr double rms_limit = 1e-6, largest_limit = 2e-5;

TEST(ChainGpu, EveryCorrectionIsTheSameAsOnTheHost) {
  NEED_DEVICE();
  for (const CorrectionSpec& spec : chain_test::long_chain()) {
    const Difference d = difference({spec});
    std::printf("%-12s rms %.1e, largest %.1e\n", spec.kind.c_str(), d.rms, d.largest);
    EXPECT_TRUE(d.rms <= rms_limit && d.largest <= largest_limit) << spec.kind;
  }
}

TEST(ChainGpu, FlatsThatChangeAreTheSameAsOnTheHost) {
  NEED_DEVICE();
  const Difference d = difference({}, true);
  std::printf("flats        rms %.1e, largest %.1e\n", d.rms, d.largest);
  EXPECT_TRUE(d.rms <= rms_limit && d.largest <= largest_limit);
}

TEST(ChainGpu, ALongChainIsTheSameAsOnTheHost) {
  NEED_DEVICE();
  const Difference d = difference(chain_test::long_chain());
  std::printf("all          rms %.1e, largest %.1e\n", d.rms, d.largest);
  EXPECT_TRUE(d.rms <= rms_limit && d.largest <= largest_limit);
}

}  // namespace
}  // namespace lepus
