// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/air_region.h"

#include <algorithm>
#include <cmath>

namespace lepus {
namespace {

constexpr std::int64_t maximum_rows = 64;                       // more do not make a mean of thousands of pixels better
constexpr std::int64_t piece_bytes = std::int64_t{128} << 20;   // of rows read at once
constexpr std::int64_t search_bands = 3, search_band_rows = 8;  // rows that the search looks at

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_of_three(double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

// The median of a view and its neighbours: one spoilt frame says nothing about the region.
double steadied(const std::vector<double>& values, std::size_t i) {
  if (values.size() < 3) return values[i];
  const std::size_t middle = std::clamp<std::size_t>(i, 1, values.size() - 2);
  return median_of_three(values[middle - 1], values[middle], values[middle + 1]);
}

std::int64_t rows_at_once(const FrameRows& frames) {
  return std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, frames.views * frames.columns * 4));
}

// visit(row, [view][column]) for each of the rows (ascending); neighbouring ones are read together.
void visit_rows(const FrameRows& frames, const std::vector<std::int64_t>& rows,
                const std::function<void(std::int64_t, const float*)>& visit) {
  const std::int64_t most = rows_at_once(frames);
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1 && rows[end] - rows[i] < most) ++end;
    const Buffer<float> piece = frames.band({rows[i], rows[end - 1] + 1});
    for (std::size_t k = i; k < end; ++k)
      visit(rows[k], piece.data() + (rows[k] - rows[i]) * frames.views * frames.columns);
    i = end;
  }
}

std::vector<std::int64_t> rows_to_search(const FrameRows& frames) {
  std::vector<std::int64_t> rows;
  const std::int64_t height = std::min(search_band_rows, rows_at_once(frames));
  for (std::int64_t band = 0; band < search_bands; ++band) {
    const std::int64_t middle = (2 * band + 1) * frames.rows / (2 * search_bands);
    for (std::int64_t row = middle - height / 2; row < middle - height / 2 + height; ++row)
      if (row >= 0 && row < frames.rows && (rows.empty() || row > rows.back())) rows.push_back(row);
  }
  return rows;
}

// Rows of all views averaged: [view][column].
std::vector<double> mean_rows(const FrameRows& frames, const std::vector<std::int64_t>& rows) {
  std::vector<double> mean(static_cast<std::size_t>(frames.views * frames.columns));
  visit_rows(frames, rows, [&](std::int64_t, const float* values) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(values[i]);
  });
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

struct Spread {
  double sum = 0, squares = 0, steps = 0, previous = 0;
  std::int64_t n = 0;
  void add(double value) {
    if (n > 0) steps += (value - previous) * (value - previous);
    previous = value;
    sum += value;
    squares += value * value;
    ++n;
  }
  double deviation() const {
    const auto count = static_cast<double>(n);
    return n < 2 ? 0 : std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
  }
  // What it would be if successive values had nothing in common (von Neumann 1941).
  double deviation_of_noise() const { return n < 2 ? 0 : std::sqrt(steps / (2 * static_cast<double>(n - 1))); }
};

constexpr std::size_t blocks_across = 4, blocks_of_part = blocks_across * blocks_across;

}  // namespace

double clipped_mean(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const float median = *middle;
  std::vector<float> distance(values.size());
  std::transform(values.begin(), values.end(), distance.begin(), [&](float v) { return std::abs(v - median); });
  const auto half = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
  std::nth_element(distance.begin(), half, distance.end());
  const double reach = std::max(4 * 1.4826 * static_cast<double>(*half), 1e-6 * std::abs(static_cast<double>(median)));
  double sum = 0;
  std::int64_t n = 0;
  for (const float v : values)
    if (std::abs(static_cast<double>(v) - static_cast<double>(median)) <= reach) {
      sum += static_cast<double>(v);
      ++n;
    }
  return sum / static_cast<double>(n);
}

AirPart air_part(std::int64_t column0, std::int64_t column1, std::int64_t row0, std::int64_t row1) {
  AirPart part{column0, column1, {}};
  const std::int64_t rows = row1 - row0, used = std::min(rows, maximum_rows);
  for (std::int64_t i = 0; i < used; ++i) part.rows.push_back(row0 + (2 * i + 1) * rows / (2 * used));
  return part;
}

