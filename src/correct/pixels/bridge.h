// SPDX-License-Identifier: Apache-2.0
// Pixels that are known to be bad, bridged in every view: along the row between the nearest good pixels, and, where a
// whole row is bad, between the nearest good rows. The one implementation for all corrections that know their pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include "correct/planes.h"
#include "project/host_device.h"

namespace lepus::pixels {

struct PixelRun {
  std::int64_t row = 0, begin = 0, end = 0;  // columns [begin, end), not the whole row
};

struct RowLine {
  std::int64_t row = 0, above = 0, below = 0;  // nearest good rows; -1 where there is none on that side
};

// Pixel x of a run: left + (right - left) * share; at the end of the row, the only good neighbour.
LEPUS_HD inline float bridged(const float* w, const PixelRun& run, std::int64_t columns, std::int64_t x) {
  const float left = run.begin > 0 ? w[run.begin - 1] : w[run.end];
  const float right = run.end < columns ? w[run.end] : w[run.begin - 1];
  return left + (right - left) * static_cast<float>(x - run.begin + 1) / static_cast<float>(run.end - run.begin + 1);
}

LEPUS_HD inline float between_rows(float above, float below, const RowLine& line) {
  return above +
         (below - above) * static_cast<float>(line.row - line.above) / static_cast<float>(line.below - line.above);
}

class BadPixels {
public:
  // pixels: row * columns + column, in any order. Throws Error(internal) where one is outside; every row may not be
  // bad.
  BadPixels(std::int64_t columns, std::int64_t rows, std::vector<std::int64_t> pixels);

  std::int64_t count() const { return count_; }
  bool all_rows_bad() const { return static_cast<std::int64_t>(lines_.size()) == rows_; }
  // `wanted` and the good rows that its bad ones are bridged from.
  RowBand rows_needed(RowBand wanted) const;
  // Of rows [band.first, band.last), ascending.
  std::vector<PixelRun> runs(RowBand band) const;
  std::vector<RowLine> lines(RowBand band) const;

  void bridge(const SinogramBand& band, RowBand wanted, ThreadPool& threads) const;

private:
  std::int64_t columns_, rows_, count_ = 0;
  std::vector<PixelRun> runs_;
  std::vector<RowLine> lines_;
};

}  // namespace lepus::pixels
