// SPDX-License-Identifier: Apache-2.0
// The kernels of joseph_columns.h, compiled for every SIMD target that Highway knows here.
#include "device/host/joseph_columns.h"

#include <algorithm>
#include <cstring>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/joseph_columns.cpp"
#include "hwy/foreach_target.h"

#include "device/host/simd-inl.h"

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

HWY_INLINE RowsMet rows_met(const PlaneCrossing& at, const JosephGrid& grid, RowBand rows, int middle_row,
                            std::int64_t z0, std::int64_t z1) {
  const double low = static_cast<double>(z0 - 1 - grid.middle[2]), high = static_cast<double>(z1 - grid.middle[2]);
  const double height = static_cast<double>(at.height) + 0.5, step = static_cast<double>(at.per_row);
  double first = static_cast<double>(rows.first - middle_row), last = static_cast<double>(rows.last - middle_row);
  clip_planes(height, step, low, high, first, last);
  if (!(first < last)) return {};
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  const std::int64_t from = static_cast<std::int64_t>(first) + middle_row - rows.first;
  return {from / lanes * lanes, static_cast<std::int64_t>(last) + middle_row - rows.first};
}

// The cells [low, high] that rows may lie in, as places in the buffers.
struct CellsMet {
  std::int64_t low = 0, high = 0;
};

// For every row from met.first on, whole vectors: the place in the buffers of the cell that its sample lies in, and how
// far beyond the cell's start it is. Heights are kept within the cells that are there; beyond, all voxels are zero.
// The whole number below comes from adding a large number, whose unit in the last place is one.
template <class Use>
HWY_INLINE CellsMet each_height(const PlaneCrossing& at, const JosephGrid& grid, RowBand rows, int middle_row,
                                const RowsMet& met, std::int64_t z0, std::int64_t z1, const Use& use) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr float large = 12582912.0F;  // 1.5 x 2^23
  const float low = static_cast<float>(z0 - 1 - grid.middle[2]) - 0.5F,
              high = static_cast<float>(z1 - grid.middle[2]) - 0.5F;
  const VF lowest = hn::Set(d, low), highest = hn::Set(d, high), unit = hn::Set(d, large), half = hn::Set(d, 0.5F);
  const VF height = hn::Set(d, at.height), step = hn::Set(d, at.per_row);
  const VI shift =
      hn::Sub(hn::BitCast(di, unit), hn::Set(di, static_cast<std::int32_t>(first_cell - (z0 - 1 - grid.middle[2]))));
  VF row = hn::Iota(d, static_cast<float>(rows.first + met.first - middle_row));
  const VF next = hn::Set(d, static_cast<float>(lanes));
  for (std::int64_t r = met.first; r < met.last; r += lanes) {
    const VF z = hn::Min(hn::Max(hn::MulAdd(row, step, height), lowest), highest);
    const VF rounded = hn::Add(z, unit);
    use(r, hn::Sub(hn::BitCast(di, rounded), shift), hn::Add(hn::Sub(z, hn::Sub(rounded, unit)), half));
    row = hn::Add(row, next);
  }
  // Heights are monotonous: the ends are at the first and the last row of all.
  const auto cell = [&](std::int64_t r) {
    const float z = at.height + static_cast<float>(rows.first + r - middle_row) * at.per_row;
    return static_cast<std::int64_t>(std::floor(std::min(std::max(z, low), high) + 0.5F)) - (z0 - 1 - grid.middle[2]) +
           first_cell;
  };
  const std::int64_t vectors = (met.last - met.first + lanes - 1) / lanes;
  const std::int64_t p = cell(met.first), q = cell(met.first + vectors * lanes - 1);
  return {std::min(p, q) - 1, std::max(p, q) + 1};  // rounding may decide otherwise up there
}

HWY_INLINE void reserve(JosephScratch& scratch, std::int64_t rows, std::int64_t slices, std::int64_t per_cell) {
  const auto grown = [](auto& buffer, std::int64_t size) {
    if (static_cast<std::int64_t>(buffer.size()) < size) buffer.assign(static_cast<std::size_t>(size), 0);
  };
  grown(scratch.cells, rows + joseph_padding);
  grown(scratch.fractions, 2 * (rows + joseph_padding));
  grown(scratch.column, per_cell * (slices + 2 * joseph_padding));
}

