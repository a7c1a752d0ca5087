// SPDX-License-Identifier: Apache-2.0
// The filtered rows that are in memory: one slot per view of a wedge, rows fastest (see ViewBand), each slot holding a
// window of rows that rolls along the detector.
#pragma once

#include <cstdint>
#include <vector>

#include "device/host/backprojector.h"
#include "core/memory.h"
#include "geometry/row_band.h"

namespace lepus {

class BandStore {
public:
  BandStore(std::int64_t slots, std::int64_t columns, std::int64_t row_stride);

  // Makes the slot's window `wanted`: rows that it already holds are moved to their place, the others are undefined
  // until they are put. forget: hold nothing over.
  void turn_to(std::int64_t slot, RowBand wanted, bool forget);
  // Rows [rows.first, rows.last) of a view, u fastest, become part of the slot's window.
  void put(std::int64_t slot, RowBand rows, const float* data);

  ViewBand band(std::int64_t slot) const;
  std::int64_t row_stride() const { return row_stride_; }

private:
  float* slot_data(std::int64_t slot) { return data_.data() + slot * columns_ * row_stride_; }

  std::int64_t columns_, row_stride_;
  Buffer<float> data_;
  std::vector<RowBand> windows_;
};

}  // namespace lepus
