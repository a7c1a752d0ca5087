// SPDX-License-Identifier: Apache-2.0
// Whole reconstructions on the GPU: the same volume as on the CPU for every kind of scan, and the same bits for every
// amount of device memory and number of devices.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/cuda/device_memory.h"
#include "need_device.h"
#include "run/fdk.h"
#include "run/memory_io.h"
#include "trap.h"
#include <lepus/error.h>
#include <lepus/reconstruct.h>

namespace lepus {
namespace {

CircularScan cone(std::int64_t views, double arc_deg) {
  CircularScan scan;
  scan.source_axis_mm = 200;
  scan.source_detector_mm = 300;
  scan.columns = 97;
  scan.rows = 71;
  scan.pixel_width_mm = scan.pixel_height_mm = 1;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(radians(arc_deg * static_cast<double>(i) / static_cast<double>(views)));
  return scan;
}

struct Case {
  std::string name;
  ScanGeometry geometry;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, const CircularScan& scan) {
    all.push_back({std::move(name), build_scan(scan)});
  };
  add("full turn, quads", cone(120, 360));
  add("full turn, pairs", cone(118, 360));
  add("full turn, no symmetry", cone(117, 360));
  add("short scan", cone(110, 215));
  CircularScan scan = cone(120, 360);
  scan.detector_shift_u_mm = 25;
  add("half-fan", scan);
  scan.in_plane_rad = 0.03;
  scan.pitch_rad = 0.02;
  add("half-fan, turned in its plane: levelled", scan);
  scan = cone(120, 360);
  scan.in_plane_rad = 0.015;
  scan.yaw_rad = 0.03;
  add("tilted", scan);
  scan.in_plane_rad = 0.06;
  add("tilted, turned in its plane by more: levelled", scan);
  scan = cone(120, 360);
  scan.axis_offset_mm = 3;
  add("displaced axis", scan);
  scan = cone(100, 360);
  scan.arc = true;
  add("arc detector: resampled", scan);
  scan = cone(100, 225);
  scan.beam = Beam::fan;
  add("fan, short scan", scan);
  scan = cone(90, 180);
  scan.beam = Beam::parallel;
  add("parallel, half a turn", scan);
  return all;
}

std::int64_t recorded_pixels(const ScanGeometry& g) {
  return g.recorded_on_arc ? g.recorded_on_arc->columns * g.recorded_on_arc->rows : g.columns * g.rows;
}

// Structure that differs from view to view, with edges and a little noise.
std::vector<float> lines_of(const ScanGeometry& g) {
  const std::int64_t columns = g.recorded_on_arc ? g.recorded_on_arc->columns : g.columns;
  std::vector<float> lines(static_cast<std::size_t>(recorded_pixels(g) * g.views()));
  std::uint32_t state = 5;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % columns, row = static_cast<std::int64_t>(i) / columns;
    state = state * 1664525U + 1013904223U;
    const double across = std::abs(static_cast<double>(column) / static_cast<double>(columns) - 0.5);
    lines[i] = across > 0.35
                   ? 0.0F
                   : static_cast<float>(2 * std::cos(4 * across) + 0.3 * std::sin(0.13 * static_cast<double>(row)) +
                                        (across < 0.1 ? 0.5 : 0.0) + 0.02 * (state >> 8) * 0x1p-24);
  }
  return lines;
}

const VolumeGrid grid = centred_grid(52, 52, 41, {0.9, 0.9, 0.9});

std::vector<float> volume_of(const ScanGeometry& g, const std::vector<float>& lines, const std::string& backend,
                             Precision precision, const std::string& device = "0",
                             Interpolation taps = Interpolation::linear) {
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()), std::numeric_limits<float>::quiet_NaN());
  FdkOptions options;
  options.compute = compute_on(backend, device, precision);
  options.interpolation = taps;
  fdk(g, lines, grid, volume, options);
  return volume;
}

struct Difference {
  double rms, largest;
};
Difference difference(const std::vector<float>& a, const std::vector<float>& reference) {
  double sum = 0, norm = 0, most = 0, peak = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double r = reference[i], d = static_cast<double>(a[i]) - r;
    if (!(std::abs(d) <= most)) most = std::abs(d);
    sum += d * d;
    norm += r * r;
    peak = std::max(peak, std::abs(r));
  }
  return {std::sqrt(sum / norm), most / peak};
}

