// SPDX-License-Identifier: Apache-2.0
// The chain of corrections on the GPU against the same on the host: every family in one chain, and each alone.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "correct/beam/beam.h"
#include "need_device.h"
#include "run/chain_cases_test.h"
#include "run/corrected_frames.h"
#include "run/correction_chain.h"
#include "run/fdk.h"
#include "run/memory_io.h"
#include <lepus/error.h>

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

Device& card() {
  static ThreadPool threads(2);
  static const Devices cards = open_devices(compute_on("cuda"), threads);
  return *cards.front();
}

// Of all rows of a chain on both engines, over the largest value.
Difference difference(const std::vector<CorrectionSpec>& specs, bool flats_change = false) {
  const chain_test::SmallScan scan(specs);
  auto [frames, normalisation] = scan.inputs();
  const RowBand rows{0, frames.rows()};
  const auto flats = [&, &recorded = frames] { return flats_change ? changing_flats(recorded) : nullptr; };
  CorrectionChain on_host(scan.scan, frames, &normalisation, scan.context(), flats());
  CorrectionChain on_device(scan.scan, frames, &normalisation, scan.context(), flats());
  const Buffer<float> host = on_host.corrected(rows, scan.context().threads);
  BandEngine engine(scan.context().threads, &card());
  engine.send(on_device.read_recorded(rows, nullptr, engine, scan.context().threads));
  const SinogramBand kept = on_device.correct_sent(rows, engine, CorrectionChain::Look::no, nullptr);
  std::vector<float> device(static_cast<std::size_t>(kept.floats()));
  engine.download(kept, rows, device.data());
  double squares = 0, largest = 0, value = 0;
  for (std::int64_t i = 0; i < host.size(); ++i) {
    const double d = std::abs(static_cast<double>(host[i]) - static_cast<double>(device[static_cast<std::size_t>(i)]));
    squares += d * d;
    largest = d <= largest ? largest : d;  // NaN stays
    value = std::max(value, std::abs(static_cast<double>(host[i])));
  }
  return {std::sqrt(squares / static_cast<double>(host.size())) / value, largest / value};
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

CorrectedFramesOptions options_for(const std::string& devices, std::int64_t device_bytes) {
  return {.memory_bytes = std::int64_t{1} << 30,
          .scratch = {},
          .force = false,
          .threads = 2,
          .device = devices.empty() ? nullptr : &card(),
          .device_bytes = device_bytes};
}

// Bands of a few rows, so that several are on their way at once; rows that wait on the card, and on the host.
TEST(ChainGpu, CorrectedFramesAreTheSameAsOnTheHost) {
  NEED_DEVICE();
  const chain_test::SmallScan scan(chain_test::long_chain());
  auto [frames, normalisation] = scan.inputs();
  const CancelFlag never;
  const std::int64_t row = frames.columns() * frames.frames(), floats = row * frames.rows();
  std::vector<float> expected;
  for (const auto& [devices, device_bytes] : std::vector<std::pair<std::string, std::int64_t>>{
           {"", 0}, {"0", 0}, {"0", 2 * 2 * 10 * 4 * row * 4}, {"0", 1}}) {
    CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
    RowAudit audit(frames, {1, 0});
    CorrectedFrames corrected(frames, chain, audit, options_for(devices, device_bytes), never);
    std::vector<float> all(static_cast<std::size_t>(floats));
    for (std::int64_t view = 0; view < frames.frames(); ++view)
      corrected.read_native(view, 0, frames.rows(), all.data() + view * frames.rows() * frames.columns());
    corrected.finish();
    EXPECT_EQ(audit.pixels(), floats);
    if (expected.empty()) expected = all;
    double largest = 0, value = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double d = std::abs(static_cast<double>(all[i]) - static_cast<double>(expected[i]));
      largest = d <= largest ? largest : d;
      value = std::max(value, std::abs(static_cast<double>(expected[i])));
    }
    std::printf("%s: largest %.1e\n", corrected.description().c_str(), largest / value);
    EXPECT_LE(largest / value, largest_limit) << corrected.description();
    const auto reports = chain.reports();
    ASSERT_EQ(reports.size(), chain_test::long_chain().size());
    for (const auto& report : reports) EXPECT_GT(report.rings_before, 0) << report.kind;
  }
}

