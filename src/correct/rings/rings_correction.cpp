// SPDX-License-Identifier: Apache-2.0
#include "correct/rings/rings_correction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/format.h"
#include "correct/filters/filter_correction.h"
#include "correct/rings/choose_method.h"
#include "correct/rings/rings.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class Rings final : public Correction {
public:
  Rings(RingOptions options, std::string chosen) : options_(options), chosen_(std::move(chosen)) {}

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return rings_scratch_bytes(largest.sinograms(largest.rows), options_, threads);
  }
  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    remove_rings(band.sinograms(wanted), options_, threads);
  }
#if LEPUS_HAVE_CUDA
  void apply_on_device(const SinogramBand& band, RowBand wanted, cuda::Workspace& workspace) override {
    cuda::remove_rings(band.sinograms(wanted), options_, workspace);
  }
#else
  void apply_on_device(const SinogramBand&, RowBand, cuda::Workspace&) override {
    throw Error(ErrorKind::unsupported,
                {.what = "lepus was built without CUDA", .where = "rings", .why = {}, .hint = "use --backend cpu"});
  }
#endif
  std::string summary() const override {
    return format("rings taken out by the method {}{}", name_of(options_.method), chosen_);
  }

private:
  RingOptions options_;
  std::string chosen_;  // how, where it was automatic
};

int small_integer(const CorrectionSpec& spec, const std::string& name) {
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(spec, name), -1, 1 << 20));
}

// Sinograms spread over the detector, one after the other.
Buffer<float> sample_rows(const CorrectionSpec& spec, const ScanFacts& facts, std::int64_t count) {
  if (!facts.band)
    refuse(spec, "method \"auto\" cannot look at the scan here", "rows are not available before the scan is read",
           "name a method");
  const std::int64_t size = facts.columns * facts.views;
  Buffer<float> rows(count * size);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = (2 * i + 1) * facts.rows / (2 * count);
    const Buffer<float> one = facts.band({row, row + 1});
    std::copy_n(one.data(), size, rows.data() + i * size);
  }
  if (std::any_of(rows.begin(), rows.end(), [](float v) { return !std::isfinite(v); }))
    refuse(spec, "the rows on which a method is chosen hold values that are not numbers", "",
           "put a correction that replaces dead pixels before this one, or name a method");
  return rows;
}

}  // namespace

std::unique_ptr<Correction> make_rings(const CorrectionSpec& spec, const ScanFacts& facts) {
  RingOptions options = default_windows(facts.columns);
  const std::string method = text_of(spec, "method"), filter = text_of(spec, "filter");
  const bool automatic = method == "auto";
  std::optional<RingMethod> named;
  for (const RingMethod known :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined})
    if (method == name_of(known)) named = known;
  if (!automatic && !named)
    refuse(spec, format("'method' is \"{}\"", method), "lepus has no such method",
           "write \"trend\", \"wavelet-fourier\", \"sorting\", \"combined\" or \"auto\"");
  if (filter != "bilateral" && filter != "median")
    refuse(spec, format("'filter' is \"{}\"", filter), "the trend must keep edges",
           "write \"bilateral\" or \"median\"");
  options.method = named.value_or(RingMethod::trend);
  options.iterations = small_integer(spec, "iterations");
  options.relative = facts.stage == Stage::grey_levels;
  options.filter = filter == "median" ? FilterKind::median : FilterKind::bilateral;
  const auto given = [&](const char* name) { return spec.parameters.contains(name); };
  if (given("radius_px")) options.radius = integer_of(spec, "radius_px");
  options.sigma = given("sigma_px") ? number_of(spec, "sigma_px") : static_cast<double>(options.radius) / 3;
  options.wavelet = small_integer(spec, "wavelet");
  if (given("levels")) options.levels = small_integer(spec, "levels");
  options.damping_sigma = number_of(spec, "damping_sigma");
  options.snr = number_of(spec, "snr");
  if (given("small_px")) options.small_size = integer_of(spec, "small_px");
  if (given("large_px")) options.large_size = integer_of(spec, "large_px");
  if (automatic || options.method == RingMethod::trend) {
    double range = number_of(spec, "value_range");
    if (range <= 0) range = options.filter == FilterKind::bilateral ? value_range(spec, facts) : 1;
    options.sigma_value = number_of(spec, "sigma_value") * range;
  }
  try {
    if (!automatic) {
      check_rings(options, facts.columns, facts.views);
      return std::make_unique<Rings>(options, "");
    }
    const std::int64_t count = std::min<std::int64_t>(facts.rows, 5);
    Buffer<float> rows = sample_rows(spec, facts, count);
    std::optional<ThreadPool> own;
    ThreadPool& threads = facts.context ? facts.context->threads : own.emplace(1);
    const std::int64_t size = facts.columns * facts.views;
    const RingChoice choice =
        choose_ring_method({rows.data(), facts.columns, facts.views, facts.columns, count, size}, options, threads);
    std::string words;
    for (const RingTrial& t : choice.trials)
      words += format("{}{}: {:.1f} dB, change {:.2f} %", words.empty() ? "" : "; ", name_of(t.options.method),
                      t.left_db, 100 * t.change);
    return std::make_unique<Rings>(choice.options, format(", chosen on {} rows ({})", count, words));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refuse(spec, error.parts().what, error.parts().why, error.parts().hint);
  }
}

}  // namespace lepus