// sums[r] += the column's value at each row's height.
HWY_INLINE void sample_column(const float* HWY_RESTRICT column, const std::int32_t* HWY_RESTRICT cells,
                              const float* HWY_RESTRICT fractions, const RowsMet& met, float* HWY_RESTRICT sums) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = met.first; r < met.last; r += lanes) {
    VF low, high;
#if LEPUS_NEON
    const TwoOffsets left(cells + r), right(cells + r + 2);
    const Quad p = two_pairs(column + left.first(), column + left.second()),
               q = two_pairs(column + right.first(), column + right.second());
    low = hn::ConcatEven(d, q, p);
    high = hn::ConcatOdd(d, q, p);
#else
    fetch_pairs(column, cells + r, low, high);
#endif
    const VF value = hn::MulAdd(hn::LoadU(d, fractions + r), hn::Sub(high, low), low);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + r), value), d, sums + r);
  }
}

void joseph_forward(const JosephForward& job, JosephScratch& scratch) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t slices = job.z1 - job.z0;
  reserve(scratch, job.rows.size(), slices, 1);
  float* HWY_RESTRICT blended = scratch.column.data();
  std::int32_t* HWY_RESTRICT cells = scratch.cells.data();
  float* HWY_RESTRICT fractions = scratch.fractions.data();
  // Slice z0 lies behind its cell z0 - 1; zeros around the slices stay.
  float* HWY_RESTRICT slices_begin = blended + first_cell + 1;
  std::fill(scratch.column.begin(), scratch.column.end(), 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    int first = job.grid.size[axis], last = -first;
    for (int i = 0; i < job.count; ++i)
      if (job.columns[i].axis == axis) {
        first = std::min(first, job.columns[i].first);
        last = std::max(last, job.columns[i].last);
      }
    const int a = joseph_axis_a(axis);
    const std::int64_t apart[2] = {job.stride, job.stride * job.grid.size[0]};
    for (int plane = first; plane < last; ++plane)
      for (int i = 0; i < job.count; ++i) {
        const JosephColumn& column = job.columns[i];
        if (column.axis != axis || plane < column.first || plane >= column.last) continue;
        const PlaneCrossing at = crossing(column, plane);
        const int cell = at.cell + job.grid.middle[a];
        if (cell < -1 || cell >= job.grid.size[a]) continue;
        const RowsMet met = rows_met(at, job.grid, job.rows, column.middle_row, job.z0, job.z1);
        if (met.first >= met.last) continue;
        const CellsMet range = each_height(at, job.grid, job.rows, column.middle_row, met, job.z0, job.z1,
                                           [&](std::int64_t r, VI at_cell, VF fraction) HWY_ATTR {
                                             hn::StoreU(at_cell, Ints(), cells + r);
                                             hn::StoreU(fraction, d, fractions + r);
                                           });
        const float* HWY_RESTRICT left = job.voxels + (plane + job.grid.middle[axis]) * apart[axis] + cell * apart[a];
        const float* HWY_RESTRICT right = left + apart[a];
        const float weight = cell < 0 ? 0.0F : 1 - at.fraction,
                    other = cell + 1 < job.grid.size[a] ? at.fraction : 0.0F;
        if (cell < 0) left = right;
        if (cell + 1 >= job.grid.size[a]) right = left;
        const std::int64_t from = std::max<std::int64_t>(range.low - first_cell - 1, 0) / lanes * lanes;
        const std::int64_t to = std::min(range.high - first_cell + 1, slices);
        const VF w0 = hn::Set(d, weight), w1 = hn::Set(d, other);
        std::int64_t z = from;
        for (; z + lanes <= to; z += lanes)
          hn::StoreU(hn::MulAdd(w1, hn::LoadU(d, right + z), hn::Mul(w0, hn::LoadU(d, left + z))), d, slices_begin + z);
        for (; z < to; ++z) slices_begin[z] = std::fma(other, right[z], weight * left[z]);
        sample_column(blended, cells, fractions, met, job.sums + i * job.sums_stride);
      }
  }
}