// From counts to a volume: the corrected rows wait on the card, or on the host.
void expect_the_same_volume(const chain_test::SmallScan& scan) {
  auto [frames, normalisation] = scan.inputs();
  VolumeGrid grid;
  grid.nx = grid.ny = 48;
  grid.nz = 8;
  grid.step_mm = {1, 1, 1};
  const auto volume = [&, &recorded = frames, &given = normalisation](const std::string& backend,
                                                                      std::int64_t device_bytes) {
    CorrectionChain chain(scan.scan, recorded, &given, scan.context());
    RowAudit audit(recorded, {1, 0});
    const CancelFlag never;
    const CorrectedFrames corrected(recorded, chain, audit, options_for(backend == "cuda" ? "0" : "", device_bytes),
                                    never);
    FdkSetup setup;
    setup.geometry = scan.scan.geometry;
    setup.grid = grid;
    setup.frame_pixel_bytes = sizeof(float);
    const Devices devices = open_devices(compute_on(backend, "0", Precision::exact), scan.context().threads);
    Fdk fdk(setup, devices, scan.context().threads);
    std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
    MemoryVolume writer(grid, voxels.data());
    fdk.run({.source = &corrected, .corrected = &corrected}, writer, scan.context());
    return voxels;
  };
  const std::vector<float> expected = volume("cpu", 0);
  for (const std::int64_t device_bytes : {std::int64_t{0}, std::int64_t{1}}) {
    const std::vector<float> got = volume("cuda", device_bytes);
    double largest = 0, value = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
      largest = d <= largest ? largest : d;
      value = std::max(value, std::abs(static_cast<double>(expected[i])));
    }
    std::printf("volume: largest %.1e of the peak\n", largest / value);
    EXPECT_LE(largest / value, 1e-4);  // the rows' own difference (2e-5), which the ramp filter raises
  }
}

TEST(ChainGpu, AVolumeOfCorrectedFramesIsTheSameAsOnTheHost) {
  NEED_DEVICE();
  expect_the_same_volume(chain_test::SmallScan(chain_test::long_chain()));
}

// Half-fan, with rows that slant: those that are filtered are made from corrected ones.
TEST(ChainGpu, AVolumeOfLevelledRowsIsTheSameAsOnTheHost) {
  NEED_DEVICE();
  chain_test::SmallScan scan(chain_test::long_chain());
  CircularScan circle = chain_test::SmallScan::circle();
  circle.detector_shift_u_mm = 40;
  circle.in_plane_rad = 0.02;
  scan.scan.geometry = build_scan(circle);
  ASSERT_TRUE(filtered_rows(scan.scan.geometry).resampler);
  expect_the_same_volume(scan);
}

