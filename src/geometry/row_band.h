// SPDX-License-Identifier: Apache-2.0
// Which detector rows a slab needs in a view: the projection of the slab's part of the field-of-view cylinder.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include <lepus/geometry.h>

namespace lepus {

struct RowBand {
  std::int64_t first = 0, last = 0;  // rows [first, last), clipped to the detector; empty where first == last
  std::int64_t size() const { return last - first; }
  friend bool operator==(const RowBand&, const RowBand&) = default;
};

RowBand common_rows(RowBand a, RowBand b);
RowBand joined_rows(RowBand a, RowBand b);  // from the first row of either to the last; an empty band adds nothing
// The parts of `wanted` that `held` does not have: none, one, or one on each side.
std::vector<RowBand> missing_rows(RowBand held, RowBand wanted);

// Floats that so many rows of a detector column take on the host, where they lie side by side; half a cache line for
// the rows of one slice.
inline std::int64_t padded_rows(std::int64_t rows) { return rows <= 8 ? 8 : odd_cache_lines(rows); }

// Rows of `view` that any voxel of slices [z0, z1) inside both the grid's box and the cylinder of radius
// field_of_view_mm around the axis projects to, widened by `margin` rows for the interpolation's taps.
RowBand row_band(const ScanGeometry& geometry, std::int64_t view, const VolumeGrid& grid, double field_of_view_mm,
                 std::int64_t z0, std::int64_t z1, std::int64_t margin);

// Largest radius around the axis that every view sees (full-fan) or that is seen from one side by every view over a
// full turn (half-fan), in the plane of the orbit.
double field_of_view_radius_mm(const ScanGeometry& geometry);

// The largest grid the scan supports: diameter 2 * field_of_view_radius_mm, height that every view covers on the axis,
// voxel size = pixel size / magnification (pixel pitch at the axis).
VolumeGrid automatic_grid(const ScanGeometry& geometry);

}  // namespace lepus
