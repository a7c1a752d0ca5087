// SPDX-License-Identifier: Apache-2.0
// Which rows of which views a slab of the volume has to do with: before anything large moves, the corners of thin
// layers of slices are projected for every view. Forward and back ask the same table, so what one of them cuts off the
// other does not need either.
#pragma once

#include <cstdint>
#include <vector>

#include "device/projector.h"
#include "geometry/row_band.h"
#include <lepus/geometry.h>

namespace lepus {

// Views [first, first + count).
struct ViewRange {
  std::int64_t first = 0, count = 0;
};

class SliceRows {
public:
  SliceRows(const ScanGeometry& geometry, const VolumeGrid& grid);

  // Rows that voxels of the slab are seen in, in any of the views.
  RowBand rows(ViewRange views, SlabRange slab) const;
  // Slices that rays of the rows meet, in any of the views.
  SlabRange slices(ViewRange views, RowBand rows) const;

private:
  static constexpr std::int64_t layer = 4;  // slices that are asked about together
  const RowBand& band(std::int64_t view, std::int64_t l) const {
    return bands_[static_cast<std::size_t>(view * layers_ + l)];
  }
  std::int64_t layers_, slices_;
  std::vector<RowBand> bands_;  // [view][layer]
};

}  // namespace lepus
