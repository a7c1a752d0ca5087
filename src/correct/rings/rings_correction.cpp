// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/rings_correction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/format.h"
#include "correct/filters/filter_correction.h"
#include "correct/rings/choose_method.h"
#include "device/host/band_kernels/rings.h"
#include "filter/view_arcs.h"
#include "geometry/camera.h"

namespace lepus {
namespace {

std::string with_iterations(const RingOptions& options) {
  return name_of(options.method) + (options.iterations == 1 ? "" : format(", {} times", options.iterations));
}

class Rings final : public Correction {
public:
  explicit Rings(std::optional<RingOptions> options, std::string chosen = {})
      : options_(options), chosen_(std::move(chosen)) {}

  bool needs_all_views() const override { return options_.has_value(); }
  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return options_ ? rings_scratch_bytes(largest.sinograms(largest.rows), *options_, threads) : 0;
  }
  BandOperation operation() const override { return BandOperation::rings; }
  bool works_with(const BandKernels& kernels, const SinogramBand& band) const override {
    return !options_ || Correction::works_with(kernels, band);
  }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    if (options_) queue.device().band_kernels().remove_rings(band.sinograms(wanted), *options_, queue);
  }
  std::string summary() const override {
    if (!options_) return "nothing taken out" + chosen_;
    return format("rings taken out by the method {}{}", with_iterations(*options_), chosen_);
  }

private:
  std::optional<RingOptions> options_;  // none: the scan is best left as it is
  std::string chosen_;                  // how, where it was automatic
};

// Sinograms spread over the detector, one after the other.
class SampledRows {
public:
  explicit SampledRows(const ScanFacts& facts)
      : columns_(facts.columns), views_(facts.views), count_(std::min<std::int64_t>(facts.rows, 5)) {
    const std::int64_t size = columns_ * views_;
    values_ = Buffer<float>(count_ * size);
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::int64_t row = (2 * i + 1) * facts.rows / (2 * count_);
      const Buffer<float> one = facts.band({row, row + 1});
      std::copy_n(one.data(), size, values_.data() + i * size);
    }
    // A speck on the detector is a few rows high, and a stripe in all of them.
    constexpr std::int64_t speck_rows = 8;
    far_apart_ = facts.rows >= count_ * speck_rows;
    if (!facts.geometry || facts.geometry->matrices.empty()) return;
    const Vec3 axis = transform(facts.geometry->matrices.front(), {0, 0, 0});
    axis_column_ = facts.geometry->beam == Beam::parallel ? axis.x : axis.x / axis.z;
  }
  std::int64_t count() const { return count_; }
  Planes planes() { return {values_.data(), columns_, views_, columns_, count_, columns_ * views_}; }
  rings::RingSample sample() { return {planes(), far_apart_, axis_column_}; }
  bool finite() const {
    return std::all_of(values_.begin(), values_.end(), [](float v) { return std::isfinite(v); });
  }

private:
  std::int64_t columns_, views_, count_;
  Buffer<float> values_;
  bool far_apart_ = false;
  std::optional<double> axis_column_;
};

// Over less than half a turn much of an object stays in its columns, as rings do.
bool below_half_a_turn(const ScanGeometry* geometry) {
  if (!geometry) return false;
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry->views(); ++view)
    angles.push_back(view_angle_rad(camera_of(*geometry, view)));
  constexpr double rounding = 1e-6;
  return view_arcs(angles, 2 * pi).covered < pi - rounding;
}

