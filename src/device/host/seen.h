// SPDX-License-Identifier: Apache-2.0
// A tile's piece of the slab, and what it sees of a view: which pixels, and whether they can be read in place.
// Plain double precision, once per tile and view.
#pragma once

#include <cstdint>

#include "device/host/kernel.h"

namespace lepus::cpu {

// Voxel columns [x0, x1) x [y0, y1) and slices [first, last) of the chunk that starts at first_slice. [begin, end) are
// worked on: whole vectors along z, or, of a few slices, these alone.
struct Piece {
  std::int64_t x0, x1, y0, y1, first_slice, first, last, begin, end;

  bool few() const { return last - first <= few_slices; }
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
  double lowest_u = 0, lowest_v = 0;  // of the whole chunk, for its frame
};

// Coordinates this far outside the detector's pixels give zero, and coordinates are clamped there.
inline int zero_reach(Interpolation i) { return i == Interpolation::cubic ? 2 : 1; }

enum class Sight { nothing, plain, awkward };  // awkward: some of the tile lies (nearly) behind the source
// The taps of all voxels of the piece after clamping, and a pixel more for rounding.
Sight look(const Job& job, const Matrix34& matrix, const Piece& piece, PixelBox& box);

// The box lies on the detector, and a pixel more on every side: nothing that the piece sees must be clamped.
bool inside_detector(const Job& job, const PixelBox& box);

// One voxel column by the reference's formulas, for awkward tiles; the slab's first slice is added to sums[0].
void add_plainly(const Job& job, const Piece& piece, std::int64_t view, ColumnIndex at, float* sums,
                 std::int64_t sums_stride);

// For upright orbits: the coordinates of a tile's voxels, in single precision from here on. They are counted from a
// pixel a little below and left of all that the tile sees in the chunk, and computed from the tile's middle, so that
// numbers stay small: a hundred pixels are resolved to 1e-5. With (dx, dy, dz) voxels from the middle of tile and
// chunk,
//   s = 1 / (1 + depth_x dx + depth_y dy), u = u_offset + (u_0 + u_x dx + u_y dy) s, 1/w = inverse_w s,
//   v = v_offset + (v_0 + v_x dx + v_y dy) s + dv s dz.
// All of it is the same wherever the slab is cut.
struct Frame {
  using Plane = float[3];  // at the middle, per voxel along x, along y
  ColumnIndex middle;
  std::int64_t first_column, first_row;  // that u and v are counted from
  Plane depth, u, v;
  float u_offset, v_offset, dv, inverse_w;
  float u_low, u_high, v_low, v_high;  // clamped to these: beyond the detector, where all taps are zero
};
Frame frame_of(const Job& job, const Matrix34& matrix, const Piece& piece, const PixelBox& box);

// Where a tile keeps the sum of a voxel: slices side by side, or, of a few, voxel columns; in groups of four, the
// turned voxels first.
class SumPlaces {
public:
  SumPlaces(const Job& job, const Piece& piece, int group);
  // x, y, z: counted from the piece's x0 and y0 and the chunk's first slice.
  std::int64_t operator()(std::int64_t x, std::int64_t y, std::int64_t z, int voxel = 0) const {
    return x * column_ + y * row_ + (z - first_) * slice_ + voxel * voxel_;
  }
  std::int64_t slice_step() const { return slice_; }
  std::int64_t size() const { return size_; }

private:
  std::int64_t column_, row_, slice_, voxel_, first_, size_;
};

// The lines of a tile (its voxel columns), for general matrices, in rows along the axis that moves u less, so that
// neighbours find what they see in the L1 cache. Rows of a few slices run along x: what these see always is there.
class LineOrder {
public:
  LineOrder(const Matrix34& matrix, const Piece& piece, const PixelBox& box);
  ColumnIndex start(std::int64_t row) const { return {x0_ + (along_y ? row : 0), y0_ + (along_y ? 0 : row)}; }
  // Where the sums of a row's first line are, and how far apart those of neighbours.
  std::int64_t first_sum(const SumPlaces& place, std::int64_t row) const {
    return along_y ? place(row, 0, 0) : place(0, row, 0);
  }
  std::int64_t sums_apart(const SumPlaces& place) const { return along_y ? place(0, 1, 0) : place(1, 0, 0); }

  bool along_y = false;
  std::int64_t rows = 0;
  int lines = 0;  // of a row

private:
  std::int64_t x0_, y0_;
};

// For general matrices: the pixels of one view as the kernel reads them.
struct Seen {
  const float* pixels = nullptr;  // of the box' corner: pixels[column * stride + row], both counted from there
  std::int64_t stride = 0;
  bool clamped = false;  // coordinates may leave the detector
  // How much w changes within a chunk: so little that coordinates are polynomials of the second degree, or little
  // enough for a series.
  bool nearly_constant_w = false, slowly_changing_w = false;
  // As in fixed_point-inl.h: w changes little, and all that tile and chunk see lies on the detector and within
  // largest_fixed_box pixels each way.
  bool fixed_point = false;
};
inline constexpr std::int64_t largest_fixed_box = 512;
// Everything but where the pixels are.
Seen survey(const Job& job, const Matrix34& matrix, const ViewBand& band, const Piece& piece, const PixelBox& box);
// The pixels in place, where the band holds all that is asked for, or else a copy.
void bring(const Job& job, const ViewBand& band, const PixelBox& box, Scratch& scratch, Seen& seen);

}  // namespace lepus::cpu
