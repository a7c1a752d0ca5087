// SPDX-License-Identifier: Apache-2.0
// Pixels that are known to be bad, bridged in every view (project/bridge.h). The one implementation for all corrections
// that know their pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "project/planes.h"
#include "project/bridge.h"

namespace lepus::pixels {

class BadPixels {
public:
  // pixels: row * columns + column, in any order. Throws Error(usage) where one is outside; every row may not be
  // bad.
  BadPixels(std::int64_t columns, std::int64_t rows, std::vector<std::int64_t> pixels);

  std::int64_t count() const { return count_; }
  bool all_rows_bad() const { return static_cast<std::int64_t>(lines_.size()) == rows_; }
  // `wanted` and the good rows that its bad ones are bridged from.
  RowBand rows_needed(RowBand wanted) const;
  // Of rows [band.first, band.last), ascending.
  std::vector<PixelRun> runs(RowBand band) const;
  std::vector<RowLine> lines(RowBand band) const;

  void bridge(const SinogramBand& band, RowBand wanted, Queue& queue) const;

private:
  std::int64_t rows_, count_ = 0;
  std::vector<PixelRun> runs_;
  std::vector<RowLine> lines_;
};

}  // namespace lepus::pixels
