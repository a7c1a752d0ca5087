// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core/memory.h"
#include "device/host/band_store.h"
#include "run/fdk.h"
#include "run/memory_io.h"
#include <lepus/reconstruct.h>

namespace lepus {
namespace {

CircularScan small_scan(std::int64_t columns, std::int64_t rows, std::int64_t views) {
  CircularScan scan;
  scan.source_axis_mm = 400;
  scan.source_detector_mm = 700;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 160.0 / static_cast<double>(columns);
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return scan;
}

// Reproducible rough data: every row and pixel matters to the bits.
std::vector<float> rough_views(const ScanGeometry& geometry) {
  std::vector<float> data(static_cast<std::size_t>(geometry.views() * geometry.rows * geometry.columns));
  std::uint32_t state = 12345;
  for (float& value : data) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) * 0x1p-24F;
  }
  return data;
}

struct Run {
  std::vector<float> volume;
  Plan plan;
};

FdkSetup setup_of(const ScanGeometry& geometry, const VolumeGrid& grid, bool mask, std::int64_t memory_bytes) {
  FdkSetup setup;
  setup.geometry = geometry;
  setup.grid = grid;
  setup.field_of_view_mask = mask;
  setup.memory_bytes = memory_bytes;
  setup.frame_pixel_bytes = sizeof(float);
  return setup;
}

Run reconstruct_within(const ScanGeometry& geometry, const std::vector<float>& data, const VolumeGrid& grid,
                       int threads_count, std::int64_t memory_bytes, bool mask) {
  ThreadPool threads(threads_count);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  const Devices host = open_devices(compute_on("cpu"), threads);
  Fdk fdk(setup_of(geometry, grid, mask, memory_bytes), host, threads);
  const MemoryFrames frames(geometry, data.data());
  Run run{std::vector<float>(static_cast<std::size_t>(grid.voxels()), std::nanf("")), fdk.plan()};
  MemoryVolume writer(grid, run.volume.data());
  RowAudit audit(frames, {1, 0});
  fdk.run({&frames, &audit}, writer, context);
  return run;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Plan planned_within(const ScanGeometry& geometry, const VolumeGrid& grid, std::int64_t memory_bytes, bool mask) {
  ThreadPool threads(1);
  const Devices host = open_devices(compute_on("cpu"), threads);
  return Fdk(setup_of(geometry, grid, mask, memory_bytes), host, threads).plan();
}

// The promise of the sweep: the same bits for any slab size, plan, memory limit and number of threads. The limits run
// from plenty down to the least that works, so that both plans and many slab heights come up; each is run once.
void expect_same_bits_for_every_limit(const ScanGeometry& geometry, bool mask) {
  const std::vector<float> data = rough_views(geometry);
  const VolumeGrid grid = centred_grid(144, 144, 150, {0.5, 0.5, 0.5});
  const Run whole = reconstruct_within(geometry, data, grid, 1, std::int64_t{4} << 30, mask);
  for (const float value : whole.volume) ASSERT_TRUE(std::isfinite(value));
  std::set<PlanKind> kinds;
  std::set<std::int64_t> heights;
  std::set<std::pair<PlanKind, std::int64_t>> seen;
  int threads = 1;
  for (std::int64_t kib = 72 << 10; kib > 1 << 10; kib -= 256) {
    try {
      const std::int64_t limit = resident_bytes() + (kib << 10);  // what the process holds already is not the plan's
      const Plan plan = planned_within(geometry, grid, limit, mask);
      if (!seen.emplace(plan.kind, plan.slab_slices).second) continue;
      const Run run = reconstruct_within(geometry, data, grid, 1 + threads++ % 3, limit, mask);
      EXPECT_TRUE(same_bits(run.volume, whole.volume)) << describe(run.plan);
      kinds.insert(run.plan.kind);
      heights.insert(run.plan.slab_slices);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::memory) << error.what();
    }
  }
  EXPECT_EQ(kinds.size(), 2U);
  EXPECT_GE(heights.size(), 3U);
}

// A volume made in parts, as several processes or a restart make it. The rows of a part are read anew, so that nothing
// of what the part before held may be needed.
struct InParts {
  std::int64_t largest_slab, memory_bytes;
  std::vector<SlabRange> parts;
  std::int64_t wedges = 1;
};

