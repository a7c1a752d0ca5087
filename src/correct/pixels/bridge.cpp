// SPDX-License-Identifier: Apache-2.0
#include "correct/pixels/bridge.h"

#include <algorithm>

#include "core/format.h"
#include "device/band_kernels.h"
#include <lepus/error.h>

namespace lepus::pixels {

BadPixels::BadPixels(std::int64_t columns, std::int64_t rows, std::vector<std::int64_t> pixels) : rows_(rows) {
  std::ranges::sort(pixels);
  pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
  count_ = static_cast<std::int64_t>(pixels.size());
  if (count_ > 0 && (pixels.front() < 0 || pixels.back() >= columns * rows))
    throw Error(ErrorKind::usage, {.what = "a bad pixel lies outside the detector",
                                   .where = format("pixel {}", pixels.front() < 0 ? pixels.front() : pixels.back()),
                                   .why = format("the detector has {} x {} pixels", columns, rows),
                                   .hint = "pixels are counted row * columns + column, from 0"});
  for (std::size_t i = 0; i < pixels.size();) {
    const std::int64_t row = pixels[i] / columns;
    std::size_t end = i + 1;
    while (end < pixels.size() && pixels[end] == pixels[end - 1] + 1 && pixels[end] / columns == row) ++end;
    if (static_cast<std::int64_t>(end - i) == columns)
      lines_.push_back({row, -1, -1});
    else
      runs_.push_back({row, pixels[i] % columns, pixels[end - 1] % columns + 1});
    i = end;
  }
  // Bad rows lie in groups; the row before and the row after a group are good.
  for (std::size_t i = 0; i < lines_.size();) {
    std::size_t end = i + 1;
    while (end < lines_.size() && lines_[end].row == lines_[end - 1].row + 1) ++end;
    const std::int64_t below = lines_[end - 1].row + 1;
    for (std::size_t k = i; k < end; ++k) {
      lines_[k].above = lines_[i].row - 1;  // -1 at the top
      lines_[k].below = below < rows ? below : -1;
    }
    i = end;
  }
}

RowBand BadPixels::rows_needed(RowBand wanted) const {
  RowBand needed = wanted;
  for (const RowLine& line : lines(wanted)) {
    if (line.above >= 0) needed.first = std::min(needed.first, line.above);
    if (line.below >= 0) needed.last = std::max(needed.last, line.below + 1);
  }
  return needed;
}

std::vector<PixelRun> BadPixels::runs(RowBand band) const {
  const auto row_of = [](const PixelRun& run) { return run.row; };
  return {std::ranges::lower_bound(runs_, band.first, {}, row_of),
          std::ranges::lower_bound(runs_, band.last, {}, row_of)};
}

std::vector<RowLine> BadPixels::lines(RowBand band) const {
  const auto row_of = [](const RowLine& line) { return line.row; };
  return {std::ranges::lower_bound(lines_, band.first, {}, row_of),
          std::ranges::lower_bound(lines_, band.last, {}, row_of)};
}

void BadPixels::bridge(const SinogramBand& band, RowBand wanted, Queue& queue) const {
  const auto from_band = [&](std::int64_t row) { return row < 0 ? row : row - band.rows.first; };
  std::vector<PixelRun> runs_here = runs(rows_needed(wanted));  // bad rows are bridged from mended ones
  std::vector<RowLine> lines_here = lines(wanted);
  for (PixelRun& run : runs_here) run.row = from_band(run.row);
  for (RowLine& line : lines_here) line = {from_band(line.row), from_band(line.above), from_band(line.below)};
  queue.device().band_kernels().bridge(runs_here, lines_here, band.sinograms(band.rows), queue);
}

}  // namespace lepus::pixels
