// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "align/calibrate.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

namespace {

constexpr std::int64_t edge_reach = 3;

// Where an edge lies, counted from sample `from` in direction `step`; its half height is passed `at` samples on. From
// the area under it, so that it is exact for pixels that average over their width, wherever the edge cuts one.
double edge_place(const float* row, std::int64_t from, std::int64_t step, std::int64_t at) {
  const auto value = [&](std::int64_t i) { return static_cast<double>(row[from + step * i]); };
  const double air = value(at - edge_reach - 1), plate = value(at + edge_reach + 1);
  double covered = 0;
  for (std::int64_t i = at - edge_reach; i <= at + edge_reach; ++i) covered += (value(i) - air) / (plate - air);
  return static_cast<double>(at + edge_reach) + 0.5 - covered;
}

}  // namespace

void PlateMeter::add(std::span<const float> frame) {
  std::vector<float> sorted(frame.begin(), frame.end());
  const auto high = sorted.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), high, sorted.end());
  const float half = 0.5F * *high;
  double sum = 0, count = 0;
  bool cut_off = false;
  for (std::int64_t v = 0; v < rows_ && half > 0; ++v) {
    const float* p = frame.data() + v * columns_;
    std::int64_t left = 0, right = 0;  // samples from each side to the first above half
    while (left < columns_ && p[left] < half) ++left;
    while (right < columns_ && p[columns_ - 1 - right] < half) ++right;
    if (columns_ - left - right < 2 * edge_reach + 3) continue;  // the row does not meet the plate
    if (std::min(left, right) < edge_reach + 1) {
      cut_off = true;
      continue;
    }
    sum += static_cast<double>(columns_ - 1) - edge_place(p, 0, 1, left) - edge_place(p, columns_ - 1, -1, right);
    count += 1;
  }
  if (cut_off) cut_off_.push_back(static_cast<std::int64_t>(widths_.size()));
  widths_.push_back(count > 0 && !cut_off ? sum / count : 0);
}

PlateResult PlateMeter::result(double width_mm) const {
  PlateResult r;
  r.widths_px = widths_;
  r.cut_off = cut_off_;
  double sum = 0, squares = 0, n = 0;
  for (const double w : widths_)
    if (w > 0) {
      sum += w;
      squares += w * w;
      n += 1;
    }
  if (n == 0)
    throw Error(ErrorKind::input,
                {.what = "no frame shows the plate whole",
                 .where = "calibrate",
                 .why = format("{} frames, {} with a plate that reaches the edge", widths_.size(), cut_off_.size()),
                 .hint = "both edges of the plate must be inside the frame"});
  const double mean = sum / n;
  r.interval_mm = width_mm / mean;
  if (n > 1) r.error_mm = r.interval_mm / mean * std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
  return r;
}

}  // namespace lepus
