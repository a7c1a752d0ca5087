// SPDX-License-Identifier: Apache-2.0
// One pass over a sinogram for the statistics; iterations look again only where something was replaced.
#include "device/host/band_kernels/hot_pixels.h"

#include <algorithm>
#include <vector>

#include "device/host/band_kernels/hot_statistics.h"

namespace lepus::pixels {
namespace {

// Whether column x stands out in enough views.
bool confirmed(const HotRules& rules, const Planes& sinograms, std::int64_t plane, std::int64_t x) {
  std::int64_t missing = rules.minimum_views;
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

}  // namespace

void replace_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                        ThreadPool& threads) {
  std::vector<HotScratch> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, sinograms.count, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t plane = begin; plane < end; ++plane)
      counts[plane] = correct_row(rules, iterations, sinograms, plane, scratch[static_cast<std::size_t>(worker)]);
  });
}

std::int64_t hot_scratch_bytes(std::int64_t columns) { return HotScratch::bytes(columns); }

}  // namespace lepus::pixels
