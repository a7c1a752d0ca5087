// SPDX-License-Identifier: Apache-2.0
// The correction "zingers": values in single frames that stand far above their neighbours are replaced by the median
// of the same pixel in the neighbouring views.
#include "core/format.h"
#include "correct/pixels/pixel_counts.h"
#include "correct/pixels/pixels.h"
#include "device/host/band_kernels/zingers.h"

namespace lepus {
namespace {

using namespace pixels;

class Zingers final : public Correction {
public:
  Zingers(const ZingerRules& rules, double maximum_share, const ScanFacts& facts)
      : rules_(rules),
        maximum_share_(maximum_share),
        values_of_row_(facts.columns * facts.views),
        counts_(facts.rows) {}

  bool needs_all_views() const override { return true; }

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return threads * zinger_scratch_bytes(rules_, largest.columns);
  }

  BandOperation operation() const override { return BandOperation::zingers; }
  void apply(const SinogramBand& band, RowBand wanted, Queue& queue) override {
    Device& device = queue.device();
    device.band_kernels().zingers(rules_, band.sinograms(wanted), counts_.on(device) + wanted.first, queue);
  }

  std::string judge() const override {
    return judge_replaced(
        {.correction = "zingers", .maximum_share = maximum_share_, .what_to_do = "raise tolerance, or leave it out"},
        counts_.replaced(values_of_row_), "pixels");
  }
  std::string summary() const override {
    const std::int64_t total = counts_.total();
    return format("{} zinger{} replaced", total, total == 1 ? "" : "s");
  }

private:
  ZingerRules rules_;
  double maximum_share_;
  std::int64_t values_of_row_;
  PixelCounts counts_;
};

}  // namespace

std::unique_ptr<Correction> make_zingers(const ZingerOptions& options, const ScanFacts& facts) {
  constexpr const char* kind = "zingers";
  if (options.radius_views < 1 || options.radius_views > 3)
    refuse(kind, format("radius_views = {}", options.radius_views), "1, 2 or 3 views on each side are looked at", "");
  if (options.along < 0 || options.along > 16)
    refuse(kind, format("along_px = {}", options.along), "0 to 16 columns on each side are looked at", "");
  if (!(options.tolerance > 0)) refuse(kind, format("tolerance = {}", options.tolerance), "it must be positive", "");
  const int views = 2 * options.radius_views + 1;
  if (options.neighbours != ZingerNeighbours::row && facts.views < views)
    refuse(kind, format("{} views are too few", facts.views), format("a median of {} views is taken", views),
           "make radius_views smaller, or use neighbours = \"row\"");
  if (options.neighbours != ZingerNeighbours::views && facts.columns < 2 * row_radius + 1)
    refuse(kind, format("a row of {} columns is too short", facts.columns), "a median of 5 pixels is taken",
           "use neighbours = \"views\"");
  ZingerRules rules;
  rules.neighbours = options.neighbours;
  rules.radius = options.radius_views;
  rules.along = options.along;
  rules.limit =
      options.tolerance / mean_distance(rules.neighbours == ZingerNeighbours::row ? row_radius : rules.radius);
  rules.sign = facts.stage == Stage::grey_levels ? 1.0F : -1.0F;
  return std::make_unique<Zingers>(rules, options.maximum_share, facts);
}

}  // namespace lepus
