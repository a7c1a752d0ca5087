// SPDX-License-Identifier: Apache-2.0
#include "job/line_integrals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/format.h"
#include "core/memory.h"
#include "device/device.h"
#include "ranks/agree.h"
#include "ranks/shared_sum.h"
#include "run/rank_run.h"
#include "run/scan_reports.h"
#include "scan/sections.h"
#include <lepus/error.h>

namespace lepus {
namespace {

RowBand rows_of_rank(std::int64_t rows, const Ranks* ranks) {
  if (!ranks) return {0, rows};
  if (rows < ranks->size())
    throw Error(ErrorKind::usage, {.what = format("{} ranks for {} rows of the detector", ranks->size(), rows),
                                   .where = {},
                                   .why = "an iterative method gives each rank some of the rows",
                                   .hint = "start fewer ranks"});
  const ArrayRange share = share_of_rank(rows, ranks->rank(), ranks->size());
  return {share.first, share.last};
}

double total(double mine, Ranks* ranks) {
  if (!ranks) return mine;
  const std::vector<double> all = numbers_of_all(*ranks, mine);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

ScanGeometry without_arc(ScanGeometry geometry) {
  geometry.recorded_on_arc.reset();
  return geometry;
}

ScanGeometry with_rows(ScanGeometry geometry, RowBand rows) {
  FrameSelection selection;
  selection.first_row = rows.first;
  selection.rows = rows.size();
  if (rows.size() < geometry.rows) select_rows(geometry, selection);
  return geometry;
}

LineIntegrals::LineIntegrals(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                             Context& context)
    : scan_(scan),
      ranks_(options.ranks && !options.ranks->alone() ? options.ranks : nullptr),
      flat_(without_arc(scan.geometry)),
      part_(with_rows(flat_, rows_of_rank(flat_.rows, ranks_))),
      rows_(rows_of_rank(flat_.rows, ranks_)),
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
  if (scan.geometry.recorded_on_arc) arc_.emplace(scan.geometry);
  if (ranks_) count_own_rows();
  if (!arc_) return;
  const std::vector<float> recorded(static_cast<std::size_t>(pre_.frames->rows() * pre_.frames->columns()), 1.0F);
  const RowBand all{0, flat_.rows};
  measured_.resize(static_cast<std::size_t>(flat_.rows * flat_.columns));
  arc_->apply(0, all, recorded.data() + arc_->recorded_rows(0, all).first * pre_.frames->columns(), measured_.data());
  // Cubic taps that reach past the edge make other values than one.
  for (float& value : measured_) value = std::abs(value - 1) < 1e-3F ? 1.0F : 0.0F;
  if (std::ranges::all_of(measured_, [](float value) { return value == 1; })) measured_.clear();
  if (measured_.empty()) return;
  measured_.resize(static_cast<std::size_t>(rows_.last * flat_.columns));
  measured_.erase(measured_.begin(), measured_.begin() + rows_.first * flat_.columns);
}

// Corrections look at rows beside those that they are asked for, which then are read by two ranks.
void LineIntegrals::count_own_rows() {
  for (std::int64_t view = 0; view < flat_.views(); ++view) {
    const auto first_recorded = [&](std::int64_t row) {
      if (row == 0) return std::int64_t{0};
      if (row == flat_.rows) return pre_.frames->rows();
      return arc_ ? arc_->recorded_rows(view, {row, flat_.rows}).first : row;
    };
    audit_.count_only(view, {{first_recorded(rows_.first), first_recorded(rows_.last)}});
  }
  corrected_->expect(arc_ ? arc_->recorded_rows(0, rows_) : rows_);
}

void LineIntegrals::view(std::int64_t view, std::span<float> out) const {
  if (!arc_) {
    corrected_->read_native(view, rows_.first, rows_.last, out.data());
    return;
  }
  const RowBand needed = arc_->recorded_rows(view, rows_);
  std::vector<float> recorded(static_cast<std::size_t>(needed.size() * pre_.frames->columns()));
  corrected_->read_native(view, needed.first, needed.last, recorded.data());
  arc_->apply(view, rows_, recorded.data(), out.data());
}

void LineIntegrals::recorded_view(std::int64_t view, std::span<float> out) const {
  corrected_->read_native(view, 0, pre_.frames->rows(), out.data());
}

std::vector<float> LineIntegrals::relative_intensity() const {
  const Normalisation* normalisation = pre_.normalisation.get();
  if (!normalisation || normalisation->log_i0.size() == 0) return {};
  const Buffer<float>& recorded = normalisation->log_i0;
  double sum = 0;
  for (const float logarithm : recorded) sum += std::exp(logarithm);
  const auto mean = static_cast<float>(sum / static_cast<double>(recorded.size()));
  std::vector<float> relative(static_cast<std::size_t>(values_per_view()));
  const std::int64_t columns = pre_.frames->columns();
  if (arc_)  // as the line integrals are, which are logarithms
    arc_->apply(0, rows_, recorded.data() + arc_->recorded_rows(0, rows_).first * columns, relative.data());
  else
    std::copy_n(recorded.data() + rows_.first * columns, std::ssize(relative), relative.begin());
  for (float& value : relative) value = std::exp(value) / mean;
  return relative;
}

std::vector<std::string> LineIntegrals::finish() {
  corrected_->finish();
  if (ranks_) {
    RunState state;
    state.scan = identity_of(scan_);
    add_audits_of_others(*ranks_, std::move(state), audit_);
    if (ranks_->first()) audit_.count_for_all();
  }
  std::vector<std::string> notes = correction_lines(pre_, corrected_.get());
  corrected_.reset();
  return notes;
}

std::vector<std::string> LineIntegrals::warnings() const {
  std::vector<std::string> all = pre_.chain->warnings_of_work();
  for (std::string& warning : audit_warnings(scan_, pre_, audit_)) all.push_back(std::move(warning));
  return all;
}

NoiseEstimate::View NoiseEstimate::of_view(std::int64_t view, std::span<const float> p, std::int64_t columns,
                                           std::int64_t first) {
  View found;
  const std::int64_t n = std::ssize(p), start = 1 + view % step;  // in the whole view
  const std::int64_t skipped = first > start ? (first - start + step - 1) / step : 0;
  for (std::int64_t i = start + skipped * step - first; i < n; i += step) {
    const std::int64_t column = (first + i) % columns;
    if (column == 0 || column == columns - 1) continue;
    const auto at = static_cast<std::size_t>(i);
    const float bend = p[at - 1] - 2 * p[at] + p[at + 1];
    found.squares.push_back(std::exp(-p[at]) * bend * bend / 6);
  }
  auto& [values, inverse_sums] = found.transmission;
  for (const float value : p) {
    const auto bin = value > 0 ? static_cast<std::size_t>(std::min(value, static_cast<float>(values.size() - 1))) : 0;
    values[bin] += 1;
    inverse_sums[bin] += std::exp(static_cast<double>(value));
  }
  return found;
}

void NoiseEstimate::add(const View& view) {
  squares_.insert(squares_.end(), view.squares.begin(), view.squares.end());
  for (std::size_t bin = 0; bin < transmission_.values.size(); ++bin) {
    transmission_.values[bin] += view.transmission.values[bin];
    transmission_.inverse_sums[bin] += view.transmission.inverse_sums[bin];
  }
}

// The bits of floats at or above zero are in the order of the floats: one bit after the other is found by counting, on
// all ranks, without bringing the sample together.
float NoiseEstimate::median(Ranks* ranks) const {
  const double middle = std::floor(total(static_cast<double>(squares_.size()), ranks) / 2);
  std::uint32_t low = 0, high = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  while (low < high) {
    const std::uint32_t between = low + (high - low) / 2;
    const auto value = std::bit_cast<float>(between);
    const auto below = std::ranges::count_if(squares_, [&](float square) { return square <= value; });
    if (total(static_cast<double>(below), ranks) > middle)
      high = between;
    else
      low = between + 1;
  }
  return std::bit_cast<float>(low);
}

double NoiseEstimate::mean_inverse_transmission(Ranks* ranks) const {
  Transmission all;
  for (std::size_t bin = 0; bin < all.values.size(); ++bin) {
    all.values[bin] = total(transmission_.values[bin], ranks);
    all.inverse_sums[bin] = total(transmission_.inverse_sums[bin], ranks);
  }
  constexpr double few = 0.001;
  const double most = std::max(1.0, few * std::accumulate(all.values.begin(), all.values.end(), 0.0));
  std::size_t end = all.values.size();  // of the bins without the few largest
  for (double left_out = 0; end > 1 && (left_out += all.values[end - 1]) <= most;) --end;
  const auto sum = [](const std::array<double, 64>& bins, std::size_t first, std::size_t last) {
    return std::accumulate(bins.begin() + static_cast<std::ptrdiff_t>(first),
                           bins.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  };
  const double others = sum(all.inverse_sums, 0, end), largest = sum(all.inverse_sums, end, all.values.size());
  if (!(largest <= others)) return others / sum(all.values, 0, end);
  return (others + largest) / sum(all.values, 0, all.values.size());
}

double NoiseEstimate::rms(bool weighted, Ranks* ranks) const {
  if (total(static_cast<double>(squares_.size()), ranks) == 0) return 0;
  constexpr double median_of_squares = 0.454936;  // of a normal distribution's, over its variance
  const double per_photon = median(ranks) / median_of_squares;
  return std::sqrt(weighted ? per_photon : per_photon * mean_inverse_transmission(ranks));
}

}  // namespace lepus