std::unique_ptr<Correction> chosen_rings(const ScanFacts& facts, const RingOptions& options, ThreadPool& threads) {
  if (!facts.band)
    refuse("rings", "method \"auto\" cannot look at the scan here", "rows are not available before the scan is read",
           "name a method");
  if (below_half_a_turn(facts.geometry)) {
    const char* const why = "the views cover less than half a turn, so that rings cannot be told from the object";
    warn(facts, format("nothing is taken out: {}; name a method to do it all the same", why));
    return std::make_unique<Rings>(std::nullopt, format(": {}", why));
  }
  SampledRows rows(facts);
  if (!rows.finite())
    refuse("rings", "the rows on which a method is chosen hold values that are not numbers", "",
           "put a correction that replaces dead pixels before this one, or name a method");
  const RingChoice choice = choose_ring_method(rows.sample(), options, threads);
  std::string tried;
  for (std::size_t i = 0; i < choice.trials.size(); ++i) {
    const RingTrial& t = choice.trials[i];
    if (i + 1 < choice.trials.size() && choice.trials[i + 1].options.method == t.options.method) continue;
    tried += format("{}{}: {:.1f} dB, change {:.2f} %, disturbed {:.2f} %", tried.empty() ? "" : "; ",
                    with_iterations(t.options), t.verdict.left_db, 100 * t.verdict.change, 100 * t.verdict.disturbed);
  }
  if (choice.broken_columns > 0) tried += format("; broken columns: {}", choice.broken_columns);
  if (choice.options)
    return std::make_unique<Rings>(choice.options, format(", chosen on {} rows ({})", rows.count(), tried));
  if (choice.refused)
    warn(facts,
         format("there are rings, but every method that lessens them would disturb the object by more than {:g} % "
                "({}): nothing is taken out; name a method to do it all the same, or give smaller windows",
                100 * maximum_disturbed, tried));
  const std::string how = tried.empty() ? "" : format(" ({})", tried);
  return std::make_unique<Rings>(std::nullopt, format(": {}, seen on {} rows{}", choice.why_none, rows.count(), how));
}

// combined bridges the columns that it takes for broken.
void judge_broken_columns(const ScanFacts& facts, const RingOptions& options, double maximum_share,
                          ThreadPool& threads) {
  if (!facts.band) return;
  SampledRows rows(facts);
  const Planes planes = rows.planes();
  std::vector<unsigned char> masks(static_cast<std::size_t>(planes.count * planes.width));
  rings::find_broken_columns(planes, options, masks.data(), threads);
  const std::string warning = judge_replaced(
      {.correction = "rings", .maximum_share = maximum_share, .what_to_do = "raise snr, or take another method"},
      rings::count_broken(masks.data(), planes.count, planes.width), "columns");
  if (!warning.empty()) warn(facts, warning);
}

RingOptions ring_options(const RingsOptions& given, const ScanFacts& facts) {
  const bool automatic = !given.method;
  RingOptions options = default_windows(facts.columns);
  options.method = given.method.value_or(RingMethod::trend);
  options.iterations = given.iterations.value_or(automatic ? 0 : 1);
  options.relative = facts.stage == Stage::grey_levels;
  options.filter = given.filter;
  options.radius = given.radius.value_or(options.radius);
  options.sigma = given.sigma.value_or(static_cast<double>(options.radius) / 3);
  options.wavelet = given.wavelet;
  options.levels = given.levels.value_or(options.levels);
  options.damping_sigma = given.damping_sigma;
  options.snr = given.snr;
  options.small_size = given.small_size.value_or(options.small_size);
  options.large_size = given.large_size.value_or(options.large_size);
  if (automatic || options.method == RingMethod::trend) {
    double range = given.value_range;
    if (range <= 0) range = options.filter == FilterKind::bilateral ? value_range("rings", facts) : 1;
    options.sigma_value = given.sigma_value * range;
  }
  return options;
}

}  // namespace

std::unique_ptr<Correction> make_rings(const RingsOptions& given, const ScanFacts& facts) {
  if (given.filter != FilterKind::bilateral && given.filter != FilterKind::median)
    refuse("rings", "a filter that does not keep edges", "the trend must keep them", "use bilateral or median");
  const RingOptions options = ring_options(given, facts);
  std::optional<ThreadPool> own;
  ThreadPool& threads = facts.threads ? *facts.threads : own.emplace(1);
  if (!given.method) return chosen_rings(facts, options, threads);
  check_rings(options, facts.columns, facts.views);
  if (options.method == RingMethod::combined) judge_broken_columns(facts, options, given.maximum_share, threads);
  return std::make_unique<Rings>(options);
}

}  // namespace lepus
