// SPDX-License-Identifier: Apache-2.0
// The correction "hot-pixels": each column of each sinogram is judged over all views, hot ones are replaced in every
// view. One pass over the band for the statistics; iterations look again only where something was replaced.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format.h"
#include "correct/pixels/hot_statistics.h"
#include "correct/pixels/hot_weights.h"
#include "correct/pixels/pixel_counts.h"
#include "correct/pixels/pixels.h"
#include <lepus/error.h>
#ifdef LEPUS_HAVE_CUDA
#include "correct/pixels/pixel_kernels.h"
#endif

namespace lepus {
namespace {

using namespace pixels;

// Whether column x stands out in enough views.
bool confirmed(const HotRules& rules, const Planes& sinograms, std::int64_t plane, std::int64_t x) {
  std::int64_t missing = rules.least_views;
  for (std::int64_t view = 0; view < sinograms.height && missing > 0; ++view) {
    if (missing > sinograms.height - view) return false;
    if (stands_out<float>(rules, sinograms.row(plane, view), sinograms.width, x)) --missing;
  }
  return missing == 0;
}

// Fills scratch.hot; true where a column is hot.
bool judge_row(const HotRules& rules, const Planes& sinograms, std::int64_t plane, HotScratch& scratch) {
  const std::int64_t columns = sinograms.width;
  const Deviations d = scratch.deviations();
  const HotRow row = rules.classic ? classic_row(d.middle, columns) : HotRow{};
  bool any = false;
  for (std::int64_t x = 0; x < columns; ++x) {
    const Verdict found = rules.classic ? verdict(rules, hot_in_row(rules, d.middle, row, columns, x), false)
                                        : hot_in_windows(rules, d, columns, x);
    const bool hot = found == Verdict::hot || (found == Verdict::suspect && confirmed(rules, sinograms, plane, x));
    scratch.hot[static_cast<std::size_t>(x)] = hot;
    any = any || hot;
  }
  return any;
}

// Recomputes the deviations of all columns that see a replaced one.
void refresh_row(const HotRules& rules, const Planes& sinograms, std::int64_t plane, HotScratch& scratch) {
  const std::int64_t columns = sinograms.width, reach = rules.reach();
  for (std::int64_t x = 0; x < columns;) {
    if (!scratch.hot[static_cast<std::size_t>(x)]) {
      ++x;
      continue;
    }
    const std::int64_t first = std::max<std::int64_t>(0, x - reach);
    std::int64_t last = x;  // the last hot column of a group whose neighbourhoods touch
    for (std::int64_t next = x + 1; next < std::min(columns, last + 2 * reach + 2); ++next)
      if (scratch.hot[static_cast<std::size_t>(next)]) last = next;
    hot_statistics(rules, sinograms, plane, first, std::min(columns, last + reach + 1), scratch);
    x = last + 1;
  }
}

// Returns how many columns of the sinogram were replaced.
std::int64_t correct_row(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t plane,
                         HotScratch& scratch) {
  const std::int64_t columns = sinograms.width;
  scratch.resize(columns);
  std::fill(scratch.ever.begin(), scratch.ever.end(), static_cast<unsigned char>(0));
  hot_statistics(rules, sinograms, plane, 0, columns, scratch);
  std::vector<std::int64_t> hot;
  for (int iteration = 0; iteration < iterations && judge_row(rules, sinograms, plane, scratch); ++iteration) {
    hot.clear();
    for (std::int64_t x = 0; x < columns; ++x)
      if (scratch.hot[static_cast<std::size_t>(x)]) hot.push_back(x);
    for (const std::int64_t x : hot) scratch.ever[static_cast<std::size_t>(x)] = 1;
    for (std::int64_t view = 0; view < sinograms.height; ++view) {
      float* w = sinograms.row(plane, view);
      for (const std::int64_t x : hot) w[x] = replacement(rules, w, scratch.hot.data(), columns, x);
    }
    if (iteration + 1 < iterations) refresh_row(rules, sinograms, plane, scratch);
  }
  return std::count(scratch.ever.begin(), scratch.ever.end(), 1);
}

class HotPixels final : public Correction {
public:
  HotPixels(HotRules rules, int iterations, const ScanFacts& facts)
      : rules_(rules), iterations_(iterations), columns_(facts.columns), counts_(facts.rows) {}

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return threads * HotScratch::bytes(largest.columns);
  }

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    const Planes sinograms = band.sinograms(wanted);
    std::vector<HotScratch> scratch(static_cast<std::size_t>(threads.size()));
    threads.parallel_for(0, wanted.size(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t plane = begin; plane < end; ++plane)
        counts_[wanted.first + plane] =
            correct_row(rules_, iterations_, sinograms, plane, scratch[static_cast<std::size_t>(worker)]);
    });
  }

