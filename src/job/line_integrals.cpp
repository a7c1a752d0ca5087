// SPDX-License-Identifier: Apache-2.0
#include "job/line_integrals.h"

#include <algorithm>
#include <cmath>

#include "core/memory.h"
#include "device/device.h"
#include "run/scan_reports.h"

namespace lepus {
namespace {

ScanGeometry without_arc(ScanGeometry geometry) {
  geometry.recorded_on_arc.reset();
  return geometry;
}

}  // namespace

LineIntegrals::LineIntegrals(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                             Context& context)
    : scan_(scan),
      flat_(without_arc(scan.geometry)),
      pre_(checked_pre_pass(scan, context)),
      audit_(*pre_.frames, {scan.maximum_bad_fraction, scan.saturation_level}) {
  if (pre_.normalisation)
    audit_.watch_dark(*pre_.normalisation,
                      pre_.only_dead_pixels ? *pre_.only_dead_pixels : pre_.normalisation->unusable);
  const std::int64_t limit = host_memory_limit(options.compute);
  corrected_ = std::make_unique<CorrectedFrames>(
      *pre_.frames, *pre_.chain, audit_,
      CorrectedFramesOptions{.memory_bytes = std::max<std::int64_t>(0, limit - resident_bytes()) / 3,
                             .scratch = output,
                             .force = options.force,
                             .threads = context.threads.size(),
                             .device = nullptr,
                             .device_bytes = 0},
      context.cancel);
  recorded_.resize(static_cast<std::size_t>(pre_.frames->rows() * pre_.frames->columns()));
  if (!scan.geometry.recorded_on_arc) return;
  arc_.emplace(scan.geometry);
  std::fill(recorded_.begin(), recorded_.end(), 1.0F);
  measured_.resize(static_cast<std::size_t>(values_per_view()));
  const RowBand all{0, flat_.rows};
  arc_->apply(0, all, recorded_.data() + arc_->recorded_rows(0, all).first * pre_.frames->columns(), measured_.data());
  // Cubic taps that reach past the edge make other values than one.
  for (float& value : measured_) value = std::abs(value - 1) < 1e-3F ? 1.0F : 0.0F;
  if (std::ranges::all_of(measured_, [](float value) { return value == 1; })) measured_.clear();
}

void LineIntegrals::view(std::int64_t view, std::span<float> out) {
  if (!arc_) {
    corrected_->read_native(view, 0, flat_.rows, out.data());
    return;
  }
  const RowBand all{0, flat_.rows}, needed = arc_->recorded_rows(view, all);
  corrected_->read_native(view, needed.first, needed.last, recorded_.data());
  arc_->apply(view, all, recorded_.data(), out.data());
}

std::vector<float> LineIntegrals::relative_intensity() const {
  const Normalisation* normalisation = pre_.normalisation.get();
  if (arc_ || !normalisation || normalisation->log_i0.size() == 0) return {};
  std::vector<float> relative(static_cast<std::size_t>(values_per_view()));
  double sum = 0;
  for (std::size_t i = 0; i < relative.size(); ++i) {
    relative[i] = std::exp(normalisation->log_i0[static_cast<std::int64_t>(i)]);
    sum += relative[i];
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(relative.size()));
  for (float& value : relative) value /= mean;
  return relative;
}

std::vector<std::string> LineIntegrals::finish() {
  corrected_->finish();
  std::vector<std::string> notes = correction_lines(pre_, corrected_.get());
  corrected_.reset();
  return notes;
}

std::vector<std::string> LineIntegrals::warnings() const {
  std::vector<std::string> all = pre_.chain->warnings_of_work();
  for (std::string& warning : audit_warnings(scan_, pre_, audit_)) all.push_back(std::move(warning));
  return all;
}

void NoiseEstimate::add(std::span<const float> p, std::int64_t columns) {
  // A prime step, so that samples are spread over rows and columns; others in every view.
  constexpr std::int64_t step = 37;
  const auto n = std::ssize(p);
  for (std::int64_t i = 1 + views_++ % step; i + 1 < n; i += step) {
    const std::int64_t column = i % columns;
    if (column == 0 || column == columns - 1) continue;
    const auto at = static_cast<std::size_t>(i);
    const float bend = p[at - 1] - 2 * p[at] + p[at + 1];
    squares_.push_back(std::exp(-p[at]) * bend * bend / 6);
  }
  for (const float value : p) inverse_transmission_ += std::exp(static_cast<double>(value));
  values_ += n;
}

double NoiseEstimate::rms(bool weighted) const {
  if (squares_.empty() || values_ == 0) return 0;
  std::vector<float> sorted = squares_;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  constexpr double median_of_squares = 0.454936;  // of a normal distribution's, over its variance
  const double per_photon = *middle / median_of_squares;
  return std::sqrt(weighted ? per_photon : per_photon * inverse_transmission_ / static_cast<double>(values_));
}

}  // namespace lepus
