// SPDX-License-Identifier: Apache-2.0
// The whole FDK on a GPU, host to host: 16-bit frames in page-locked memory to a volume in page-locked memory, and
// filtered views to a volume. A ball stands on the axis, so that every view is the same picture; its density in the
// volume is checked before any time counts. Times are of runs after the first (the first also takes memory and loads
// kernels; it is printed beside them).
#include "cuda_fdk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include "device/cuda/device_memory.h"
#include "device/cuda/devices.h"
#include "device/precision_word.h"
#include "bench/suite/known_scan.h"
#include "core/format.h"
#include "run/corrected_frames.h"
#include "run/sweep.h"
#include "run/fdk.h"
#include "run/memory_io.h"
#include "scan/document.h"
#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus::bench {
namespace {

constexpr double source_axis_mm = 750, source_detector_mm = 1200;
constexpr KnownBall ball_on_axis{{0, 0, 0}, 55, 0.02};

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Line integrals of a ball on the axis: the same in every view.
std::vector<float> ball_view(const CircularScan& scan) {
  std::vector<float> lines;
  for (std::int64_t v = 0; v < scan.rows; ++v)
    for (std::int64_t u = 0; u < scan.columns; ++u)
      lines.push_back(static_cast<float>(ball_line(scan, ball_on_axis, 0, u, v)));
  return lines;
}

template <class Pixel>
class PinnedFrames final : public FrameSource {
public:
  PinnedFrames(const CircularScan& scan, const std::vector<Pixel>& view, PixelType type)
      : columns_(scan.columns),
        rows_(scan.rows),
        views_(static_cast<std::int64_t>(scan.angles_rad.size())),
        type_(type),
        pixels_(columns_ * rows_ * views_) {
    for (std::int64_t i = 0; i < views_; ++i)
      std::copy(view.begin(), view.end(), pixels_.data() + i * columns_ * rows_);
  }
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return views_; }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t frame) const override { return format("view {} in memory", frame); }
  const void* in_memory(std::int64_t frame, std::int64_t row0) const override {
    return pixels_.data() + (frame * rows_ + row0) * columns_;
  }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    std::memcpy(out, in_memory(frame, row0), static_cast<std::size_t>((row1 - row0) * columns_) * sizeof(Pixel));
  }

private:
  std::int64_t columns_, rows_, views_;
  PixelType type_;
  cuda::PinnedBuffer<Pixel> pixels_;
};

struct Timing {
  double first = 0, best = 1e9, filter = 0, backproject = 0;
  std::string plan = {};
};

std::string words(const Plan& plan) {
  return format("{}, {} slabs", plan.kind == PlanKind::resident_views ? "resident" : "streamed", plan.slabs.size());
}

template <class Run>
Timing timed(const Run& run, int repeats) {
  Timing t;
  t.first = seconds_of([&] { run(); });
  for (int i = 0; i < repeats; ++i) {
    SweepTimes times;
    const double seconds = seconds_of([&] { times = run(); });
    if (seconds < t.best) t = {t.first, seconds, times.filter_s, times.backproject_s, {}};
  }
  return t;
}

struct Problem {
  std::string name;
  std::int64_t size, columns, rows, views;
  double pixel_mm, voxel_mm;
  double bar_half, bar_fast;  // seconds
};

void say(nlohmann::json& rows, const std::string& what, const Timing& t, double found, double bar) {
  const bool right = std::abs(found - 1) <= density_limit;
  std::printf("%-46s %7.4f s (first run %.3f s; on the device: filter %.4f, sum %.4f; %s), density %.4f%s%s\n",
              what.c_str(), t.best, t.first, t.filter, t.backproject, t.plan.c_str(), found, right ? "" : "  WRONG",
              bar > 0 ? format(", bar {:.2f} s{}", bar, t.best <= bar ? "" : "  MISSED").c_str() : "");
  std::fflush(stdout);
  rows.push_back({{"what", what},
                  {"seconds", t.best},
                  {"first_run_seconds", t.first},
                  {"filter_seconds", t.filter},
                  {"backproject_seconds", t.backproject},
                  {"density", found},
                  {"right", right},
                  {"bar_seconds", bar}});
}

std::vector<std::uint16_t> ball_counts(const CircularScan& scan) {
  std::vector<std::uint16_t> counts;
  for (const float line : ball_view(scan))
    counts.push_back(static_cast<std::uint16_t>(std::lround(known_open_beam * std::exp(-static_cast<double>(line)))));
  return counts;
}

Normalisation open_beam(const Problem& p) {
  Normalisation open;
  open.columns = p.columns;
  open.rows = p.rows;
  open.log_i0_everywhere = static_cast<float>(std::log(known_open_beam));
  return open;
}

