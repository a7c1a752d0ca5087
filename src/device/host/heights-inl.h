// SPDX-License-Identifier: Apache-2.0
// A detector column's rows on one column of voxels, z fastest, compiled once per SIMD target: heights are affine in the
// row, and each row has a share in two voxels, one above the other. Rows are points between two voxels' centres
// (Joseph's samples), or boxes no higher than a voxel (footprints).
#if defined(LEPUS_DEVICE_HOST_HEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEPUS_DEVICE_HOST_HEIGHTS_INL_H_
#undef LEPUS_DEVICE_HOST_HEIGHTS_INL_H_
#else
#define LEPUS_DEVICE_HOST_HEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/host/joseph_columns.h"
#include "device/host/simd-inl.h"
#include "geometry/row_band.h"
#include "project/joseph.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

// Cell z0 - 1 of a column lies here in the buffers: the samples that fade out below the first slice.
constexpr std::int64_t first_cell = 8;

// Rows [first, last) of those held whose samples lie in cells z0 - 1 to z1 - 1, and up to two more on each side; first
// is whole vectors from the first row held.
struct RowsMet {
  std::int64_t first = 0, last = 0;
};

HWY_INLINE RowsMet rows_met(const RowLine& at, const JosephGrid& grid, RowBand rows, int middle_row, std::int64_t z0,
                            std::int64_t z1) {
  const double low = static_cast<double>(z0 - 1 - grid.middle[2]), high = static_cast<double>(z1 - grid.middle[2]);
  const double height = static_cast<double>(at.height) + 0.5, step = static_cast<double>(at.per_row);
  double first = static_cast<double>(rows.first - middle_row), last = static_cast<double>(rows.last - middle_row);
  clip_planes(height, step, low, high, first, last);
  if (!(first < last)) return {};
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const std::int64_t from = static_cast<std::int64_t>(first) + middle_row - rows.first;
  return {from / lanes * lanes, static_cast<std::int64_t>(last) + middle_row - rows.first};
}

// Where the rows' samples of a plane lie, for whole vectors of rows: the place in the buffers of the cell, and how far
// beyond the cell's start, which is the upper voxel's share. Heights are kept within the cells that are there; beyond,
// all voxels are zero.
// The whole number below comes from adding a large number, whose unit in the last place is one.
class Heights {
public:
  HWY_INLINE Heights(const RowLine& at, const JosephGrid& grid, RowBand rows, int middle_row, const RowsMet& met,
                     std::int64_t z0, std::int64_t z1)
      : height_(at.height),
        step_(at.per_row),
        lowest_(static_cast<float>(z0 - 1 - grid.middle[2]) - 0.5F),
        highest_(static_cast<float>(z1 - grid.middle[2]) - 0.5F),
        first_row_(static_cast<float>(rows.first - middle_row)),
        to_buffer_(static_cast<std::int32_t>(first_cell - (z0 - 1 - grid.middle[2]))) {
    // Heights are monotonous: the ends are at the first and the last row of all.
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
    end_ = met.first + (met.last - met.first + lanes - 1) / lanes * lanes;
    const float p = height_ + (first_row_ + static_cast<float>(met.first)) * step_,
                q = height_ + (first_row_ + static_cast<float>(end_ - 1)) * step_;
    const float low = std::min(p, q), high = std::max(p, q);
    inside_ = low > lowest_ + 0.01F && high < highest_ - 0.01F;
    // Rounding may decide otherwise up there: one cell more on each side.
    low_cell_ = static_cast<std::int64_t>(std::floor(std::max(low, lowest_) + 0.5F)) + to_buffer_ - 1;
    high_cell_ = static_cast<std::int64_t>(std::floor(std::min(high, highest_) + 0.5F)) + to_buffer_ + 1;
    close_ = std::fabs(step_) * static_cast<float>(lanes - 1) < static_cast<float>(lanes - 2) - 0.01F;
    low_lane_ = step_ < 0 ? lanes - 1 : 0;
  }

  bool inside() const { return inside_; }  // nothing must be clamped
  std::int64_t end() const { return end_; }
  std::int64_t low_cell() const { return low_cell_; }  // places in the buffers
  std::int64_t high_cell() const { return high_cell_; }
  bool close() const { return close_; }  // the voxels of a vector of rows are within a vector
  std::int64_t low_lane() const { return low_lane_; }

  // Rows r, r + 1, ... from the middle.
  HWY_INLINE VF rows(std::int64_t r) const { return hn::Iota(Floats(), first_row_ + static_cast<float>(r)); }