std::vector<float> reconstruct_in_parts(const ScanGeometry& geometry, const std::vector<float>& data,
                                        const VolumeGrid& grid, const InParts& how) {
  ThreadPool threads(1);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  const Devices host = open_devices(compute_on("cpu"), threads);
  FdkSetup setup = setup_of(geometry, grid, true, how.memory_bytes);
  setup.largest_slab = how.largest_slab;
  Fdk fdk(setup, host, threads);
  EXPECT_LE(fdk.plan().slab_slices, how.largest_slab);
  const MemoryFrames frames(geometry, data.data());
  std::vector<float> sum(static_cast<std::size_t>(grid.voxels()), 0.0F);
  for (std::int64_t wedge = 0; wedge < how.wedges; ++wedge) {
    std::vector<float> volume(sum.size(), std::nanf(""));
    MemoryVolume writer(grid, volume.data());
    RowAudit audit(frames, {1, 0});
    auto part = how.parts.begin();
    SweepWork work;
    work.parts = [&] { return part == how.parts.end() ? std::nullopt : std::optional(*part++); };
    work.wedge = wedge;
    work.wedges = how.wedges;
    fdk.run({&frames, &audit}, writer, context, {}, work);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += volume[i];
  }
  return sum;
}

TEST(Sweep, SameBitsWhenTheVolumeIsMadeInParts) {
  CircularScan scan = small_scan(96, 90, 40);
  scan.pitch_rad = 0.02;
  const ScanGeometry geometry = build_scan(scan);
  const std::vector<float> data = rough_views(geometry);
  const VolumeGrid grid = centred_grid(80, 80, 90, {0.8, 0.8, 0.8});
  const auto whole = reconstruct_within(geometry, data, grid, 1, std::int64_t{4} << 30, true);
  for (const bool little : {false, true})
    for (const std::int64_t slab : {16, 32, 96})
      for (const std::vector<SlabRange>& parts :
           {std::vector<SlabRange>{{0, 90}}, {{0, 16}, {16, 90}}, {{48, 64}, {0, 48}, {64, 90}}}) {
        // What the process holds grows between runs, under a sanitizer by much.
        const std::int64_t memory = little ? resident_bytes() + (std::int64_t{32} << 20) : std::int64_t{4} << 30;
        EXPECT_TRUE(same_bits(reconstruct_in_parts(geometry, data, grid, {slab, memory, parts}), whole.volume))
            << "slabs of " << slab << ", " << parts.size() << " parts, " << memory << " bytes";
      }
}

TEST(Sweep, WedgesOfTheViewsAddUpToTheVolume) {
  const ScanGeometry geometry = build_scan(small_scan(96, 90, 100));
  const std::vector<float> data = rough_views(geometry);
  const VolumeGrid grid = centred_grid(80, 80, 48, {0.8, 0.8, 0.8});
  const auto whole = reconstruct_within(geometry, data, grid, 1, std::int64_t{4} << 30, true);
  float peak = 0;
  for (const float value : whole.volume) peak = std::max(peak, std::abs(value));
  for (const std::int64_t wedges : {2, 3}) {
    const auto sum =
        reconstruct_in_parts(geometry, data, grid, {32, std::int64_t{4} << 30, {{0, 32}, {32, 48}}, wedges});
    float largest = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) largest = std::max(largest, std::abs(sum[i] - whole.volume[i]));
    // Each of the few sums more rounds to half a unit in the last place of a partial sum, which is no larger than the
    // peak of a volume of rough data.
    EXPECT_LE(largest, 2e-6F * peak) << wedges << " wedges";
    EXPECT_GT(largest, 0) << "one order of summation cannot have been two";
  }
}

TEST(Sweep, SameBitsForEveryLimitOnACircularOrbit) {
  expect_same_bits_for_every_limit(build_scan(small_scan(160, 150, 48)), true);
}

TEST(Sweep, SameBitsForEveryLimitWithJitterAndTilt) {
  CircularScan scan = small_scan(150, 140, 61);
  scan.pitch_rad = 0.02;
  scan.in_plane_rad = 0.01;
  for (std::size_t i = 0; i < 61; ++i) {
    const double t = static_cast<double>(i);
    scan.perturbations.push_back(
        {{std::sin(t), std::cos(2 * t), 0}, {0, std::sin(3 * t), 0}, 0.001 * std::sin(t), 0, 0, 0});
  }
  expect_same_bits_for_every_limit(build_scan(scan), false);
}