void whole_fdk(const Problem& p, nlohmann::json& rows, ThreadPool& threads) {
  const CircularScan scan = common_scan(p.columns, p.rows, p.views, p.pixel_mm);
  const PinnedFrames<std::uint16_t> frames(scan, ball_counts(scan), PixelType::u16);
  const VolumeGrid grid = centred_grid(p.size, p.size, p.size, {p.voxel_mm, p.voxel_mm, p.voxel_mm});
  const cuda::PinnedBuffer<float> volume(grid.voxels());
  const Normalisation open = open_beam(p);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  const auto measure = [&](const std::string& devices, Precision precision, std::int64_t device_memory) {
    FdkSetup setup;
    setup.geometry = build_scan(scan);
    setup.grid = grid;
    setup.frames_in_memory = true;
    setup.field_of_view_mask = false;
    const Devices cards = open_devices(compute_on("cuda", devices, precision, device_memory), threads);
    Fdk fdk(setup, cards, threads);
    RowAudit audit(frames, {});
    std::memset(volume.data(), 0xff, static_cast<std::size_t>(volume.bytes()));
    Timing t = timed(
        [&] {
          MemoryVolume sink(grid, volume.data());
          return fdk.run({&frames, &audit, &open}, sink, context);
        },
        5);
    t.plan = words(fdk.plan());
    return t;
  };
  const auto row = [&](const std::string& what, const Timing& t, double bar) {
    say(rows, p.name + ", " + what, t, density_found(volume.data(), grid, ball_on_axis), bar);
  };
  row("half", measure("0", Precision::half, 0), p.bar_half);
  if (p.bar_fast <= 0) return;
  row("fast", measure("0", Precision::fast, 0), p.bar_fast);
  row("exact", measure("0", Precision::exact, 0), 0);
  row("half, 2 logical devices", measure("0,0", Precision::half, 0), 0);
  row("half, 4 logical devices", measure("0,0,0,0", Precision::half, 0), 0);
  // Makes about eight slabs of it.
  const std::int64_t small = grid.voxels() * 2 + (std::int64_t{1} << 30);
  row(format("half, {:.1f} GiB of device memory", static_cast<double>(small) / 0x1p30),
      measure("0", Precision::half, small), 0);
}

// Frames in page-locked memory through a chain of corrections, which should hide behind their way up: the way up with
// the chain and nothing else to do, and the whole with and without it.
void corrected_fdk(const Problem& p, std::int64_t slices, nlohmann::json& rows, ThreadPool& threads) {
  const CircularScan circle = common_scan(p.columns, p.rows, p.views, p.pixel_mm);
  const PinnedFrames<std::uint16_t> frames(circle, ball_counts(circle), PixelType::u16);
  const VolumeGrid grid = centred_grid(p.size, p.size, slices, {p.voxel_mm, p.voxel_mm, p.voxel_mm});
  const cuda::PinnedBuffer<float> volume(grid.voxels());
  const Normalisation open = open_beam(p);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  for (const char* const chain_text : {"", "[[correct]]\nkind = \"hot-pixels\"\n", "[[correct]]\nkind = \"rings\"\n",
                                       "[[correct]]\nkind = \"hot-pixels\"\n[[correct]]\nkind = \"rings\"\n"}) {
    Scan scan;
    scan.geometry = build_scan(circle);
    scan.recorded = {p.columns, p.rows, p.views, PixelType::u16};
    scan.selection.rows = p.rows;
    scan.corrections = ScanDocument(chain_text, "bench.toml").corrections();
    const Devices cards = open_devices(compute_on("cuda"), threads);
    CorrectionChain chain(scan, frames, &open, context);
    RowAudit audit(frames, {});
    CorrectedFrames corrected(frames, chain, audit,
                              {.memory_bytes = std::int64_t{32} << 30,
                               .scratch = {},
                               .force = false,
                               .threads = 0,
                               .device = cards.front().get(),
                               .device_bytes = 0},
                              never);
    FdkSetup setup;
    setup.geometry = scan.geometry;
    setup.grid = grid;
    setup.frames_in_memory = true;
    setup.field_of_view_mask = false;
    const bool any = !scan.corrections.empty();
    setup.frames_corrected = any;
    Fdk fdk(setup, cards, threads);
    double way_up = 1e9;
    for (int i = 0; i < 6; ++i) {
      corrected.forget();
      way_up = std::min(way_up, seconds_of([&] { (void)corrected.on_device({0, p.rows}, cards.front()->info()); }));
    }
    Timing t = timed(
        [&] {
          MemoryVolume sink(grid, volume.data());
          if (!any) return fdk.run({&frames, &audit, &open}, sink, context);
          corrected.forget();
          return fdk.run({.source = &corrected, .corrected = &corrected}, sink, context);
        },
        5);
    t.plan = words(fdk.plan()) + format("; the way up {:.1f} ms, {}", 1e3 * way_up, corrected.description());
    std::string name = p.name;
    for (const auto& spec : scan.corrections) name += ", " + spec.kind;
    say(rows, name, t, density_found(volume.data(), grid, ball_on_axis), 0);
  }
}