// exact: single-precision coordinates on both sides, the bars of the CPU's own parity test. fast and half: weights of
// 8 bits err by up to 1/512 of the step between neighbouring pixels, the same way for all; the sum over views averages.
TEST(DeviceSweep, EveryScanIsTheSameAsOnTheCpu) {
  NEED_DEVICE();
  for (const Case& c : cases()) {
    const std::vector<float> lines = lines_of(c.geometry);
    const std::vector<float> cpu = volume_of(c.geometry, lines, "cpu", Precision::exact);
    const Difference exact = difference(volume_of(c.geometry, lines, "cuda", Precision::exact), cpu);
    const Difference fast = difference(volume_of(c.geometry, lines, "cuda", Precision::fast), cpu);
    const Difference half = difference(volume_of(c.geometry, lines, "cuda", Precision::half), cpu);
    std::printf("%-52s exact %.1e %.1e  fast %.1e %.1e  half %.1e %.1e\n", c.name.c_str(), exact.rms, exact.largest,
                fast.rms, fast.largest, half.rms, half.largest);
    EXPECT_TRUE(exact.rms <= 1e-5 && exact.largest <= 1e-4) << c.name;
    EXPECT_TRUE(fast.rms <= 2e-3 && fast.largest <= 5e-3) << c.name;
    EXPECT_TRUE(half.rms <= 2e-3 && half.largest <= 5e-3) << c.name;
  }
}

TEST(DeviceSweep, CubicInterpolationIsTheSameAsOnTheCpu) {
  NEED_DEVICE();
  const ScanGeometry g = cases().front().geometry;
  const std::vector<float> lines = lines_of(g);
  const std::vector<float> cpu = volume_of(g, lines, "cpu", Precision::exact, "0", Interpolation::cubic);
  for (const Precision p : {Precision::exact, Precision::half}) {
    const Difference d = difference(volume_of(g, lines, "cuda", p, "0", Interpolation::cubic), cpu);
    EXPECT_TRUE(d.rms <= 1e-5 && d.largest <= 1e-4) << d.rms << " " << d.largest;
  }
}

TEST(DeviceSweep, LogicalDevicesGiveTheSameBits) {
  NEED_DEVICE();
  for (const Case& c : cases()) {
    const std::vector<float> lines = lines_of(c.geometry);
    const std::vector<float> one = volume_of(c.geometry, lines, "cuda", Precision::half);
    for (const char* devices : {"0,0", "0,0,0", "0,0,0,0"})
      EXPECT_EQ(volume_of(c.geometry, lines, "cuda", Precision::half, devices), one) << c.name << ", " << devices;
  }
}

// Frames from a reader (not in memory), so that the page-locked buffers are at work, written through a writer that
// takes slices in order.
class Reader : public FrameSource {
public:
  Reader(const ScanGeometry& g, const std::vector<float>& lines) : memory_(g, lines.data()) {}
  std::int64_t columns() const override { return memory_.columns(); }
  std::int64_t rows() const override { return memory_.rows(); }
  std::int64_t frames() const override { return memory_.frames(); }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t frame) const override { return memory_.name(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    memory_.read_native(frame, row0, row1, out);
  }

private:
  MemoryFrames memory_;
};

class AnyOrder final : public VolumeWriter {
public:
  void write(std::int64_t z0, std::int64_t z1, const float* slices) override {
    const std::int64_t slice = grid.nx * grid.ny;
    std::copy(slices, slices + (z1 - z0) * slice, voxels.begin() + z0 * slice);
  }
  void finish(const std::string&) override {}
  std::vector<float> voxels = std::vector<float>(static_cast<std::size_t>(grid.voxels()), std::nanf(""));
};

TEST(DeviceSweep, AnyAmountOfMemoryGivesTheSameBits) {
  NEED_DEVICE();
  const ScanGeometry g = cases().front().geometry;
  const std::vector<float> lines = lines_of(g);
  const Reader frames(g, lines);
  ThreadPool threads;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  std::vector<std::vector<float>> volumes;
  const std::vector<float> in_memory = volume_of(g, lines, "cuda", Precision::fast);
  std::set<std::int64_t> pixels;
  bool resident = false, streamed = false;
  const std::vector<std::pair<double, const char*>> limits{{1000, "0"}, {70, "0"},    {66.5, "0"},  {65.5, "0"},
                                                           {65, "0"},   {140, "0,0"}, {131, "0,0"}, {67, "0,0"}};
  for (const auto& [mib, devices] : limits) {
    FdkSetup setup;
    setup.geometry = g;
    setup.grid = grid;
    setup.field_of_view_mask = false;
    setup.frame_pixel_bytes = 4;
    const auto limit = static_cast<std::int64_t>(mib * 0x1p20);
    const Devices cards = open_devices(compute_on("cuda", devices, Precision::fast, limit), threads);
    try {
      const std::int64_t free_before = cuda::memory_info().free_bytes;
      Fdk fdk(setup, cards, threads);
      RowAudit audit(frames, {});
      AnyOrder writer;
      fdk.run({&frames, &audit}, writer, context);
      const std::int64_t taken = free_before - cuda::memory_info().free_bytes;
      std::printf("limit %.1f MiB, devices %s: %s, %zu slabs, planned %.1f MiB, taken %.1f MiB\n", mib, devices,
                  fdk.plan().kind == PlanKind::resident_views ? "resident" : "streamed", fdk.plan().slabs.size(),
                  static_cast<double>(fdk.plan().device.total()) / 0x1p20, static_cast<double>(taken) / 0x1p20);
      EXPECT_LE(taken, limit);
      pixels.insert(audit.pixels());
      EXPECT_LE(fdk.plan().device.total(), fdk.plan().device.limit);
      (fdk.plan().kind == PlanKind::resident_views ? resident : streamed) = true;
      volumes.push_back(writer.voxels);
      EXPECT_EQ(volumes.back(), in_memory) << mib;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
    }
  }
  EXPECT_EQ(pixels.size(), 1U) << "a row that is read again counts once";
  EXPECT_TRUE(resident);
  EXPECT_TRUE(streamed);
  EXPECT_GE(volumes.size(), 5U);
}