#ifdef LEPUS_HAVE_CUDA
  void apply_on_device(const SinogramBand& band, RowBand wanted, cuda::Workspace& workspace) override {
    launch_hot_pixels(rules_, iterations_, band.sinograms(wanted), counts_.for_device() + wanted.first, workspace);
  }
#else
  void apply_on_device(const SinogramBand&, RowBand, cuda::Workspace&) override {
    throw Error(ErrorKind::unsupported, {.what = "built without CUDA", .where = "hot-pixels", .why = {}, .hint = {}});
  }
#endif

  std::optional<ReplacedPixels> replaced() const override { return counts_.replaced(columns_); }
  std::string summary() const override {
    const std::int64_t total = counts_.total();
    return format("{} hot pixel{} replaced in every view", total, total == 1 ? "" : "s");
  }

private:
  HotRules rules_;
  int iterations_;
  std::int64_t columns_;
  PixelCounts counts_;
};

}  // namespace

std::unique_ptr<Correction> make_hot_pixels(const CorrectionSpec& spec, const ScanFacts& facts) {
  HotParameters parameters = usual_hot_parameters(facts.columns);
  const std::string method = text_of(spec, "method");
  parameters.classic = method == "classic";
  if (!parameters.classic && method != "shifted-window")
    refuse(spec, format("unknown method \"{}\"", method), "", "known: shifted-window, classic");
  if (spec.parameters.contains("window_px")) parameters.window = static_cast<int>(integer_of(spec, "window_px"));
  if (spec.parameters.contains("gap_px")) parameters.gap = static_cast<int>(integer_of(spec, "gap_px"));
  parameters.tolerance = number_of(spec, "tolerance");
  parameters.deviations = static_cast<int>(integer_of(spec, "deviations"));
  parameters.normalise = flag_of(spec, "normalise");
  parameters.below = flag_of(spec, "below");
  parameters.share_of_views = number_of(spec, "share_of_views");
  const std::string replace_by = text_of(spec, "replace_by");
  if (replace_by != "auto" && replace_by != "bridge" && replace_by != "windows")
    refuse(spec, format("unknown replace_by \"{}\"", replace_by), "", "known: auto, bridge, windows");
  const bool as_described = parameters.classic || !parameters.normalise;  // these have a replacement of their own
  parameters.bridge = replace_by == "bridge" || (replace_by == "auto" && !as_described);
  const std::int64_t iterations = integer_of(spec, "iterations");
  if (parameters.window < 2 || parameters.window > largest_window || parameters.gap < 1 || parameters.gap > largest_gap)
    refuse(spec, format("window_px = {} and gap_px = {}", parameters.window, parameters.gap),
           format("windows have 2 to {} pixels and lie 1 to {} away", largest_window, largest_gap), "");
  if (parameters.deviations != 1 && parameters.deviations != 3)
    refuse(spec, format("deviations = {}", parameters.deviations), "a column has one deviation or three", "use 3");
  if (!(parameters.tolerance > 0) || iterations < 1)
    refuse(spec, format("tolerance = {}, iterations = {}", parameters.tolerance, iterations),
           "the tolerance must be positive, and there is at least one iteration", "");
  if (!(parameters.share_of_views >= 0 && parameters.share_of_views <= 1))
    refuse(spec, format("share_of_views = {}", parameters.share_of_views), "a share lies between 0 and 1",
           "0 does not ask in how many views a pixel stands out");
  if (!parameters.normalise && parameters.window != 2 && !parameters.classic)
    refuse(spec, format("normalise = false with window_px = {}", parameters.window),
           "the original form has windows of two pixels", "set window_px = 2, or leave normalise = true");
  if (facts.views < 2)
    refuse(spec, "one view is not enough", "a column is judged over all views", "leave the correction out");
  const HotRules rules = hot_rules(parameters, facts.views);
  const std::int64_t least = parameters.classic ? 7 : 4 * rules.reach();
  if (facts.columns < least)
    refuse(spec, format("a row of {} columns is too short", facts.columns),
           format("windows of {} pixels, {} away, are compared with their neighbours': {} columns are needed",
                  rules.weights.window, rules.weights.gap, least),
           parameters.classic ? "leave the correction out"
                              : "make window_px or gap_px smaller, or use method = \"classic\"");
  return std::make_unique<HotPixels>(rules, static_cast<int>(std::min<std::int64_t>(iterations, 1000)), facts);
}

}  // namespace lepus
