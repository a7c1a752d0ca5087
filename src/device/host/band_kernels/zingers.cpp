// SPDX-License-Identifier: Apache-2.0
// Two passes over a sinogram: how far pixels usually are from their median, then which values are farther than that by
// the tolerance.
#include "device/host/band_kernels/zingers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/host/band_kernels/zinger_medians.h"
#include "project/hot_rules.h"

namespace lepus::pixels {
namespace {

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

}  // namespace

void replace_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, ThreadPool& threads) {
  std::vector<ZingerScratch> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t plane = begin; plane < end; ++plane)
      counts[plane] = SinogramZingers(rules, sinograms, plane, scratch[static_cast<std::size_t>(worker)]).correct();
  });
}

std::int64_t zinger_scratch_bytes(const ZingerRules& rules, std::int64_t columns) {
  return ZingerScratch::bytes(rules, columns);
}

}  // namespace lepus::pixels