// For every row, its value shared out between its cell's two slices: pairs[cell] += value (1 - f, f).
HWY_INLINE void share_out(const float* HWY_RESTRICT shares, const std::int32_t* HWY_RESTRICT cells, const RowsMet& met,
                          std::int64_t end, float* HWY_RESTRICT pairs) {
  for (std::int64_t r = met.first; r < end; ++r) {
#if LEPUS_LANES >= 4
    const hn::FixedTag<float, 2> d2;
    float* HWY_RESTRICT pair = pairs + 2 * cells[r];
    hn::StoreU(hn::Add(hn::LoadU(d2, pair), hn::LoadU(d2, shares + 2 * r)), d2, pair);
#else
    pairs[2 * cells[r]] += shares[2 * r];
    pairs[2 * cells[r] + 1] += shares[2 * r + 1];
#endif
  }
}

void joseph_back(const JosephBack& job, JosephScratch& scratch) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t slices = job.z1 - job.z0;
  reserve(scratch, job.rows.size(), slices, 2);
  float* HWY_RESTRICT pairs = scratch.column.data();
  std::int32_t* HWY_RESTRICT cells = scratch.cells.data();
  float* HWY_RESTRICT shares = scratch.fractions.data();
  const std::int64_t low[2] = {job.x0, job.y0}, high[2] = {job.x1, job.y1};
  const std::int64_t apart[2] = {job.stride, job.stride * (job.x1 - job.x0)};
  for (int axis = 0; axis < 2; ++axis) {
    const int a = joseph_axis_a(axis), middle = job.grid.middle[axis];
    for (std::int64_t u = job.u0; u < job.u1; ++u) {
      const JosephColumn& column = job.columns[u];
      if (column.axis != axis) continue;
      // Planes of the tile where the column's place is within it, or next to it.
      double begin = std::max(static_cast<double>(column.first), static_cast<double>(low[axis] - middle));
      double end = std::min(static_cast<double>(column.last), static_cast<double>(high[axis] - middle));
      clip_planes(column.a0, column.da, static_cast<double>(low[a] - 1 - job.grid.middle[a]),
                  static_cast<double>(high[a] - job.grid.middle[a]), begin, end);
      const float* HWY_RESTRICT values = job.values + u * job.values_stride;
      for (int plane = static_cast<int>(begin); plane < static_cast<int>(end); ++plane) {
        const PlaneCrossing at = crossing(column, plane);
        const std::int64_t cell = at.cell + job.grid.middle[a];
        if (cell < low[a] - 1 || cell >= high[a]) continue;
        const RowsMet met = rows_met(at, job.grid, job.rows, column.middle_row, job.z0, job.z1);
        if (met.first >= met.last) continue;
        const std::int64_t vectors = (met.last - met.first + lanes - 1) / lanes, rows_end = met.first + vectors * lanes;
        const CellsMet range = each_height(at, job.grid, job.rows, column.middle_row, met, job.z0, job.z1,
                                           [&](std::int64_t r, VI at_cell, VF fraction) HWY_ATTR {
                                             hn::StoreU(at_cell, Ints(), cells + r);
                                             const VF value = hn::LoadU(d, values + r), up = hn::Mul(fraction, value);
                                             hn::StoreInterleaved2(hn::Sub(value, up), up, d, shares + 2 * r);
                                           });
        std::memset(pairs + 2 * (range.low - 1), 0,
                    sizeof(float) * static_cast<std::size_t>(2 * (range.high - range.low + 3 + lanes)));
        share_out(shares, cells, met, rows_end, pairs);
        // Slice z has the first share of its own cell and the second of the cell below.
        float* left = job.voxels + (plane + middle - low[axis]) * apart[axis] + (cell - low[a]) * apart[a];
        float* right = left + apart[a];
        const bool has_left = cell >= low[a], has_right = cell + 1 < high[a];
        const VF w1 = hn::Set(d, at.fraction), w0 = hn::Sub(hn::Set(d, 1.0F), w1);
        const std::int64_t from = std::max<std::int64_t>(range.low - first_cell - 1, 0);
        const std::int64_t to = std::min(range.high - first_cell + 1, slices);
        const float* HWY_RESTRICT own = pairs + 2 * (first_cell + 1);  // the cell of slice z0
        for (std::int64_t z = from; z < to; z += lanes) {
          VF first, second, unused;
          hn::LoadInterleaved2(d, own + 2 * z, first, unused);
          hn::LoadInterleaved2(d, own + 2 * z - 2, unused, second);
          const VF sum = hn::Add(first, second);
          // The tile's columns are padded, and what is written behind `to` is what was there.
          const auto inside = hn::FirstN(d, static_cast<std::size_t>(to - z));
          const VF kept = hn::IfThenElseZero(inside, sum);
          if (has_left) hn::StoreU(hn::MulAdd(w0, kept, hn::LoadU(d, left + z)), d, left + z);
          if (has_right) hn::StoreU(hn::MulAdd(w1, kept, hn::LoadU(d, right + z)), d, right + z);
        }
      }
    }
  }
}

