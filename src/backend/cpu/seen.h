// SPDX-License-Identifier: Apache-2.0
// A tile's piece of the slab, and what it sees of a view: which pixels, and whether they can be read in place.
// Plain double precision, once per tile and view.
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace lepus::cpu {

// Voxel columns [x0, x1) x [y0, y1) and slices [begin, end) of the chunk that starts at first_slice. `end` is rounded
// up to whole vectors; slices from `last` on are not the slab's.
struct Piece {
  std::int64_t x0, x1, y0, y1, first_slice, begin, last, end;
};
Piece piece_of(const Job& job, std::int64_t task);
Piece turned(const Piece& piece, const VolumeGrid& grid, int group, int times);

// Pixels of a detector axis from `first` to `last`, inclusive; they may lie outside the detector, where all is zero.
struct PixelRange {
  std::int64_t first = 0, last = -1;
  std::int64_t size() const { return last - first + 1; }
};
struct PixelBox {
  PixelRange columns, rows;
};

// Coordinates this far outside the detector's pixels give zero, and coordinates are clamped there.
inline int zero_reach(Interpolation i) { return i == Interpolation::cubic ? 2 : 1; }

enum class Sight { nothing, plain, awkward };  // awkward: some of the tile lies (nearly) behind the source
// The taps of all voxels of the piece after clamping, and a pixel more for rounding.
Sight look(const Job& job, const Matrix34& matrix, const Piece& piece, PixelBox& box);

// One voxel column by the reference's formulas, for awkward tiles.
void add_plainly(const Job& job, const Piece& piece, std::int64_t view, ColumnIndex at, float* sums,
                 std::int64_t sums_stride);

// For general matrices: the pixels of one view as the kernel reads them.
struct Seen {
  const float* pixels = nullptr;  // of detector pixel (0, 0), which need not exist: pixels[column * stride + row]
  std::int64_t stride = 0;
  bool clamped = false;  // coordinates may leave the detector
  // How much w changes within a chunk: so little that coordinates are polynomials of the second degree, or little
  // enough for a series.
  bool nearly_constant_w = false, slowly_changing_w = false;
};
// Everything but where the pixels are.
Seen survey(const Job& job, const Matrix34& matrix, const ViewBand& band, const Piece& piece, const PixelBox& box);
// The pixels in place, where the band holds all that is asked for, or else a copy.
void bring(const Job& job, const ViewBand& band, const PixelBox& box, Scratch& scratch, Seen& seen);

}  // namespace lepus::cpu