  // The cells of rows go to memory, the fractions are the result.
  template <bool clamped>
  HWY_INLINE VF fractions(VF row, std::int32_t* HWY_RESTRICT cells) const {
    const Floats d;
    VF z;
    const VF cell = cells_at<clamped>(row, cells, z);
    return hn::Sub(hn::Add(z, hn::Set(d, 0.5F)), cell);
  }

protected:
  template <bool clamped>
  HWY_INLINE VF cells_at(VF row, std::int32_t* HWY_RESTRICT cells, VF& z) const {
    const Floats d;
    const Ints di;
    constexpr float large = 12582912.0F;  // 1.5 x 2^23
    const VF unit = hn::Set(d, large);
    z = hn::MulAdd(row, hn::Set(d, step_), hn::Set(d, height_));
    if constexpr (clamped) z = hn::Min(hn::Max(z, hn::Set(d, lowest_)), hn::Set(d, highest_));
    const VF rounded = hn::Add(z, unit);
    hn::StoreU(hn::Sub(hn::BitCast(di, rounded), hn::Sub(hn::BitCast(di, unit), hn::Set(di, to_buffer_))), di, cells);
    return hn::Sub(rounded, unit);
  }

private:
  float height_, step_, lowest_, highest_, first_row_;
  std::int32_t to_buffer_;
  bool inside_ = false, close_ = false;
  std::int64_t end_ = 0, low_cell_ = 0, high_cell_ = 0, low_lane_ = 0;
};

// Rows as boxes of one height, at most a voxel's; the line is that of their lower faces. Of a box from z on, what lies
// above the face between voxels cell and cell + 1, cell the whole number next to z, belongs to the upper one.
class Boxes : public Heights {
public:
  HWY_INLINE Boxes(const RowLine& at, float per_box, const JosephGrid& grid, RowBand rows, int middle_row,
                   const RowsMet& met, std::int64_t z0, std::int64_t z1)
      : Heights(at, grid, rows, middle_row, met, z0, z1), per_box_(per_box) {}

  template <bool clamped>
  HWY_INLINE VF fractions(VF row, std::int32_t* HWY_RESTRICT cells) const {
    const Floats d;
    VF z;
    const VF cell = this->template cells_at<clamped>(row, cells, z);
    const VF above = hn::MulAdd(hn::Sub(z, cell), hn::Set(d, per_box_), hn::Set(d, 1 - 0.5F * per_box_));
    return hn::Max(above, hn::Zero(d));
  }

private:
  float per_box_;
};

// The column's values at the rows of a vector. close: they come with one load.
template <bool close>
HWY_INLINE VF blended(const float* HWY_RESTRICT column, const std::int32_t* HWY_RESTRICT cells, std::int64_t low_lane,
                      VF fraction) {
#if LEPUS_LANES == 8 || LEPUS_LANES == 0
  if constexpr (close) {
    const Floats d;
    const Ints di;
    const std::int32_t lowest = cells[low_lane];
    const VI index = hn::Sub(hn::LoadU(di, cells), hn::Set(di, lowest));
    const VF voxels = hn::LoadU(d, column + lowest);
    const VF low = hn::TableLookupLanes(voxels, hn::IndicesFromVec(d, index)),
             high = hn::TableLookupLanes(voxels, hn::IndicesFromVec(d, hn::Add(index, hn::Set(di, 1))));
    return hn::MulAdd(fraction, hn::Sub(high, low), low);
  }
#endif
  (void)low_lane;
  return blended_pairs(column, cells, fraction);
}

// sums[r] += the column's value at each row's height. Cells go through memory, a vector ahead.
template <bool clamped, bool close, class Rows>
HWY_INLINE void sample_column(const float* HWY_RESTRICT column, const Rows& heights, const RowsMet& met,
                              std::int32_t* HWY_RESTRICT cells, float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF step = hn::Set(d, static_cast<float>(lanes));
  VF row = heights.rows(met.first);
  VF fraction = heights.template fractions<clamped>(row, cells);
  for (std::int64_t r = met.first; r < heights.end(); r += lanes, cells += lanes) {
    row = hn::Add(row, step);
    const VF next = heights.template fractions<clamped>(row, cells + lanes);
    const VF value = blended<close>(column, cells, heights.low_lane(), fraction);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + r), value), d, sums + r);
    fraction = next;
  }
}