JosephKernel joseph_kernel() { return {hwy::TargetName(HWY_TARGET), &joseph_forward, &joseph_back}; }

}  // namespace HWY_NAMESPACE
}  // namespace lepus::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::cpu {

HWY_EXPORT(joseph_kernel);

JosephKernel chosen_joseph_kernel() { return HWY_DYNAMIC_DISPATCH(joseph_kernel)(); }

bool stands_upright(const JosephView& view, std::int64_t rows) {
  for (int k = 0; k < 2; ++k) {
    const double change = std::abs(view.point[k][2]) + std::abs(view.direction[k][2]);
    // Of a whole detector, in voxels: what single precision does not see.
    if (!(change * static_cast<double>(rows) < 1e-9)) return false;
  }
  return true;
}

JosephColumn joseph_column(const JosephView& view, const JosephGrid& grid, std::int64_t u, std::int64_t rows) {
  const auto at = static_cast<double>(u);
  // The ray of row 0, kept from running along z.
  JosephView flat = view;
  for (int term = 0; term < 3; ++term) flat.direction[2][term] = 0;
  const MainAxisRay ray = main_axis_ray(flat, at, 0);
  const int axis = ray.axis, a = joseph_axis_a(axis);
  JosephColumn column;
  column.axis = axis;
  column.a0 = ray.a0;
  column.da = ray.da;
  column.place = view.point[axis][0] + at * view.point[axis][1];
  const double along = view.direction[axis][0] + at * view.direction[axis][1];
  column.over = 1 / along;
  column.z0 = view.point[2][0] + at * view.point[2][1];
  column.z0_row = view.point[2][2];
  column.dz = view.direction[2][0] + at * view.direction[2][1];
  column.dz_row = view.direction[2][2];
  column.across_mm = ray.way_mm * std::fabs(along);
  column.step_z_mm = view.step_mm[2];
  column.middle_row = static_cast<int>(rows / 2);
  double first = -grid.middle[axis], last = grid.size[axis] - grid.middle[axis];
  cut_at_source(ray, first, last);
  clip_planes(ray.a0, ray.da, -1 - grid.middle[a], grid.size[a] - grid.middle[a], first, last);
  if (!(first < last)) first = last = 0;
  column.first = static_cast<int>(first);
  column.last = static_cast<int>(last);
  double row_first = 0, row_last = static_cast<double>(rows);
  clip_planes(column.dz, column.dz_row, -std::fabs(along), std::fabs(along), row_first, row_last);
  if (!(row_first < row_last)) row_first = row_last = 0;
  column.rows = {static_cast<std::int64_t>(row_first), static_cast<std::int64_t>(row_last)};
  // A row more may have come along on each side.
  const auto steep = [&](std::int64_t row) { return main_axis_ray(view, at, static_cast<double>(row)).axis == 2; };
  while (column.rows.size() > 0 && steep(column.rows.first)) ++column.rows.first;
  while (column.rows.size() > 0 && steep(column.rows.last - 1)) --column.rows.last;
  return column;
}

}  // namespace lepus::cpu
#endif