// All views stay on the card, and bands come as slabs need them: one slab, several, and several of two workers; rows
// that wait on the card, or on the host. Slabs ascend along the detector's rows, or descend; or rows are levelled.
TEST(ChainGpu, BandsThatComeAsSlabsNeedThemGiveTheSameBits) {
  NEED_DEVICE();
  struct Variant {
    std::string devices;
    std::size_t minimum_slabs;
    std::int64_t device_bytes;
  };
  for (const double in_plane_rad : {0.0, std::numbers::pi, 0.02}) {
    CircularScan circle = chain_test::SmallScan::circle();
    circle.rows = 150;
    circle.angles_rad.clear();
    for (int i = 0; i < 150; ++i) circle.angles_rad.push_back(2 * std::numbers::pi * i / 150);
    circle.in_plane_rad = in_plane_rad;
    if (in_plane_rad == 0.02) circle.detector_shift_u_mm = 40;
    Scan scan;
    scan.geometry = build_scan(circle);
    scan.corrections = {chain_test::spec_of("rings")};
    EXPECT_EQ(filtered_rows(scan.geometry).resampler != nullptr, in_plane_rad == 0.02);
    const chain_test::CountFrames frames(circle.columns, circle.rows, scan.geometry.views());
    const Normalisation normalisation = chain_test::normalisation_of(circle.columns, circle.rows);
    ThreadPool threads(2);
    const CancelFlag never;
    Progress silent;
    Context context{threads, never, silent};
    VolumeGrid grid;
    grid.nx = grid.ny = 64;
    grid.nz = 80;
    grid.step_mm = {1, 1, 1};
    std::vector<float> first;
    for (const Variant& variant : {Variant{"0", 1, 0}, {"0", 3, 0}, {"0,0", 4, 0}, {"0", 3, 1}}) {
      FdkSetup setup;
      setup.geometry = scan.geometry;
      setup.grid = grid;
      setup.frames_corrected = true;
      const Devices cards = open_devices(compute_on("cuda", variant.devices), threads);
      // As much less memory as makes so many slabs.
      std::unique_ptr<Fdk> fdk;
      for (setup.device_memory_bytes = std::int64_t{128} << 20; !fdk; setup.device_memory_bytes -= 1 << 16) {
        fdk = std::make_unique<Fdk>(setup, cards, threads);  // throws where nothing fits any more
        if (fdk->plan().kind != PlanKind::resident_views || fdk->plan().slabs.size() < variant.minimum_slabs)
          fdk.reset();
      }
      CorrectionChain chain(scan, frames, &normalisation, context);
      RowAudit audit(frames, {1, 0});
      const CorrectedFrames corrected(frames, chain, audit, options_for("0", variant.device_bytes), never);
      std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
      MemoryVolume writer(grid, voxels.data());
      fdk->run({.source = &corrected, .corrected = &corrected}, writer, context);
      std::printf("%zu slabs of %zu views at a time on %s\n", fdk->plan().slabs.size(),
                  static_cast<std::size_t>(fdk->plan().wedge_views), variant.devices.c_str());
      if (first.empty()) first = voxels;
      EXPECT_GT(*std::ranges::max_element(voxels), 0.005);  // the cylinder
      EXPECT_EQ(voxels, first) << variant.devices << ", " << variant.device_bytes;
    }
  }
}

// An error between a band that is being corrected and one that was sent does not leave rows in the wrong place.
TEST(ChainGpu, FramesCanBeAskedForAgainAfterAnError) {
  NEED_DEVICE();
  struct FailsOnce final : FrameSource {
    explicit FailsOnce(const FrameSource& frames) : all(frames) {}
    std::int64_t columns() const override { return all.columns(); }
    std::int64_t rows() const override { return all.rows(); }
    std::int64_t frames() const override { return all.frames(); }
    PixelType pixel_type() const override { return all.pixel_type(); }
    std::string name(std::int64_t frame) const override { return all.name(frame); }
    void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
      if (row0 >= 6 && fails.exchange(false)) throw Error(ErrorKind::disk, {"gone", {}, {}, {}});
      all.read_native(frame, row0, row1, out);
    }
    const FrameSource& all;
    mutable std::atomic<bool> fails = false;
  };
  const chain_test::SmallScan scan({chain_test::spec_of("rings")});
  auto [sound, normalisation] = scan.inputs();
  const FailsOnce frames(sound);
  CorrectionChain chain(scan.scan, frames, &normalisation, scan.context());
  CorrectionChain on_host(scan.scan, sound, &normalisation, scan.context());
  RowAudit audit(frames, {1, 0});
  const CancelFlag never;
  const std::int64_t row = frames.columns() * frames.frames();
  const CorrectedFrames corrected(frames, chain, audit, options_for("0", 2 * 2 * 10 * 4 * row * 4), never);
  std::vector<float> got(static_cast<std::size_t>(frames.rows() * frames.columns()));
  frames.fails = true;
  EXPECT_THROW(corrected.read_native(0, 0, frames.rows(), got.data()), Error);
  corrected.read_native(0, 0, frames.rows(), got.data());
  const Buffer<float> expected = on_host.corrected({0, frames.rows()}, scan.context().threads);
  for (std::int64_t i = 0; i < frames.rows() * frames.columns(); ++i)
    ASSERT_NEAR(got[static_cast<std::size_t>(i)], expected[i / frames.columns() * row + i % frames.columns()],
                2 * largest_limit)
        << "row " << i / frames.columns();
}

}  // namespace
}  // namespace lepus
