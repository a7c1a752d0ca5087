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
  HotPixels(HotRules rules, const HotPixelOptions& options, const ScanFacts& facts)
      : rules_(rules),
        iterations_(options.iterations),
        maximum_share_(options.maximum_share),
        columns_(facts.columns),
        counts_(facts.rows) {}

  bool needs_all_views() const override { return true; }

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

  std::string judge() const override {
    return judge_replaced(
        {.correction = "hot-pixels",
         .maximum_share = maximum_share_,
         .what_to_do = rules_.below ? "set below = false, or raise tolerance"
                                    : "raise tolerance, make window_px and gap_px smaller, or leave it out"},
        counts_.replaced(columns_), "pixels");
  }
  std::string summary() const override {
    const std::int64_t total = counts_.total();
    return format("{} hot pixel{} replaced in every view", total, total == 1 ? "" : "s");
  }

private:
  HotRules rules_;
  int iterations_;
  double maximum_share_;
  std::int64_t columns_;
  PixelCounts counts_;
};

}  // namespace

std::unique_ptr<Correction> make_hot_pixels(const HotPixelOptions& given, const ScanFacts& facts) {
  constexpr const char* kind = "hot-pixels";
  HotPixelOptions options = given;
  const HotWindows usual = usual_hot_windows(facts.columns);
  if (!options.window) options.window = usual.window;
  if (!options.gap) options.gap = usual.gap;
  const bool classic = options.method == HotMethod::classic;
  if (*options.window < 2 || *options.window > largest_window || *options.gap < 1 || *options.gap > largest_gap)
    refuse(kind, format("window_px = {} and gap_px = {}", *options.window, *options.gap),
           format("windows have 2 to {} pixels and lie 1 to {} away", largest_window, largest_gap), "");
  if (options.deviations != 1 && options.deviations != 3)
    refuse(kind, format("deviations = {}", options.deviations), "a column has one deviation or three", "use 3");
  if (!(options.tolerance > 0) || options.iterations < 1)
    refuse(kind, format("tolerance = {}, iterations = {}", options.tolerance, options.iterations),
           "the tolerance must be positive, and there is at least one iteration", "");
  if (!(options.share_of_views >= 0 && options.share_of_views <= 1))
    refuse(kind, format("share_of_views = {}", options.share_of_views), "a share lies between 0 and 1",
           "0 does not ask in how many views a pixel stands out");
  if (!options.normalise && *options.window != 2 && !classic)
    refuse(kind, format("normalise = false with window_px = {}", *options.window),
           "the original form has windows of two pixels", "set window_px = 2, or leave normalise = true");
  if (facts.views < 2)
    refuse(kind, "one view is not enough", "a column is judged over all views", "leave the correction out");
  const HotRules rules = hot_rules(options, facts.views);
  const std::int64_t least = classic ? 7 : 4 * rules.reach();
  if (facts.columns < least)
    refuse(kind, format("a row of {} columns is too short", facts.columns),
           format("windows of {} pixels, {} away, are compared with their neighbours': {} columns are needed",
                  rules.weights.window, rules.weights.gap, least),
           classic ? "leave the correction out" : "make window_px or gap_px smaller, or use method = \"classic\"");
  return std::make_unique<HotPixels>(rules, options, facts);
}

}  // namespace lepus