template <class Rows>
HWY_INLINE void sample_column(const float* HWY_RESTRICT column, const Rows& heights, const RowsMet& met,
                              std::int32_t* HWY_RESTRICT cells, float* HWY_RESTRICT sums) {
  if (!heights.inside())
    sample_column<true, false>(column, heights, met, cells, sums);
  else if (heights.close())
    sample_column<false, true>(column, heights, met, cells, sums);
  else
    sample_column<false, false>(column, heights, met, cells, sums);
}

// Two planes one after the other, with the same rows: they share the rows' numbers and the way of the sums through
// memory.
template <bool close>
HWY_INLINE void sample_two_columns(const float* HWY_RESTRICT column, const float* HWY_RESTRICT other,
                                   const Heights& heights, const Heights& others, const RowsMet& met,
                                   std::int32_t* HWY_RESTRICT cells, std::int32_t* HWY_RESTRICT other_cells,
                                   float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF step = hn::Set(d, static_cast<float>(lanes));
  VF row = heights.rows(met.first);
  VF fraction = heights.fractions<false>(row, cells), other_fraction = others.fractions<false>(row, other_cells);
  for (std::int64_t r = met.first; r < heights.end(); r += lanes, cells += lanes, other_cells += lanes) {
    row = hn::Add(row, step);
    const VF next = heights.fractions<false>(row, cells + lanes),
             other_next = others.fractions<false>(row, other_cells + lanes);
    const VF sum = hn::Add(hn::LoadU(d, sums + r), blended<close>(column, cells, heights.low_lane(), fraction));
    const VF also = blended<close>(other, other_cells, others.low_lane(), other_fraction);
    hn::StoreU(hn::Add(sum, also), d, sums + r);
    fraction = next;
    other_fraction = other_next;
  }
}

// For every row its cell, and its value shared out between the cell's two slices: value (1 - f, f).
template <bool clamped, class Rows>
HWY_INLINE void make_shares(const Rows& heights, const RowsMet& met, const float* HWY_RESTRICT values,
                            std::int32_t* HWY_RESTRICT cells, float* HWY_RESTRICT shares) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF step = hn::Set(d, static_cast<float>(lanes));
  VF row = heights.rows(met.first);
  for (std::int64_t r = met.first; r < heights.end(); r += lanes) {
    const VF fraction = heights.template fractions<clamped>(row, cells + (r - met.first));
    row = hn::Add(row, step);
    const VF value = hn::LoadU(d, values + r), up = hn::Mul(fraction, value);
    hn::StoreInterleaved2(hn::Sub(value, up), up, d, shares + 2 * (r - met.first));
  }
}

template <class Rows>
HWY_INLINE void make_shares(const Rows& heights, const RowsMet& met, const float* HWY_RESTRICT values,
                            std::int32_t* HWY_RESTRICT cells, float* HWY_RESTRICT shares) {
  heights.inside() ? make_shares<false>(heights, met, values, cells, shares)
                   : make_shares<true>(heights, met, values, cells, shares);
}

// pairs[cell] += shares of each row.
HWY_INLINE void share_out(const float* HWY_RESTRICT shares, const std::int32_t* HWY_RESTRICT cells, std::int64_t count,
                          float* HWY_RESTRICT pairs) {
  for (std::int64_t r = 0; r < count; ++r) {
    float* HWY_RESTRICT pair = pairs + std::ptrdiff_t{2} * cells[r];
#if LEPUS_LANES >= 4
    const hn::FixedTag<float, 2> d2;
    hn::StoreU(hn::Add(hn::LoadU(d2, pair), hn::LoadU(d2, shares + 2 * r)), d2, pair);
#else
    pair[0] += shares[2 * r];
    pair[1] += shares[2 * r + 1];
#endif
  }
}

// Slice z has the first share of its own cell and the second of the cell below: add(z - z0, sum) for whole vectors of
// slices that cells [low_cell, high_cell] of the buffers reach. Columns of voxels are padded, and to what lies behind
// their end zero is added.
template <class Add>
HWY_INLINE void add_pairs(const float* HWY_RESTRICT pairs, std::int64_t low_cell, std::int64_t high_cell,
                          std::int64_t slices, const Add& add) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t from = std::max<std::int64_t>(low_cell - first_cell - 1, 0);
  const std::int64_t to = std::min(high_cell - first_cell + 1, slices);
  const float* HWY_RESTRICT own = pairs + 2 * (first_cell + 1);  // the cell of slice z0
  for (std::int64_t z = from; z < to; z += lanes) {
    VF first, second, unused;
    hn::LoadInterleaved2(d, own + 2 * z, first, unused);
    hn::LoadInterleaved2(d, own + 2 * z - 2, unused, second);
    add(z, hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(to - z)), hn::Add(first, second)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();
#endif