// Somebody else takes the card's memory after the plan was made: what is left must do, and it gives the same volume.
// How much the driver itself takes differs from card to card, so memory is given back piece by piece until it is
// enough; the views are large beside a piece, so that the first plan that fits is a small one.
TEST(DeviceSweep, AnAllocationThatFailsMakesThePlanSmaller) {
  NEED_DEVICE();
  CircularScan scan = cone(120, 360);
  scan.columns *= 6;
  scan.rows *= 6;
  scan.pixel_width_mm = scan.pixel_height_mm = 1.0 / 6;
  const ScanGeometry g = build_scan(scan);
  const std::vector<float> lines = lines_of(g);
  const Reader frames(g, lines);
  ThreadPool threads;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  FdkSetup setup;
  setup.geometry = g;
  setup.grid = grid;
  setup.field_of_view_mask = false;
  setup.frame_pixel_bytes = 4;
  const auto card = [&](std::int64_t limit) {
    return open_devices(compute_on("cuda", "0", Precision::fast, limit), threads);
  };
  const Devices free_card = card(0);
  const std::vector<float> expected = volume_of(g, lines, "cuda", Precision::fast);
  const std::int64_t planned = Fdk(setup, free_card, threads).plan().device.total();
  const Devices cards = card(planned);  // from here on the plan does not look at what is free

  constexpr std::int64_t piece = std::int64_t{8} << 20;
  std::vector<cuda::DeviceBuffer<unsigned char>> others;
  others.emplace_back(cuda::memory_info().free_bytes - planned);
  try {
    while (cuda::memory_info().free_bytes > piece) others.emplace_back(piece);
  } catch (const Error&) {  // what is left is in smaller parts
  }
  for (bool done = false; !done;) {
    Fdk fdk(setup, cards, threads);
    RowAudit audit(frames, {});
    AnyOrder writer;
    try {
      fdk.run({&frames, &audit}, writer, context);
      done = true;
      std::printf("planned %.1f MiB, then %.1f MiB\n", static_cast<double>(planned) / 0x1p20,
                  static_cast<double>(fdk.plan().device.total()) / 0x1p20);
      EXPECT_LT(fdk.plan().device.total(), planned);
      EXPECT_EQ(writer.voxels, expected);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::memory) << error.what();
      ASSERT_GT(others.size(), 1U) << "the planned memory itself was not enough: " << error.what();
      others.pop_back();
    }
  }
}

// A device that dies in the middle, here of an illegal instruction, ends the run with one error that says so. In a
// process of its own: nothing else can use the device afterwards.
TEST(DeviceSweepDeathTest, ADeviceThatIsLostIsSaid) {
  NEED_DEVICE();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto lose_the_device = [] {
    const ScanGeometry g = cases().front().geometry;
    const std::vector<float> lines = lines_of(g);
    struct Killer final : Reader {
      using Reader::Reader;
      void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
        if (frame == 7) launch_trap();
        Reader::read_native(frame, row0, row1, out);
      }
    };
    const Killer frames(g, lines);
    ThreadPool threads;
    CancelFlag never;
    Progress silent;
    Context context{threads, never, silent};
    FdkSetup setup;
    setup.geometry = g;
    setup.grid = grid;
    setup.frame_pixel_bytes = 4;
    const Devices cards = open_devices(compute_on("cuda"), threads);
    Fdk fdk(setup, cards, threads);
    RowAudit audit(frames, {});
    AnyOrder writer;
    try {
      fdk.run({&frames, &audit}, writer, context);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::_Exit(error.kind() == ErrorKind::internal ? 3 : 4);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(lose_the_device(), testing::ExitedWithCode(3), "device");
}

TEST(DeviceSweep, ADeviceThatDoesNotExistIsNamed) {
  NEED_DEVICE();
  const ScanGeometry g = cases().front().geometry;
  try {
    volume_of(g, lines_of(g), "cuda", Precision::half, "77");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("77"), std::string::npos);
  }
}

// What is not a number in a frame is counted and refused, as on the CPU.
TEST(DeviceSweep, BadPixelsAreRefused) {
  NEED_DEVICE();
  const ScanGeometry g = cases().front().geometry;
  std::vector<float> lines = lines_of(g);
  lines[static_cast<std::size_t>(g.columns * g.rows * 7 + g.columns * 35 + 40)] = std::nanf("");
  try {
    volume_of(g, lines, "cuda", Precision::exact);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("view 7"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lepus
