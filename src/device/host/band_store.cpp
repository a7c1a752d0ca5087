// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_store.h"

#include <algorithm>
#include <cstring>

namespace lepus {

BandStore::BandStore(std::int64_t slots, std::int64_t columns, std::int64_t row_stride)
    : columns_(columns),
      row_stride_(row_stride),
      data_(slots * columns * row_stride),
      windows_(static_cast<std::size_t>(slots)) {}

void BandStore::turn_to(std::int64_t slot, RowBand wanted, bool forget) {
  RowBand& window = windows_[static_cast<std::size_t>(slot)];
  const RowBand kept = forget ? RowBand{} : common_rows(window, wanted);
  if (kept.size() > 0 && window.first != wanted.first) {
    float* column = slot_data(slot);
    const auto bytes = static_cast<std::size_t>(kept.size()) * sizeof(float);
    for (std::int64_t c = 0; c < columns_; ++c, column += row_stride_)
      std::memmove(column + (kept.first - wanted.first), column + (kept.first - window.first), bytes);
  }
  window = wanted;
}

// Sixteen rows at a time: they share the cache lines of every column.
void BandStore::put(std::int64_t slot, RowBand rows, const float* data) {
  constexpr std::int64_t together = 16;
  float* out = slot_data(slot) - windows_[static_cast<std::size_t>(slot)].first;
  for (std::int64_t row = rows.first; row < rows.last; row += together) {
    const std::int64_t count = std::min(together, rows.last - row);
    const float* in = data + (row - rows.first) * columns_;
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t k = 0; k < count; ++k) out[c * row_stride_ + row + k] = in[k * columns_ + c];
  }
}

ViewBand BandStore::band(std::int64_t slot) const {
  const RowBand& window = windows_[static_cast<std::size_t>(slot)];
  return {data_.data() + slot * columns_ * row_stride_, window.first, window.size()};
}

}  // namespace lepus
