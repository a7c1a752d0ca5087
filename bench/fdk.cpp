// SPDX-License-Identifier: Apache-2.0
// The whole FDK of 256^3 voxels from 128 views of 624 x 480 pixels, 16-bit frames in memory to a volume in memory: log,
// weights, ramp filter, backprojection. The ball that was scanned must have its density before any time counts. Beside
// it, the corrections hot-pixels and rings (bilateral, radius 30) of the same scan.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/format.h"
#include "pipeline/corrected_frames.h"
#include "pipeline/fdk.h"
#include "pipeline/memory_io.h"
#include "scan/document.h"

namespace lepus::bench {
namespace {

constexpr std::int64_t detector_columns = 624, detector_rows = 480, views = 128, size = 256;
constexpr double source_axis_mm = 750, source_detector_mm = 1200, pixel_mm = 0.64, open_beam = 60000;
constexpr double ball_radius_mm = 40, ball_density = 0.02;
// Beside the axis: what turns about its own centre looks the same in all views, like a ring.
constexpr Vec3 ball_centre{18, -12, 0};

class Counts final : public FrameSource {
public:
  explicit Counts(const std::vector<double>& angles)
      : pixels_(static_cast<std::size_t>(views * detector_rows * detector_columns)) {
    std::uint16_t* out = pixels_.data();
    for (const double beta : angles)
      for (std::int64_t v = 0; v < detector_rows; ++v)
        for (std::int64_t u = 0; u < detector_columns; ++u) {
          const double s = (static_cast<double>(u) - 0.5 * (detector_columns - 1)) * pixel_mm;
          const double t = -(static_cast<double>(v) - 0.5 * (detector_rows - 1)) * pixel_mm;
          const Vec3 source = source_axis_mm * Vec3{std::sin(beta), -std::cos(beta), 0};
          const Vec3 ray = normalized(source_detector_mm * Vec3{-std::sin(beta), std::cos(beta), 0} +
                                      s * Vec3{std::cos(beta), std::sin(beta), 0} + Vec3{0, 0, t});
          const double miss = norm(cross(source - ball_centre, ray));
          const double half = ball_radius_mm * ball_radius_mm - miss * miss;
          *out++ = static_cast<std::uint16_t>(
              std::lround(open_beam * std::exp(half > 0 ? -2 * ball_density * std::sqrt(half) : 0)));
        }
  }
  std::int64_t columns() const override { return detector_columns; }
  std::int64_t rows() const override { return detector_rows; }
  std::int64_t frames() const override { return views; }
  PixelType pixel_type() const override { return PixelType::u16; }
  std::string name(std::int64_t frame) const override { return format("view {} in memory", frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    const std::uint16_t* first = pixels_.data() + (frame * detector_rows + row0) * detector_columns;
    std::copy(first, first + (row1 - row0) * detector_columns, static_cast<std::uint16_t*>(out));
  }

private:
  std::vector<std::uint16_t> pixels_;
};

// Mean of the middle slice within 0.8 of the ball's radius.
double mean_in_ball(const std::vector<float>& volume, const VolumeGrid& grid) {
  double sum = 0, count = 0;
  for (std::int64_t y = 0; y < grid.ny; ++y)
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(grid.nz / 2));
      if (norm(p - ball_centre) > 0.8 * ball_radius_mm) continue;
      sum += static_cast<double>(volume[static_cast<std::size_t>((grid.nz / 2 * grid.ny + y) * grid.nx + x)]);
      ++count;
    }
  return sum / count;
}

// The best of three, and the ball's density in a reconstruction of the corrected frames.
double seconds_of_corrections(const ScanGeometry& geometry, const VolumeGrid& grid, const Counts& frames,
                              const Normalisation& normalisation, Context& context, double& ratio) {
  Scan scan;
  scan.geometry = geometry;
  scan.corrections =
      ScanDocument("[[correct]]\nkind = \"hot-pixels\"\n[[correct]]\nkind = \"rings\"\n", "bench.toml").corrections();
  double best = 1e30;
  for (int repeat = 0; repeat < 3; ++repeat) {
    CorrectionChain chain(scan, frames, &normalisation, context);
    RowAudit audit(frames, {});
    const CorrectedFrames corrected(frames, chain, audit,
                                    {.memory_bytes = std::int64_t{4} << 30,
                                     .scratch = {},
                                     .force = false,
                                     .threads = context.threads.size(),
                                     .devices = {}},
                                    context.cancel);
    FdkSetup setup;
    setup.geometry = geometry;
    setup.grid = grid;
    setup.field_of_view_mask = false;
    setup.backend = "cpu";
    setup.memory_bytes = std::int64_t{4} << 30;
    setup.frame_pixel_bytes = sizeof(float);
    std::vector<float> row(static_cast<std::size_t>(detector_columns));
    for (std::int64_t r = 0; r < detector_rows; ++r) corrected.read_native(0, r, r + 1, row.data());
    best = std::min(best, corrected.seconds());
    if (repeat > 0) continue;
    std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
    MemoryVolume writer(grid, volume.data());
    Fdk(setup, context.threads).run({corrected}, writer, context);
    ratio = mean_in_ball(volume, grid) / ball_density;
  }
  return best;
}

int run() {
  CircularScan scan;
  scan.source_axis_mm = source_axis_mm;
  scan.source_detector_mm = source_detector_mm;
  scan.columns = detector_columns;
  scan.rows = detector_rows;
  scan.pixel_width_mm = scan.pixel_height_mm = pixel_mm;
  for (std::int64_t i = 0; i < views; ++i) scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / views);
  const ScanGeometry geometry = build_scan(scan);
  const VolumeGrid grid = centred_grid(size, size, size, {0.6, 0.6, 0.6});
  const Counts frames(scan.angles_rad);
  const Normalisation normalisation =
      normalisation_from_value(open_beam, nullptr, detector_columns, detector_rows, PixelType::u16);
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));

  std::printf("whole FDK, %lld^3 voxels from %lld views of %lldx%lld, 16-bit frames in memory to volume in memory\n\n",
              static_cast<long long>(size), static_cast<long long>(views), static_cast<long long>(detector_columns),
              static_cast<long long>(detector_rows));
  std::printf(
      "| threads | total s | filter s | backprojection s | GUPS | ball's mean / truth | hot-pixels + rings s | ball's "
      "mean "
      "/ truth |\n|---|---|---|---|---|---|---|---|\n");
  for (const int count : {1, 2, 4, 8, 16}) {
    if (count > static_cast<int>(std::thread::hardware_concurrency())) break;
    ThreadPool threads(count);
    CancelFlag never;
    Progress silent;
    Context context{threads, never, silent};
    double best = 1e30, ratio = 0;
    SweepTimes times;
    for (int repeat = 0; repeat < 5; ++repeat) {
      MemoryVolume writer(grid, volume.data());
      const auto start = std::chrono::steady_clock::now();
      FdkSetup setup;
      setup.geometry = geometry;
      setup.grid = grid;
      setup.field_of_view_mask = false;
      setup.backend = "cpu";
      setup.memory_bytes = std::int64_t{4} << 30;
      Fdk fdk(setup, threads);
      RowAudit audit(frames, {});
      const SweepTimes t = fdk.run({frames, &audit, &normalisation}, writer, context);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ratio = mean_in_ball(volume, grid) / ball_density;
      if (!(std::abs(ratio - 1) < 0.005)) {
        std::fprintf(stderr, "the ball has %.4f of its density: no time is given for a wrong result\n", ratio);
        return 1;
      }
      if (seconds < best) best = seconds, times = t;
    }
    double corrected_ratio = 0;
    const double corrections = seconds_of_corrections(geometry, grid, frames, normalisation, context, corrected_ratio);
    if (!(std::abs(corrected_ratio - 1) < 0.005)) {
      std::fprintf(stderr, "corrected, the ball has %.4f of its density\n", corrected_ratio);
      return 1;
    }
    std::printf("| %d | %.2f | %.2f | %.2f | %.2f | %.4f | %.2f | %.4f |\n", count, best, times.filter_s,
                times.backproject_s, static_cast<double>(grid.voxels() * views) / times.backproject_s / 0x1p30, ratio,
                corrections, corrected_ratio);
  }
  return 0;
}

}  // namespace
}  // namespace lepus::bench

int main() { return lepus::bench::run(); }
