// SPDX-License-Identifier: Apache-2.0
// The correction "zingers": values in single frames that stand far above their neighbours are replaced by the median
// of the same pixel in the neighbouring views. Two passes over a sinogram: how far pixels usually are from their
// median, then which values are farther than that by the tolerance.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/format.h"
#include "correct/pixels/hot_rules.h"
#include "correct/pixels/pixel_counts.h"
#include "correct/pixels/pixels.h"
#include "correct/pixels/zinger_medians.h"
#include "correct/pixels/zinger_rules.h"
#include <lepus/error.h>
#ifdef LEPUS_HAVE_CUDA
#include "correct/pixels/pixel_kernels.h"
#endif

namespace lepus {
namespace {

using namespace pixels;

struct ZingerScratch {
  std::vector<float> median, block, threshold, recent;  // recent: the last views before they were corrected
  std::vector<double> total;
  static std::int64_t bytes(const ZingerRules& rules, std::int64_t columns) {
    return columns * (3 * 4 + 8 + 4 * (2 * rules.radius + 1));
  }
};

class SinogramZingers {
public:
  SinogramZingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t plane, ZingerScratch& scratch)
      : rules_(rules),
        sinograms_(sinograms),
        plane_(plane),
        scratch_(scratch),
        columns_(sinograms.width),
        views_(sinograms.height),
        recent_views_(2 * rules.radius + 1) {
    const auto count = static_cast<std::size_t>(columns_);
    scratch.median.resize(count);
    scratch.block.resize(count);
    scratch.threshold.resize(count);
    scratch.total.assign(count, 0.0);
    scratch.recent.resize(count * static_cast<std::size_t>(recent_views_));
  }

  std::int64_t correct() {
    find_thresholds();
    std::int64_t replaced = 0;
    for (std::int64_t view = 0; view < views_; ++view) replaced += correct_view(view);
    return replaced;
  }

private:
  float* recent(std::int64_t view) { return scratch_.recent.data() + view % recent_views_ * columns_; }

  // Fills scratch.median. Views before `corrected` have been corrected already.
  void medians(std::int64_t view, std::int64_t corrected) {
    if (rules_.neighbours == ZingerNeighbours::row)
      return row_medians(sinograms_.row(plane_, view), columns_, scratch_.median.data());
    const std::int64_t first = first_neighbour(view, rules_.radius, views_);
    const float* rows[7];
    for (int i = 0; i < recent_views_; ++i)
      rows[i] = first + i < corrected ? recent(first + i) : sinograms_.row(plane_, first + i);
    view_medians(rows, rules_.radius, columns_, scratch_.median.data());
  }

  void find_thresholds() {
    const float* median = scratch_.median.data();
    float* block = scratch_.block.data();
    for (std::int64_t view0 = 0; view0 < views_; view0 += views_per_sum) {
      std::fill(scratch_.block.begin(), scratch_.block.end(), 0.0F);
      for (std::int64_t view = view0; view < std::min(views_, view0 + views_per_sum); ++view) {
        medians(view, 0);
        const float* w = sinograms_.row(plane_, view);
        for (std::int64_t x = 0; x < columns_; ++x) block[x] += std::fabs(w[x] - median[x]);
      }
      for (std::int64_t x = 0; x < columns_; ++x) scratch_.total[static_cast<std::size_t>(x)] += block[x];
    }
    for (std::size_t x = 0; x < scratch_.total.size(); ++x)
      scratch_.threshold[x] = static_cast<float>(rules_.limit * scratch_.total[x] / static_cast<double>(views_));
  }

  std::int64_t correct_view(std::int64_t view) {
    medians(view, view);
    float *w = sinograms_.row(plane_, view), *original = recent(view);
    std::copy_n(w, columns_, original);
    const float* near[4] = {};
    for (int i = 0; i < 2; ++i) {
      if (view >= 2 - i) near[i] = recent(view - 2 + i);
      if (view + 1 + i < views_) near[2 + i] = sinograms_.row(plane_, view + 1 + i);
    }
    std::int64_t replaced = 0;
    for (std::int64_t x = 0; x < columns_; ++x) {
      const auto at = static_cast<std::size_t>(x);
      if (!(rules_.sign * (original[x] - scratch_.median[at]) > scratch_.threshold[at])) continue;
      if (rules_.neighbours == ZingerNeighbours::both &&
          !alone_in_row(rules_, original, near, columns_, x, scratch_.threshold[at]))
        continue;
      w[x] = scratch_.median[at];
      ++replaced;
    }
    return replaced;
  }

  const ZingerRules& rules_;
  const Planes& sinograms_;
  std::int64_t plane_;
  ZingerScratch& scratch_;
  std::int64_t columns_, views_, recent_views_;
};

class Zingers final : public Correction {
public:
  Zingers(const ZingerRules& rules, double maximum_share, const ScanFacts& facts)
      : rules_(rules),
        maximum_share_(maximum_share),
        values_of_row_(facts.columns * facts.views),
        counts_(facts.rows) {}

  bool needs_all_views() const override { return true; }

  std::int64_t scratch_bytes(const SinogramBand& largest, int threads) const override {
    return threads * ZingerScratch::bytes(rules_, largest.columns);
  }

  void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) override {
    const Planes sinograms = band.sinograms(wanted);
    std::vector<ZingerScratch> scratch(static_cast<std::size_t>(threads.size()));
    threads.parallel_for(0, wanted.size(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t plane = begin; plane < end; ++plane)
        counts_[wanted.first + plane] =
            SinogramZingers(rules_, sinograms, plane, scratch[static_cast<std::size_t>(worker)]).correct();
    });
  }

#ifdef LEPUS_HAVE_CUDA
  void apply_on_device(const SinogramBand& band, RowBand wanted, cuda::Workspace& workspace) override {
    launch_zingers(rules_, band.sinograms(wanted), counts_.for_device() + wanted.first, workspace);
  }
#else
  void apply_on_device(const SinogramBand&, RowBand, cuda::Workspace&) override {
    throw Error(ErrorKind::unsupported, {.what = "built without CUDA", .where = "zingers", .why = {}, .hint = {}});
  }
#endif

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