// The protocol of RabbitCT: filtered fp32 views up, volume down, irregular matrices.
void backprojection_only(const Problem& p, double bar, nlohmann::json& rows, ThreadPool& threads) {
  CircularScan scan = common_scan(p.columns, p.rows, p.views, p.pixel_mm);
  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) {
    ViewPerturbation wobble;
    wobble.source_mm = {0.3 * std::sin(3.0 * static_cast<double>(i)), 0.2 * std::cos(5.0 * static_cast<double>(i)), 0};
    wobble.in_plane_rad = 1e-3 * std::sin(7.0 * static_cast<double>(i));
    scan.perturbations.push_back(wobble);
  }
  const ScanGeometry geometry = build_scan(scan);
  const std::vector<float> view(static_cast<std::size_t>(p.columns * p.rows), 1.0F);
  const PinnedFrames<float> frames(scan, view, PixelType::f32);
  const VolumeGrid grid = centred_grid(p.size, p.size, p.size, {p.voxel_mm, p.voxel_mm, p.voxel_mm});
  const cuda::PinnedBuffer<float> volume(grid.voxels());
  SweepJob job;
  job.wide = &geometry;
  job.grid = grid;
  job.cylinder_mm = 1e6;
  job.from_memory = true;
  job.columns = p.columns;
  job.frame_pixel_bytes = sizeof(float);
  job.memory_bytes = std::int64_t{64} << 30;
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  for (const Precision precision : {Precision::half, Precision::fast, Precision::exact}) {
    const Devices cards = open_devices(compute_on("cuda", "0", precision), threads);
    Sweep sweep(job, cards, threads);
    Timing t = timed(
        [&] {
          MemoryVolume sink(grid, volume.data());
          return sweep.run({.source = &frames}, sink, context);
        },
        5);
    t.plan = words(sweep.plan());
    // Every view sees the middle at w = 1 with the value 1: the sum is the number of views.
    const double middle = static_cast<double>(volume.data()[(p.size / 2 * p.size + p.size / 2) * p.size + p.size / 2]);
    const char* name = precision_word(precision);
    say(rows, format("{}^3 filtered views, irregular, {}", p.size, name), t, middle / static_cast<double>(p.views),
        precision == Precision::exact ? 0 : bar);
  }
}

int run(int count, char** arguments) {
  std::string json_file;
  bool accuracy = true, large = true, only_corrected = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--json" && i + 1 < count)
      json_file = arguments[++i];
    else if (word == "--no-accuracy")
      accuracy = false;
    else if (word == "--no-large")
      large = false;
    else if (word == "--only-corrected")
      only_corrected = true;
    else {
      std::fprintf(stderr,
                   "usage: lepus_bench_cuda_fdk [--json FILE] [--no-accuracy] [--no-large] [--only-corrected]\n");
      return 2;
    }
  }
  if (const std::string why = why_unusable("cuda"); !why.empty()) {
    std::printf("skipped: no GPU can be used (%s)\n", why.c_str());
    return 0;
  }
  std::printf("%s\n", cuda::device_name(0).c_str());
  nlohmann::json rows = nlohmann::json::array();
  ThreadPool threads;
  const Problem small{"FDK 512^3, 496 views of 1248x960", 512, 1248, 960, 496, 0.32, 0.5, 0.09, 0.13};
  const Problem middle{"FDK 1024^3, 496 views of 1248x960", 1024, 1248, 960, 496, 0.32, 0.25, 0.40, 0.60};
  const Problem frames2k{"FDK 1024^3, 1440 frames of 2048^2", 1024, 2048, 2048, 1440, 0.16, 0.16, 0.75, 0};
  if (!only_corrected) {
    whole_fdk(small, rows, threads);
    backprojection_only(small, 0.11, rows, threads);
    whole_fdk(middle, rows, threads);
    backprojection_only(middle, 0.65, rows, threads);
    if (large) whole_fdk(frames2k, rows, threads);
  }
  corrected_fdk({"FDK 900^2 x 450, 360 views of 1400x450", 900, 1400, 450, 360, 0.16, 0.16, 0, 0}, 450, rows, threads);
  int missed = accuracy && !only_corrected ? accuracy_rows(rows) : 0;
  for (const auto& row : rows)
    if (row.contains("right") && !row["right"]) missed = 1;
  if (!json_file.empty())
    std::ofstream(json_file) << nlohmann::json{{"device", cuda::device_name(0)}, {"rows", rows}}.dump(2) << "\n";
  return missed;
}

}  // namespace

CircularScan common_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, double pixel_mm) {
  CircularScan scan;
  scan.source_axis_mm = source_axis_mm;
  scan.source_detector_mm = source_detector_mm;
  scan.columns = columns;
  scan.rows = rows;
  scan.pixel_width_mm = scan.pixel_height_mm = pixel_mm;
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return scan;
}

}  // namespace lepus::bench

int main(int count, char** words) {
  try {
    return lepus::bench::run(count, words);
  } catch (const lepus::Error& error) {
    std::fprintf(stderr, "lepus_bench_cuda_fdk: %s\n", error.what());
    return 1;
  }
}