TEST(Fdk, BallHasItsDensity) {
  CircularScan scan = small_scan(128, 96, 120);
  const ScanGeometry geometry = build_scan(scan);
  const double radius = 20, density = 0.02;
  std::vector<float> data;
  for (const double beta : scan.angles_rad)
    for (std::int64_t v = 0; v < 96; ++v)
      for (std::int64_t u = 0; u < 128; ++u) {
        const double s = (static_cast<double>(u) - 63.5) * 1.25, t = -(static_cast<double>(v) - 47.5) * 1.25;
        const Vec3 source{400 * std::sin(beta), -400 * std::cos(beta), 0};
        const Vec3 along = normalized(700 * Vec3{-std::sin(beta), std::cos(beta), 0} +
                                      s * Vec3{std::cos(beta), std::sin(beta), 0} + Vec3{0, 0, t});
        const double miss = norm(cross(source, along));
        data.push_back(static_cast<float>(miss < radius ? 2 * density * std::sqrt(radius * radius - miss * miss) : 0));
      }
  const VolumeGrid grid = centred_grid(64, 64, 8, {1, 1, 1});
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  FdkOptions options;
  options.compute = compute_on("cpu");
  fdk(geometry, data, grid, volume, options);
  double sum = 0;
  int count = 0;
  for (std::int64_t y = 0; y < 64; ++y)
    for (std::int64_t x = 0; x < 64; ++x)
      if (std::hypot(static_cast<double>(x) - 31.5, static_cast<double>(y) - 31.5) < 16) {
        sum += static_cast<double>(volume[static_cast<std::size_t>((4 * 64 + y) * 64 + x)]);
        ++count;
      }
  // The accuracy table has the tight bars; here 1 % proves that the parts are put together right.
  EXPECT_NEAR(sum / count, density, 0.01 * density);
}

// What the scan file's reader says before a run is said here, too.
TEST(Fdk, ArraysAreWarnedOfAndGridsChecked) {
  struct Heard final : Progress {
    std::string warnings;
    void warning(const std::string& message) override { warnings += message + "\n"; }
  } heard;
  CircularScan scan = small_scan(32, 16, 9);
  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) scan.angles_rad[i] = pi / 18 * static_cast<double>(i);
  const ScanGeometry geometry = build_scan(scan);
  const std::vector<float> data = rough_views(geometry);
  VolumeGrid grid = centred_grid(8, 8, 8, {1, 1, 1});
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  FdkOptions options;
  options.compute = compute_on("cpu");
  options.progress = &heard;
  fdk(geometry, data, grid, volume, options);
  EXPECT_NE(heard.warnings.find("the views cover 90.00 degrees"), std::string::npos) << heard.warnings;
  EXPECT_EQ(heard.warnings.find("not seen by every view"), std::string::npos);
  grid.origin_mm.x = 500;
  fdk(geometry, data, grid, volume, options);
  EXPECT_NE(heard.warnings.find("not seen by every view"), std::string::npos) << heard.warnings;
  grid.origin_mm.x = NAN;
  EXPECT_THROW(fdk(geometry, data, grid, volume, options), Error);
  EXPECT_THROW(fdk(geometry, data, VolumeGrid{}, volume, options), Error);
  grid = centred_grid(8, 8, 8, {1, 0, 1});
  EXPECT_THROW(fdk(geometry, data, grid, volume, options), Error);
}

class FailingFrames final : public FrameSource {
public:
  explicit FailingFrames(const ScanGeometry& geometry, std::int64_t bad) : geometry_(geometry), bad_(bad) {}
  std::int64_t columns() const override { return geometry_.columns; }
  std::int64_t rows() const override { return geometry_.rows; }
  std::int64_t frames() const override { return geometry_.views(); }
  PixelType pixel_type() const override { return PixelType::f32; }
  std::string name(std::int64_t) const override { return "frame"; }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    if (frame == bad_)
      throw Error(ErrorKind::input, {.what = "cannot be read", .where = "frame", .why = {}, .hint = {}});
    std::memset(out, 0, static_cast<std::size_t>((row1 - row0) * columns()) * sizeof(float));
  }

private:
  const ScanGeometry& geometry_;
  std::int64_t bad_;
};

class FailingVolume final : public VolumeWriter {
public:
  void write(std::int64_t z0, std::int64_t, const float*) override {
    if (z0 > 0) throw Error(ErrorKind::disk, {.what = "disk is full", .where = {}, .why = {}, .hint = {}});
  }
  void finish(const std::string&) override {}
};

