// SPDX-License-Identifier: Apache-2.0
// Whole reconstructions on an OpenCL device: the volume of the CPU for every kind of scan, and the same bits for every
// amount of device memory and number of workers.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <set>

#include "opencl_fixture.h"
#include "run/fdk.h"
#include "run/memory_io.h"
#include <lepus/error.h>
#include <lepus/reconstruct.h>

namespace lepus::opencl {
namespace {

CircularScan cone(std::int64_t views, double arc_deg) {
  CircularScan scan;
  scan.source_axis_mm = 200;
  scan.source_detector_mm = 300;
  scan.columns = 61;
  scan.rows = 45;
  scan.pixel_width_mm = scan.pixel_height_mm = 1.5;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(radians(arc_deg * static_cast<double>(i) / static_cast<double>(views)));
  return scan;
}

std::vector<float> lines_of(const ScanGeometry& g) {
  const std::int64_t columns = g.recorded_on_arc ? g.recorded_on_arc->columns : g.columns;
  const std::int64_t rows = g.recorded_on_arc ? g.recorded_on_arc->rows : g.rows;
  std::vector<float> lines(static_cast<std::size_t>(columns * rows * g.views()));
  std::uint32_t state = 5;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    const double across =
        std::abs(static_cast<double>(static_cast<std::int64_t>(i) % columns) / static_cast<double>(columns) - 0.5);
    lines[i] = across > 0.35 ? 0.0f : static_cast<float>(2 * std::cos(4 * across) + 0.02 * (state >> 8) * 0x1p-24);
  }
  return lines;
}

const VolumeGrid fdk_grid = centred_grid(33, 32, 41, {1.3, 1.3, 1.1});

std::vector<float> volume_of(const ScanGeometry& g, const std::vector<float>& lines, const Compute& compute) {
  std::vector<float> volume(static_cast<std::size_t>(fdk_grid.voxels()), std::numeric_limits<float>::quiet_NaN());
  FdkOptions options;
  options.compute = compute;
  fdk(g, lines, fdk_grid, volume, options);
  return volume;
}

double rms_difference(const std::vector<float>& a, const std::vector<float>& reference) {
  double sum = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double r = reference[i], d = static_cast<double>(a[i]) - r;
    sum += d * d;
    norm += r * r;
  }
  return std::sqrt(sum / norm);
}

// Both sides filter and sum in single precision: each is within 1e-5 of the truth (tests/parity). A sampler may weigh
// with 8 bits, which err by up to 1/512 of the step between neighbouring pixels.
TEST_F(OpenclTest, whole_reconstructions_are_those_of_the_host) {
  CircularScan half_fan = cone(36, 360), tilted = cone(36, 360), arc = cone(36, 360), fan = cone(36, 225),
               parallel = cone(36, 180);
  half_fan.detector_shift_u_mm = 20;
  tilted.pitch_rad = 0.05, tilted.in_plane_rad = 0.015;
  arc.arc = true;
  fan.beam = Beam::fan;
  parallel.beam = Beam::parallel;
  const std::pair<const char*, CircularScan> scans[] = {{"full turn", cone(36, 360)}, {"short scan", cone(37, 215)},
                                                        {"half-fan", half_fan},       {"tilted", tilted},
                                                        {"arc detector", arc},        {"fan", fan},
                                                        {"parallel", parallel}};
  double worst[3] = {};
  for (const auto& [name, scan] : scans) {
    const ScanGeometry g = build_scan(scan);
    const std::vector<float> lines = lines_of(g), expected = volume_of(g, lines, compute_on("cpu"));
    for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
      const double d = rms_difference(volume_of(g, lines, compute_on("opencl", "0", precision)), expected);
      EXPECT_TRUE(d <= (precision == Precision::exact ? 2e-5 : 2e-3)) << name << ": " << d;
      double& most = worst[static_cast<int>(precision)];
      most = std::max(most, d);
    }
  }
  std::printf("rms difference from the CPU, exact %.1e, fast %.1e, half %.1e\n", worst[0], worst[1], worst[2]);
}

// Limits from plenty down to what is too little, beside the 64 MiB that a plan sets aside for tables: both plans come
// up.
TEST_F(OpenclTest, every_amount_of_memory_gives_the_same_bits) {
  const ScanGeometry g = build_scan(cone(40, 215));
  const std::vector<float> lines = lines_of(g);
  ThreadPool threads(2);
  CancelFlag never;
  Progress silent;
  lepus::Context run_context{threads, never, silent};
  const auto run = [&](const std::string& devices, std::int64_t bytes, PlanKind* kind) {
    const Devices opened = open_devices(compute_on("opencl", devices, Precision::exact, bytes), threads);
    FdkSetup setup;
    setup.geometry = g;
    setup.grid = fdk_grid;
    setup.frame_pixel_bytes = sizeof(float);
    setup.memory_bytes = std::int64_t{1} << 40;
    Fdk work(setup, opened, threads);
    if (kind) *kind = work.plan().kind;
    std::vector<float> volume(static_cast<std::size_t>(fdk_grid.voxels()), std::nanf(""));
    const MemoryFrames frames(g, lines.data());
    MemoryVolume writer(fdk_grid, volume.data());
    RowAudit audit(frames, {1, 0});
    work.run({&frames, &audit}, writer, run_context);
    return volume;
  };
  const std::vector<float> whole = run("0", 0, nullptr);
  EXPECT_EQ(run("0,0", 0, nullptr), whole) << "two workers";
  std::set<PlanKind> kinds;
  bool too_little = false;
  constexpr std::int64_t tables_bytes = std::int64_t{64} << 20;
  for (std::int64_t kib = 3000; kib > 20 && !too_little; kib = kib * 2 / 3) try {
      PlanKind kind{};
      EXPECT_EQ(run("0", tables_bytes + (kib << 10), &kind), whole) << kib << " KiB";
      kinds.insert(kind);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
      too_little = true;
    }
  EXPECT_TRUE(too_little);
  EXPECT_EQ(kinds.size(), 2U);
}

}  // namespace
}  // namespace lepus::opencl
