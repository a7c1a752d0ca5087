// SPDX-License-Identifier: Apache-2.0
#include "preprocess/dead_pixels.h"

#include <algorithm>
#include <cmath>

#include "project/bridge.h"

namespace lepus {

std::vector<std::int64_t> dead_pixels(const Normalisation& normalisation, double threshold) {
  std::vector<std::int64_t> list = normalisation.unusable;
  const auto& log_i0 = normalisation.log_i0;
  if (log_i0.size() == 0) return list;
  std::vector<float> sorted(log_i0.begin(), log_i0.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const float lowest = *middle + static_cast<float>(std::log(threshold));
  for (std::int64_t i = 0; i < log_i0.size(); ++i)
    if (log_i0[i] < lowest) list.push_back(i);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

void bridge_along_rows(const std::vector<std::int64_t>& pixels, std::int64_t columns, std::int64_t row0,
                       std::int64_t row1, float* rows) {
  auto next = std::lower_bound(pixels.begin(), pixels.end(), row0 * columns);
  while (next != pixels.end() && *next < row1 * columns) {
    auto run_end = next + 1;  // contiguous dead pixels of one row are bridged together
    while (run_end != pixels.end() && *run_end == *(run_end - 1) + 1 && *run_end / columns == *next / columns)
      ++run_end;
    const pixels::PixelRun run{*next / columns, *next % columns, *(run_end - 1) % columns + 1};
    float* row = rows + (run.row - row0) * columns;
    if (run.begin > 0 || run.end < columns)  // else nothing in this row is good
      for (std::int64_t x = run.begin; x < run.end; ++x) row[x] = pixels::bridged(row, run, columns, x);
    next = run_end;
  }
}

}  // namespace lepus
