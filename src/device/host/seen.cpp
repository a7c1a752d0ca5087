// SPDX-License-Identifier: Apache-2.0
#include "device/host/seen.h"

#include <algorithm>
#include <cmath>

#include "project/detector_point.h"
#include "project/interpolate.h"

namespace lepus::cpu {
namespace {

// |t dz| below this: the relative error of 1 - t dz + (t dz)^2 is below 3e-8, half a unit in the last place.
constexpr double series_limit = 3e-3;
// Below this the weight 1 - 2 t dz is right to 5e-7, and v to the third order's e dz (t dz)^2, which must stay below
// polynomial_pixels at the chunk's ends; a quarter of it remains (general-inl.h).
constexpr double polynomial_limit = 4e-4, polynomial_pixels = 1.5e-5;
// The same in fixed_point-inl.h, where the second order of the weight is replaced too and half of it remains, 1e-6:
// what it leaves to others takes twice as long.
constexpr double fixed_point_limit = 8e-4, fixed_point_pixels = 4e-5;

// Offsets within a box are computed in single precision, which holds whole numbers up to 2^24, and 2^23 may be added to
// them.
constexpr double offset_limit = 8388608;

struct Extent {
  double u0 = 1e300, u1 = -1e300, v0 = 1e300, v1 = -1e300, w0 = 1e300, w1 = -1e300;
};

// Where all corners of a box of voxels are in front of the source, its projection lies within that of its corners.
Extent project_corners(const Job& job, const Matrix34& m, const Piece& piece, std::int64_t begin, std::int64_t end) {
  Extent e;
  for (const std::int64_t x : {piece.x0, piece.x1 - 1})
    for (const std::int64_t y : {piece.y0, piece.y1 - 1})
      for (const std::int64_t z : {piece.first_slice + begin, piece.first_slice + end - 1}) {
        const auto p = detector_point(m.m.data(), job.beam, static_cast<double>(x), static_cast<double>(y),
                                      static_cast<double>(z));
        e.u0 = std::min(e.u0, p.u);
        e.u1 = std::max(e.u1, p.u);
        e.v0 = std::min(e.v0, p.v);
        e.v1 = std::max(e.v1, p.v);
        e.w0 = p.w < e.w0 ? p.w : e.w0;
        e.w1 = std::max(e.w1, p.w);
      }
  return e;
}

double sway(const Matrix34& m) { return std::abs(m(2, 2)) * static_cast<double>(chunk / 2); }  // of w, within a chunk

// The taps around the lowest and the highest coordinate, a pixel outside the detector for what is clamped to there, and
// a pixel for rounding.
int before_taps(Interpolation kind) { return taps_before(kind) + 2; }
int after_taps(Interpolation kind) { return tap_count(kind) - taps_before(kind) + 1; }

PixelRange taps_of(Interpolation kind, double low, double high, double bottom, double top) {
  return {static_cast<std::int64_t>(std::floor(std::clamp(low, bottom, top))) - before_taps(kind),
          static_cast<std::int64_t>(std::floor(std::clamp(high, bottom, top))) + after_taps(kind)};
}

}  // namespace

Piece piece_of(const Job& job, std::int64_t task) {
  Piece p;
  const std::int64_t tiles = std::ssize(*job.tiles);
  p.first_slice = (job.first_chunk + task / tiles) * chunk;
  const ColumnIndex tile = (*job.tiles)[static_cast<std::size_t>(task % tiles)];
  p.x0 = tile.x;
  p.y0 = tile.y;
  p.x1 = std::min(p.x0 + job.tile, job.grid.nx);
  p.y1 = std::min(p.y0 + job.tile, job.grid.ny);
  p.first = std::max<std::int64_t>(job.slab.z0 - p.first_slice, 0);
  p.last = std::min(job.slab.z1 - p.first_slice, chunk);
  const std::int64_t along_z = p.few() ? 1 : whole_vectors;
  p.begin = p.first / along_z * along_z;
  p.end = (p.last + along_z - 1) / along_z * along_z;
  return p;
}

SumPlaces::SumPlaces(const Job& job, const Piece& piece, int group) {
  const std::int64_t side_by_side = piece.few() ? job.tile : chunk;
  const std::int64_t step = group == 4 ? 4 : 1;
  voxel_ = group == 4 ? 1 : side_by_side;
  if (piece.few()) {
    column_ = step;
    row_ = job.tile * group;
    slice_ = job.tile * row_;
    first_ = piece.first;
    size_ = (piece.last - piece.first) * slice_;
  } else {
    slice_ = step;
    column_ = chunk * group;
    row_ = job.tile * column_;
    first_ = 0;
    size_ = job.tile * row_;
  }
}

Piece turned(const Piece& piece, const VolumeGrid& grid, int group, int times) {
  const ColumnIndex a = turned(ColumnIndex{piece.x0, piece.y0}, grid, group, times);
  const ColumnIndex b = turned(ColumnIndex{piece.x1 - 1, piece.y1 - 1}, grid, group, times);
  Piece p = piece;
  p.x0 = std::min(a.x, b.x);
  p.x1 = std::max(a.x, b.x) + 1;
  p.y0 = std::min(a.y, b.y);
  p.y1 = std::max(a.y, b.y) + 1;
  return p;
}

Sight look(const Job& job, const Matrix34& matrix, const Piece& piece, PixelBox& box) {
  // What decides about the arithmetic comes from the whole chunk, so that it does not depend on where the slab is cut.
  const Extent whole = project_corners(job, matrix, piece, 0, chunk);
  if (!(whole.w0 > 1e-3 && sway(matrix) < 0.5 * whole.w0)) return Sight::awkward;
  if (job.orbit->upright && !(whole.w0 > 0.25 * whole.w1)) return Sight::awkward;  // see Frame: s must be exact
  const double bottom = -zero_reach(job.interpolation);
  const double right = static_cast<double>(job.columns - 1) - bottom, top = static_cast<double>(job.rows - 1) - bottom;
  const auto columns = static_cast<double>(taps_of(job.interpolation, whole.u0, whole.u1, bottom, right).size());
  if (columns * static_cast<double>(std::max(job.wedge->row_stride, job.rows + 64)) > offset_limit)
    return Sight::awkward;
  const Extent e = project_corners(job, matrix, piece, piece.begin, piece.end);
  if (e.u1 <= bottom || e.u0 >= right || e.v1 <= bottom || e.v0 >= top) return Sight::nothing;
  box = {taps_of(job.interpolation, e.u0, e.u1, bottom, right), taps_of(job.interpolation, e.v0, e.v1, bottom, top),
         whole.u0, whole.v0};
  return Sight::plain;
}

Frame frame_of(const Job& job, const Matrix34& m, const Piece& piece, const PixelBox& box) {
  const double bottom = -zero_reach(job.interpolation);
  const double right = static_cast<double>(job.columns - 1) - bottom, top = static_cast<double>(job.rows - 1) - bottom;
  const double half = job.interpolation == Interpolation::nearest ? 0.5 : 0;
  Frame f;
  f.middle = {(piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2};
  f.first_column = static_cast<std::int64_t>(std::floor(std::clamp(box.lowest_u, bottom, right))) - 4;
  f.first_row = static_cast<std::int64_t>(std::floor(std::clamp(box.lowest_v, bottom, top))) - 4;
  const auto at = detector_point(m.m.data(), job.beam, static_cast<double>(f.middle.x), static_cast<double>(f.middle.y),
                                 static_cast<double>(piece.first_slice + chunk / 2));
  const double r = 1 / at.w, rv = job.beam == Beam::fan ? 1 : r;
  const double column = std::floor(at.u), row = std::floor(at.v), divided = job.beam == Beam::fan ? 0 : row;
  const auto set = [](Frame::Plane& plane, double middle, double along_x, double along_y) {
    plane[0] = static_cast<float>(middle);
    plane[1] = static_cast<float>(along_x);
    plane[2] = static_cast<float>(along_y);
  };
  set(f.depth, 1, m(2, 0) * r, m(2, 1) * r);
  set(f.u, at.u - column, (m(0, 0) - column * m(2, 0)) * r, (m(0, 1) - column * m(2, 1)) * r);
  set(f.v, at.v - row, (m(1, 0) - divided * m(2, 0)) * rv, (m(1, 1) - divided * m(2, 1)) * rv);
  const auto first_column = static_cast<double>(f.first_column), first_row = static_cast<double>(f.first_row);
  f.u_offset = static_cast<float>(column - first_column + half);
  f.v_offset = static_cast<float>(row - first_row + half);
  f.dv = static_cast<float>(m(1, 2) * rv);
  f.inverse_w = static_cast<float>(r);
  f.u_low = static_cast<float>(bottom - 1 - first_column);
  f.u_high = static_cast<float>(right + 1 - first_column);
  f.v_low = static_cast<float>(bottom - 1 - first_row);
  f.v_high = static_cast<float>(top + 1 - first_row);
  return f;
}

bool inside_detector(const Job& job, const PixelBox& box) {
  const auto inside = [&](const PixelRange& range, std::int64_t pixels) {
    return range.first + before_taps(job.interpolation) >= 0 && range.last - after_taps(job.interpolation) < pixels - 1;
  };
  return inside(box.columns, job.columns) && inside(box.rows, job.rows);
}

Seen survey(const Job& job, const Matrix34& matrix, const ViewBand& band, const Piece& piece, const PixelBox& box) {
  Seen seen;
  const double w = project_corners(job, matrix, piece, 0, chunk).w0;
  const double change = sway(matrix) / w;
  const double rows_walked =
      (std::abs(matrix(1, 2)) / w + static_cast<double>(job.rows) * change / (chunk / 2)) * (chunk / 2);
  seen.slowly_changing_w = change <= series_limit;
  seen.nearly_constant_w = change <= polynomial_limit && rows_walked * change * change <= polynomial_pixels;
  // As far as there are slices, up to whole vectors: the same wherever the slab is cut.
  const std::int64_t left = job.grid.nz - piece.first_slice;
  const Extent e = project_corners(job, matrix, piece, 0,
                                   std::min(chunk, (left + whole_vectors - 1) / whole_vectors * whole_vectors));
  const auto fits = [](double low, double high, std::int64_t pixels) {
    return low >= 0 && high < static_cast<double>(pixels - 1) && high - low < largest_fixed_box - 8;
  };
  seen.fixed_point = change <= fixed_point_limit && rows_walked * change * change <= fixed_point_pixels &&
                     fits(e.u0, e.u1, job.columns) && fits(e.v0, e.v1, job.rows);
  seen.clamped = box.columns.first < 0 || box.columns.last >= job.columns || box.rows.first < band.first_row ||
                 box.rows.last >= band.first_row + band.rows;
  return seen;
}

LineOrder::LineOrder(const Matrix34& m, const Piece& piece, const PixelBox& box) : x0_(piece.x0), y0_(piece.y0) {
  const double u = static_cast<double>(box.columns.first);
  along_y = !piece.few() && std::abs(m(0, 0) - u * m(2, 0)) > std::abs(m(0, 1) - u * m(2, 1));
  rows = along_y ? piece.x1 - piece.x0 : piece.y1 - piece.y0;
  lines = static_cast<int>(along_y ? piece.y1 - piece.y0 : piece.x1 - piece.x0);
}

void bring(const Job& job, const ViewBand& band, const PixelBox& box, Scratch& scratch, Seen& seen) {
  const PixelRange columns = box.columns, rows = box.rows;
  // Read in place where everything asked for is held. Windows of whole vectors may read on into the next columns; the
  // last ones must not read past the band.
  const std::int64_t stride = job.wedge->row_stride;
  const bool held = !seen.clamped && columns.last * stride + (rows.last - band.first_row) + overread <=
                                         (job.columns - 1) * stride + band.rows;
  if (held) {
    seen.stride = stride;
    seen.pixels = band.data + columns.first * stride + (rows.first - band.first_row);
    return;
  }
  // A copy with zeros where the band holds nothing.
  seen.stride = (rows.size() + 31) / 32 * 32 + 16;
  const std::int64_t size = columns.size() * seen.stride + overread;
  if (scratch.box.size() < size) scratch.box = Buffer<float>(size);
  float* copy = scratch.box.data();
  std::fill(copy, copy + size, 0.0f);
  const std::int64_t from = std::max(rows.first, band.first_row);
  const std::int64_t to = std::min(rows.last + 1, band.first_row + band.rows);
  for (std::int64_t c = std::max<std::int64_t>(columns.first, 0); c <= std::min(columns.last, job.columns - 1); ++c)
    if (from < to)
      std::copy_n(band.data + c * stride + (from - band.first_row), to - from,
                  copy + (c - columns.first) * seen.stride + (from - rows.first));
  seen.pixels = copy;
}

void add_plainly(const Job& job, const Piece& piece, std::int64_t view, ColumnIndex at, float* sums,
                 std::int64_t sums_stride) {
  const Matrix34& m = job.orbit->matrices[static_cast<std::size_t>(job.wedge->first + view)];
  const ViewBand& band = job.wedge->bands[static_cast<std::size_t>(view)];
  const auto pixel = [&](std::int64_t column, std::int64_t row) {
    const std::int64_t held = row - band.first_row;
    return held < 0 || held >= band.rows ? 0.0 : static_cast<double>(band.data[column * job.wedge->row_stride + held]);
  };
  for (std::int64_t z = piece.first; z < piece.last; ++z) {
    const auto p = detector_point(m.m.data(), job.beam, static_cast<double>(at.x), static_cast<double>(at.y),
                                  static_cast<double>(piece.first_slice + z));
    if (!in_front_of_source(p.w)) continue;
    sums[(z - piece.first) * sums_stride] +=
        static_cast<float>((job.weighted ? distance_weight(job.beam, p.w) : 1.0) *
                           sample(job.interpolation, job.columns, job.rows, p.u, p.v, pixel));
  }
}

}  // namespace lepus::cpu
