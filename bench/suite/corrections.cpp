// SPDX-License-Identifier: Apache-2.0
// Hot pixels and rings as the scan's chain corrects them, 16-bit counts in memory to corrected line integrals in
// memory; faults are put into the scan of a ball, and what is left of them is the error. Beside them, the smoothing
// filters on sinograms.
#include <algorithm>
#include <cmath>

#include "bench/suite/known_scan.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "bench/suite/smoothing.h"
#include "core/format.h"
#include "core/memory.h"
#include "run/corrected_frames.h"
#include "scan/document.h"

namespace lepus::bench {
namespace {

enum class Fault { hot_pixels, rings };

struct CorrectionCase {
  const char* name;
  const char* toml;
  Fault fault;
  // Largest share of the faults (rms, where they are) that may be left. Measured, CPU and GPU: 0.0018 to 0.0037 of hot
  // pixels; three times as much is right. 0.14 to 0.29 of rings in air (the fewer views and rows, the more); a
  // correction that does nothing leaves 1, and 0.5 lies between the two.
  double left;
};

constexpr CorrectionCase correction_cases[] = {
    {"hot pixels", "[[correct]]\nkind = \"hot-pixels\"\n", Fault::hot_pixels, 0.01},
    {"rings", "[[correct]]\nkind = \"rings\"\n", Fault::rings, 0.5},
};

// What a faulty pixel multiplies its counts by; 1 where it is sound. The same in all views.
double gain_of(Fault fault, std::int64_t row, std::int64_t column) {
  const auto place = static_cast<std::uint32_t>(row * 4099 + column) * 0x9e3779b9u;
  if (fault == Fault::hot_pixels) return (place >> 12) % 1000 == 0 ? 0.6 : 1.0;  // one in a thousand
  return 1.0 + 0.02 * (static_cast<double>(place >> 8) * 0x1p-24 - 0.5);         // 1 % up and down
}

class FaultyScan {
public:
  FaultyScan(const Run::Views& v, Fault fault, ThreadPool& threads)
      : scan(c_arm_scan(v.columns, v.rows, v.views)), fault_(fault), counts(v.columns * v.rows * v.views) {
    fill_ball_counts(scan, ball, counts.data(), threads);
    threads.parallel_for(0, v.rows * v.views, 16, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t u = 0; u < v.columns; ++u) {
          std::uint16_t& count = counts[i * v.columns + u];
          count = static_cast<std::uint16_t>(std::lround(count * gain_of(fault, i % v.rows, u)));
        }
    });
  }

  // Over the faulty pixels of some views: rms of what is left of the fault, over the rms of the fault.
  double share_left(const FrameSource& corrected) const {
    double left = 0, before = 0;
    std::vector<float> frame(static_cast<std::size_t>(scan.columns * scan.rows));
    const auto views = static_cast<std::int64_t>(scan.angles_rad.size());
    for (const std::int64_t view : {std::int64_t{0}, views / 3, views - 1}) {
      corrected.read_native(view, 0, scan.rows, frame.data());
      for (std::int64_t v = 0; v < scan.rows; ++v)
        for (std::int64_t u = 0; u < scan.columns; ++u) {
          const double gain = gain_of(fault_, v, u);
          if (gain == 1.0) continue;
          const double truth = ball_line(scan, ball, scan.angles_rad[static_cast<std::size_t>(view)], u, v);
          if (fault_ == Fault::rings && truth > 0) continue;  // what a ball does to them is the correction's own matter
          const double d = static_cast<double>(frame[static_cast<std::size_t>(v * scan.columns + u)]) - truth;
          left += d * d;
          before += std::log(gain) * std::log(gain);
        }
    }
    return std::sqrt(left / before);
  }

  const CircularScan scan;
  const KnownBall ball;

private:
  Fault fault_;

public:
  Buffer<std::uint16_t> counts;
};

void correct_scan(Run& run, const Run::Views& v, const CorrectionCase& c, const std::string& kind) {
  const bool on_gpu = kind == "cuda";
  const FaultyScan faulty(v, c.fault, run.context.threads);
  const CountsInMemory frames(faulty.scan, faulty.counts.data());
  const Normalisation normalisation = ball_normalisation(faulty.scan);
  Scan scan;
  scan.geometry = build_scan(faulty.scan);
  scan.corrections = ScanDocument(c.toml, "bench.toml").corrections();
  const Devices devices = open_devices(run.compute_with(kind), run.context.threads);
  measure::Figure f;
  for (int repeat = 0; repeat < (run.options.quick ? 1 : 3); ++repeat) {
    CorrectionChain chain(scan, frames, &normalisation, run.context);
    RowAudit audit(frames, {});
    const CorrectedFrames corrected(frames, chain, audit,
                                    {.memory_bytes = std::int64_t{4} << 30,
                                     .scratch = {},
                                     .force = false,
                                     .threads = run.context.threads.size(),
                                     .device = on_gpu ? devices.front().get() : nullptr},
                                    run.context.cancel);
    std::vector<float> row(static_cast<std::size_t>(v.columns));
    for (std::int64_t r = 0; r < v.rows; ++r) corrected.read_native(0, r, r + 1, row.data());  // corrects its band
    f.seconds = repeat == 0 ? corrected.seconds() : std::min(f.seconds, corrected.seconds());
    if (repeat == 0) f.error = faulty.share_left(corrected);
  }
  f.group = "corrections";
  f.name = std::string(on_gpu ? "CUDA " : "CPU ") + c.name;
  f.unit = "Gpixel/s";
  f.work = 1e-9 * static_cast<double>(v.columns * v.rows * v.views);
  f.error_limit = c.left;
  f.error_of = "share of the fault that is left";
  // Rows come and go as fp32 once; on a GPU over its link, both ways at a time.
  f.limit_rate = on_gpu ? std::min(run.limits.link_up_gb_s, run.limits.link_down_gb_s) / 4 : run.limits.copy_gb_s / 8;
  f.limit = on_gpu ? "link" : "memory copy";
  f.note = v.text();
  run.add(f);
}

}  // namespace

void bench_corrections(Run& run) {
  // Few rows, but as wide and from as many views as the corrections need to tell a fault from the ball.
  constexpr Run::Views few{624, 64, 128};
  const bool quick = run.options.quick;
  for (const CorrectionCase& c : correction_cases) {
    if (run.cpu) correct_scan(run, quick ? few : Run::Views{624, 480, 128}, c, "cpu");
    if (run.gpu)
      run.unless_memory_is_short(format("{} on the GPU", c.name),
                                 [&] { correct_scan(run, quick ? few : run.gpu_views(), c, "cuda"); });
  }
  if (run.cpu) bench_filters_cpu(run);
  for (const MeasuredDevice& d : run.devices)
    run.unless_memory_is_short("smoothing filters by " + d.spoken, [&] { bench_filters_of(run, d); });
}

}  // namespace lepus::bench
