// SPDX-License-Identifier: Apache-2.0
// The correction "hot-pixels": each column of each sinogram is judged over all views, hot ones are replaced in every
// view.
#include "core/format.h"
#include "correct/pixels/hot_weights.h"
#include "correct/pixels/pixel_counts.h"
#include "correct/pixels/pixels.h"
#include "device/host/band_kernels/hot_pixels.h"

namespace lepus {
namespace {

using namespace pixels;

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
    return threads * hot_scratch_bytes(largest.columns);
  }

  BandOperation operation() const override { return BandOperation::hot_pixels; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    Device& device = queue.device();
    device.band_kernels().hot_pixels(rules_, iterations_, band.sinograms(wanted), counts_.on(device) + wanted.first,
                                     queue);
  }

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