ErrorKind failure_of(const FrameSource& frames, const ScanGeometry& geometry, VolumeWriter& writer,
                     CancelFlag& cancel) {
  ThreadPool threads(2, &cancel);
  Progress silent;
  Context context{threads, cancel, silent};
  const VolumeGrid grid = centred_grid(96, 96, 96, {0.8, 0.8, 0.8});
  const Devices host = open_devices(compute_on("cpu"), threads);
  Fdk fdk(setup_of(geometry, grid, true, std::int64_t{1} << 30), host, threads);
  RowAudit audit(frames, {1, 0});
  try {
    fdk.run({&frames, &audit}, writer, context);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

// Nothing in the library is shared between two calls but what is locked.
TEST(Sweep, TwoReconstructionsAtOnceGiveTheBitsOfOneAfterTheOther) {
  struct Job {
    ScanGeometry geometry;
    std::vector<float> data;
    VolumeGrid grid;
    std::vector<float> volume() const {
      std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()));
      FdkOptions options;
      options.compute = compute_on("cpu");
      options.compute.threads = 2;
      fdk(geometry, data, grid, voxels, options);
      return voxels;
    }
  };
  const ScanGeometry full = build_scan(small_scan(48, 40, 36));
  CircularScan other = small_scan(56, 32, 40);
  other.detector_shift_u_mm = 8;
  other.in_plane_rad = 0.03;  // resampled, half-fan: another filter and another kernel
  const ScanGeometry shifted = build_scan(other);
  const Job jobs[] = {{full, rough_views(full), centred_grid(40, 40, 24, {1, 1, 1})},
                      {shifted, rough_views(shifted), centred_grid(32, 36, 20, {1, 1, 1})}};
  const std::vector<float> first = jobs[0].volume(), second = jobs[1].volume();
  for (int round = 0; round < 3; ++round) {
    std::vector<float> at_once[2];
    {
      std::jthread one([&] { at_once[0] = jobs[0].volume(); }), two([&] { at_once[1] = jobs[1].volume(); });
    }
    EXPECT_TRUE(same_bits(at_once[0], first));
    EXPECT_TRUE(same_bits(at_once[1], second));
  }
}

TEST(Sweep, PassesOnWhatTheReaderThrows) {
  const ScanGeometry geometry = build_scan(small_scan(96, 80, 40));
  std::vector<float> volume(96 * 96 * 96);
  MemoryVolume writer(centred_grid(96, 96, 96, {1, 1, 1}), volume.data());
  CancelFlag never;
  EXPECT_EQ(failure_of(FailingFrames(geometry, 23), geometry, writer, never), ErrorKind::input);
}

TEST(Sweep, PassesOnWhatTheWriterThrows) {
  const ScanGeometry geometry = build_scan(small_scan(96, 80, 40));
  FailingVolume writer;
  CancelFlag never;
  EXPECT_EQ(failure_of(FailingFrames(geometry, -1), geometry, writer, never), ErrorKind::disk);
}

TEST(Sweep, StopsSoonAfterItIsCancelled) {
  const ScanGeometry geometry = build_scan(small_scan(96, 80, 40));
  std::vector<float> volume(96 * 96 * 96);
  MemoryVolume writer(centred_grid(96, 96, 96, {1, 1, 1}), volume.data());
  CancelFlag flag;
  flag.cancel();
  EXPECT_EQ(failure_of(FailingFrames(geometry, -1), geometry, writer, flag), ErrorKind::cancelled);
}

TEST(BandStore, KeepsSharedRowsAsTheWindowMoves) {
  const auto value = [](std::int64_t row, std::int64_t column) { return static_cast<float>(1000 * row + column); };
  BandStore store(1, 5, 48);
  RowBand held;
  for (const RowBand wanted : {RowBand{0, 20}, RowBand{13, 40}, RowBand{30, 60}, RowBand{20, 45}, RowBand{90, 95}}) {
    store.turn_to(0, wanted, false);
    for (const RowBand& part : missing_rows(held, wanted)) {
      std::vector<float> rows;
      for (std::int64_t r = part.first; r < part.last; ++r)
        for (std::int64_t c = 0; c < 5; ++c) rows.push_back(value(r, c));
      store.put(0, part, rows.data());
    }
    held = wanted;
    const ViewBand band = store.band(0);
    for (std::int64_t c = 0; c < 5; ++c)
      for (std::int64_t r = wanted.first; r < wanted.last; ++r)
        ASSERT_EQ(band.data[c * 48 + (r - band.first_row)], value(r, c)) << r << " " << c;
  }
}

}  // namespace
}  // namespace lepus