std::vector<AirPart> find_air(const FrameRows& frames) {
  const std::int64_t columns = frames.columns, views = frames.views;
  const std::int64_t least = std::max<std::int64_t>(2, columns / 64), most = columns / 8;
  if (most < least || views < 1 || frames.rows < 1) return {};
  const std::vector<std::int64_t> rows = rows_to_search(frames);
  const std::vector<double> profile = mean_rows(frames, rows);
  const auto at = [&](std::int64_t view, bool right, std::int64_t k) {  // k-th column from an edge
    return profile[static_cast<std::size_t>(view * columns + (right ? columns - 1 - k : k))];
  };
  // The outermost columns of both sides in every view; the brighter side is what others are compared with.
  std::vector<double> level[2];
  for (const bool right : {false, true})
    for (std::int64_t view = 0; view < views; ++view) {
      std::vector<double> edge;
      for (std::int64_t k = 0; k < least; ++k) edge.push_back(at(view, right, k));
      level[right].push_back(median_of(edge));
    }
  const std::vector<double>& air = level[median_of(level[1]) > median_of(level[0]) ? 1 : 0];
  if (*std::min_element(air.begin(), air.end()) <= 0) return {};
  std::vector<AirPart> parts;
  for (const bool right : {false, true}) {
    std::int64_t good = 0, bad = 0;
    for (std::int64_t k = 0; k < most && bad < 3; ++k) {
      std::vector<double> ratio;
      Spread spread;
      for (std::int64_t view = 0; view < views; ++view) {
        ratio.push_back(at(view, right, k) / air[static_cast<std::size_t>(view)]);
        spread.add(ratio.back());
      }
      const double allowed = std::max(0.02, 5 * spread.deviation_of_noise());
      double lowest = ratio.front();
      for (std::size_t i = 0; i < ratio.size(); ++i) lowest = std::min(lowest, steadied(ratio, i));
      if (lowest >= 1 - allowed) {
        good = k + 1;
        bad = 0;
      } else {
        ++bad;  // one dead column is no object
      }
    }
    if (bad >= 3) good -= 2;  // keep away from what ended it
    if (good < least) continue;
    parts.push_back({right ? columns - good : 0, right ? columns : good, rows});
  }
  return parts;
}

AirLevels measure_air(const FrameRows& frames, const std::vector<AirPart>& parts) {
  AirLevels air;
  for (const AirPart& part : parts) air.pixels += part.pixels();
  const auto views = static_cast<std::size_t>(frames.views), pixels = static_cast<std::size_t>(air.pixels);
  std::vector<float> values(views * pixels);  // [view][pixel]
  const std::size_t blocks = parts.size() * blocks_of_part;
  std::vector<double> block_sums(views * blocks);
  std::vector<std::int64_t> block_pixels(blocks);
  std::vector<std::vector<float>> looked_at(views);  // some pixels of the whole rows
  const std::int64_t step = std::max<std::int64_t>(1, frames.columns / 64);
  std::size_t next = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const AirPart& part = parts[p];
    const std::int64_t width = part.column1 - part.column0;
    std::size_t row_number = 0;
    visit_rows(frames, part.rows, [&](std::int64_t, const float* rows) {
      const std::size_t across = row_number * blocks_across / part.rows.size();
      for (std::int64_t x = 0; x < width; ++x, ++next) {
        const std::size_t block = p * blocks_of_part + across * blocks_across +
                                  static_cast<std::size_t>(x) * blocks_across / static_cast<std::size_t>(width);
        ++block_pixels[block];
        for (std::size_t view = 0; view < views; ++view) {
          const float value = rows[static_cast<std::int64_t>(view) * frames.columns + part.column0 + x];
          values[view * pixels + next] = value;
          block_sums[view * blocks + block] += static_cast<double>(value);
        }
      }
      if (p == 0)
        for (std::size_t view = 0; view < views; ++view)
          for (std::int64_t x = step / 2; x < frames.columns; x += step)
            looked_at[view].push_back(rows[static_cast<std::int64_t>(view) * frames.columns + x]);
      ++row_number;
    });
  }

  std::vector<float> of_view(pixels);
  std::int64_t brighter = 0, compared = 0;
  for (std::size_t view = 0; view < views; ++view) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(view * pixels), pixels, of_view.begin());
    air.levels.push_back(clipped_mean(of_view));
    for (const float value : looked_at[view]) {
      brighter += static_cast<double>(value) > 1.05 * air.levels.back();
      ++compared;
    }
  }
  air.brighter = compared > 0 ? static_cast<double>(brighter) / static_cast<double>(compared) : 0;
  air.lowest = air.levels.front();
  for (std::size_t view = 0; view < views; ++view) air.lowest = std::min(air.lowest, steadied(air.levels, view));
  if (air.lowest <= 0) return air;  // nothing below would mean anything
  double variance = 0, shares = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (block_pixels[block] == 0) continue;
    Spread spread;
    for (std::size_t view = 0; view < views; ++view)
      if (air.levels[view] > 0)
        spread.add(block_sums[view * blocks + block] / static_cast<double>(block_pixels[block]) / air.levels[view]);
    const double noise = spread.deviation_of_noise();
    if (spread.deviation() > air.movement) {
      air.movement = spread.deviation();
      air.movement_over_noise = noise > 0 ? air.movement / noise : 1;
    }
    const double share = static_cast<double>(block_pixels[block]) / static_cast<double>(pixels);
    // A block's deviation from the mean of all has (1 - share) of the variance of its own mean.
    if (share < 1) {
      variance += share * share * noise * noise / (1 - share);
      shares += share;
    }
  }
  air.noise = shares > 0 ? std::sqrt(variance) / shares : 0;
  return air;
}

}  // namespace lepus
