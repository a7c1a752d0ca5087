// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <cmath>
#include <fstream>
#include <map>

#include "core/format.h"
#include "measure.h"
#include "noise.h"
#include "rtk_gate.h"
#include "sharpness.h"
#include "tilts.h"

namespace lepus::accuracy {
namespace {

// A number, bold and counted where it misses its bar. Written so that NaN misses.
class Judge {
public:
  std::string below(const std::string& text, double value, double bar) { return mark(text, value <= bar); }
  std::string above(const std::string& text, double value, double bar) { return mark(text, value >= bar); }
  int missed() const { return missed_; }

private:
  std::string mark(const std::string& text, bool good) {
    if (good) return text;
    ++missed_;
    return "**" + text + "**";
  }
  int missed_ = 0;
};

std::string percent(double value) { return format("{:+.3f} %", 100 * value); }

std::string hardware(const ThreadPool& threads) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return format("{}, {} threads", line.substr(line.find(':') + 2), threads.size());
  return format("{} threads", threads.size());
}

std::string ball_table(Judge& judge, ThreadPool& threads) {
  std::string text = format(
      "### Uniform ball\n\n"
      "| phantom | beam | arc | alignment | mask | mean, mid-plane (bar {:g} %) | cupping, mid-plane (bar {:g} %) | "
      "mean, whole "
      "ball | FDK's own loss there |\n|---|---|---|---|---|---|---|---|---|\n",
      100 * ball_mean_bar, 100 * cupping_bar);
  for (const ScanCase& scan : scan_cases()) {
    const BallQuality q = measure_ball(scan, threads);
    const double ratio = ball_radius_mm(scan) / source_axis_mm(scan);
    text += format("| {}, {:g} mm | {} | {} | {} | {} | {} | {} |\n", scan.three_dimensional() ? "ball" : "disc",
                   ball_radius_mm(scan), scan.geometry(), "3 voxels inside the edge",
                   judge.below(percent(q.mean_error), std::abs(q.mean_error), ball_mean_bar),
                   judge.below(percent(q.cupping), std::abs(q.cupping), cupping_bar),
                   scan.three_dimensional() ? percent(q.whole_error) : std::string("-"),
                   scan.three_dimensional() ? percent(-ratio * ratio / 4) : std::string("-"));
  }
  return text;
}

std::string ellipsoid_table(Judge& judge, ThreadPool& threads) {
  std::string text = format(
      "\n### Ellipsoids\n\n"
      "| phantom | beam | arc | alignment | mask | integral (bar {:g} full, {:g} short) | interior rms, 3 voxels from "
      "every "
      "edge (bar "
      "{:g} %) | error of the whole {} | mid-plane PSNR | short against full scan (bar -{:g} dB) |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      integral_bar_full, integral_bar_short, 100 * interior_bar, "volume", short_scan_loss_bar_db);
  std::map<std::string, double> psnr_of_full;
  for (const ScanCase& scan : scan_cases()) {
    const EllipsoidQuality q = measure_ellipsoids(scan, threads);
    ScanCase full = scan;
    full.coverage = CoverageKind::full;
    if (scan.coverage == CoverageKind::full) psnr_of_full[full.name()] = q.mid_plane_psnr;
    const double gain = q.mid_plane_psnr - psnr_of_full[full.name()];
    text += format("| 6 ellipsoids{} | {} | within {:g} mm of the axis | {} | {} | {:.1f} % | {:.1f} dB | {} |\n",
                   scan.three_dimensional() ? "" : ", slice", scan.geometry(), measured_radius_mm,
                   judge.below(format("{:+.1e}", q.integral_error), std::abs(q.integral_error), integral_bar(scan)),
                   judge.below(format("{:.2f} %", 100 * q.interior_rms), q.interior_rms, interior_bar),
                   100 * q.whole_error, q.mid_plane_psnr,
                   scan.coverage == CoverageKind::short_scan
                       ? judge.above(format("{:+.2f} dB", gain), gain, -short_scan_loss_bar_db)
                       : std::string("-"));
  }
  return text;
}

// No bar: what the wider cone loses is FDK's own error, not ours; a row of the table above is among them.
std::string cone_table(ThreadPool& threads) {
  std::string text =
      "\n### Wider and narrower cones\n\n"
      "| phantom | beam | arc | alignment | source-axis | interior rms | the same, mid-plane | error of the whole "
      "volume "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const ScanCase& scan : cones_by_distance()) {
    const EllipsoidQuality q = measure_ellipsoids(scan, threads);
    text += format("| 6 ellipsoids | {} | {:g} mm | {:.2f} % | {:.2f} % | {:.1f} % |\n", scan.geometry(),
                   source_axis_mm(scan), 100 * q.interior_rms, 100 * q.interior_rms_mid_plane, 100 * q.whole_error);
  }
  return text;
}

std::string tilt_table(Judge& judge, ThreadPool& threads) {
  std::string text = format(
      "\n### Tilted detectors\n\n"
      "| arc | in-plane | pitch | yaw | raised | ball, mean of the mid-plane | FDK's own loss there | long cylinder, "
      "mean "
      "(bar {0:g} % for both, without FDK's loss) |\n|---|---|---|---|---|---|---|---|\n",
      100 * tilt_mean_bar);
  for (const TiltCase& tilt : tilt_cases()) {
    const TiltQuality q = measure_tilt(tilt, threads);
    text += format("| {} | {} | {} | {} |\n", tilt.geometry(),
                   judge.below(percent(q.ball_error), std::abs(q.ball_error - tilt.ball_lost_by_fdk()), tilt_mean_bar),
                   percent(tilt.ball_lost_by_fdk()),
                   judge.below(percent(q.cylinder_error), std::abs(q.cylinder_error), tilt_mean_bar));
  }
  return text;
}

std::string rtk_table(Judge& judge, ThreadPool& threads) {
  const RtkGate q = measure_rtk_gate(threads);
  return format(
      "\n### RTK's gate\n\n"
      "| phantom | geometry | mask | mean absolute error (bar {:g}) | PSNR, peak {:g} (bar {:g} dB) "
      "|\n|---|---|---|---|---|\n"
      "| Shepp-Logan x 116 mm | cone, source 20 and 15 mm off | as RTK counts: all voxels, what not every view sees "
      "set to "
      "zero | {} | {} |\n"
      "| the same | the same | only the {:.0f} % of the voxels that every view sees | {:.4f} | {:.2f} dB |\n",
      rtk_mean_error_bar, rtk_peak, rtk_psnr_bar,
      judge.below(format("{:.4f}", q.whole_mean_absolute_error), q.whole_mean_absolute_error, rtk_mean_error_bar),
      judge.above(format("{:.2f} dB", q.whole_psnr), q.whole_psnr, rtk_psnr_bar), 100 * q.seen, q.mean_absolute_error,
      q.psnr);
}

std::string sharpness_table(Judge& judge, ThreadPool& threads) {
  std::string text = format(
      "\n### Sharpness\n\n"
      "| cylinder's edge: beam, window, interpolation | MTF at 0.1, 0.25, 0.5 cycles per pixel | predicted | largest "
      "difference "
      "up to {:g} (bar {:g}) |\n|---|---|---|---|\n",
      highest_frequency, sharpness_bar);
  const auto row = [&](const std::string& name, const Sharpness& s, const std::string& verdict) {
    text += format("| {} | {:.3f}, {:.3f}, {:.3f} | {:.3f}, {:.3f}, {:.3f} | {} |\n", name, s.at(0.1), s.at(0.25),
                   s.at(0.5), s.predicted_at(0.1), s.predicted_at(0.25), s.predicted_at(0.5), verdict);
  };
  for (const SharpnessCase& which : sharpness_cases()) {
    const Sharpness s = measure_sharpness(which, 0, threads);
    row(which.name(), s, judge.below(format("{:.4f}", s.largest_error()), s.largest_error(), sharpness_bar));
  }
  const SharpnessCase plain;
  const Sharpness blurred = measure_sharpness(plain, 0.05, threads);
  row(plain.name() + ", projections blurred by (1, 18, 1)/20", blurred,
      judge.above(format("{:.4f}: must fail", blurred.largest_error()), blurred.largest_error(), 2 * sharpness_bar));
  return text;
}

std::string noise_table(Judge& judge, ThreadPool& threads) {
  std::string text = format(
      "\n### Noise\n\n"
      "| beam, window | standard deviation, 1/mm | variance against prediction (bar {:g} %) | statistical error |\n"
      "|---|---|---|---|\n",
      100 * noise_bar);
  for (const NoiseCase& which : noise_cases()) {
    const Noise n = measure_noise(which, threads);
    text += format("| {} | {:.3e} | {} | {:.2f} % |\n", which.name(), std::sqrt(n.measured),
                   judge.below(format("{:+.2f} %", 100 * n.error()), std::abs(n.error()), noise_bar),
                   100 * n.statistical_error);
  }
  return text;
}

}  // namespace

Tables make_tables(ThreadPool& threads) {
  Judge judge;
  Tables tables;
  tables.markdown = format("Measured on: {}.\n\n", hardware(threads));
  tables.markdown += ball_table(judge, threads);
  tables.markdown += ellipsoid_table(judge, threads);
  tables.markdown += cone_table(threads);
  tables.markdown += tilt_table(judge, threads);
  tables.markdown += rtk_table(judge, threads);
  tables.markdown += sharpness_table(judge, threads);
  tables.markdown += noise_table(judge, threads);
  tables.missed = judge.missed();
  return tables;
}

}  // namespace lepus::accuracy
