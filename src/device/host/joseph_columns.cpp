// SPDX-License-Identifier: Apache-2.0
// The kernels of joseph_columns.h, compiled for every SIMD target that Highway knows here.
#include "device/host/joseph_columns.h"

#include <algorithm>
#include <cstring>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/joseph_columns.cpp"
#include "hwy/foreach_target.h"

#include "device/host/heights-inl.h"
#include "device/host/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE void reserve(JosephScratch& scratch, std::int64_t rows, std::int64_t slices, std::int64_t per_cell) {
  const auto grown = [](auto& buffer, std::int64_t size) {
    if (static_cast<std::int64_t>(buffer.size()) < size) buffer.assign(static_cast<std::size_t>(size), 0);
  };
  grown(scratch.cells, 2 * (rows + 2 * joseph_padding));
  grown(scratch.fractions, 2 * (rows + joseph_padding));
  grown(scratch.column, per_cell * (slices + 2 * joseph_padding));
}

// The voxel column that a detector column will be at a few planes on, towards the L1 cache: it comes from main memory.
constexpr int planes_ahead = 2;
HWY_INLINE void fetch_ahead(const JosephForward& job, const JosephColumn& column, int plane, std::int64_t slices) {
  if (plane >= column.last) return;
  const int a = joseph_axis_a(column.axis);
  const std::int64_t apart[2] = {job.stride, job.stride * job.grid.size[0]};
  const std::int64_t cell =
      static_cast<std::int64_t>(std::floor(column.a0 + plane * column.da)) + job.grid.middle[a] + 1;
  if (cell < 0 || cell >= job.grid.size[a]) return;
  const float* voxels = job.voxels + (plane + job.grid.middle[column.axis]) * apart[column.axis] + cell * apart[a];
  for (std::int64_t z = 0; z < slices; z += 16) hwy::Prefetch(voxels + z);
}

// A detector column in a plane: the two voxel columns around it blended into one, where its rows need it.
struct BlendedPlane {
  PlaneCrossing at;
  RowsMet met;
};

// False where the column misses the plane's voxels.
HWY_INLINE bool find_plane(const JosephForward& job, const JosephColumn& column, int plane, BlendedPlane& found) {
  if (plane < column.first || plane >= column.last) return false;
  found.at = crossing(column, plane);
  const int a = joseph_axis_a(column.axis), cell = found.at.cell + job.grid.middle[a];
  if (cell < -1 || cell >= job.grid.size[a]) return false;
  found.met = rows_met(found.at, job.grid, job.rows, column.middle_row, job.z0, job.z1);
  return found.met.first < found.met.last;
}

HWY_INLINE void blend(const JosephForward& job, const JosephColumn& column, int plane, const PlaneCrossing& at,
                      const Heights& heights, float* HWY_RESTRICT blended) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t slices = job.z1 - job.z0, apart[2] = {job.stride, job.stride * job.grid.size[0]};
  const int a = joseph_axis_a(column.axis), cell = at.cell + job.grid.middle[a];
  fetch_ahead(job, column, plane + planes_ahead, slices);
  const float* HWY_RESTRICT left =
      job.voxels + (plane + job.grid.middle[column.axis]) * apart[column.axis] + cell * apart[a];
  const float* HWY_RESTRICT right = left + apart[a];
  const float weight = cell < 0 ? 0.0F : 1 - at.fraction, other = cell + 1 < job.grid.size[a] ? at.fraction : 0.0F;
  if (cell < 0) left = right;
  if (cell + 1 >= job.grid.size[a]) right = left;
  // Slice z0 lies behind its cell z0 - 1; zeros around the slices stay.
  float* HWY_RESTRICT out = blended + first_cell + 1;
  const std::int64_t to = std::min(heights.high_cell() - first_cell + 1, slices);
  const VF w0 = hn::Set(d, weight), w1 = hn::Set(d, other);
  std::int64_t z = std::max<std::int64_t>(heights.low_cell() - first_cell - 1, 0);
  for (; z + lanes <= to; z += lanes)
    hn::StoreU(hn::MulAdd(w1, hn::LoadU(d, right + z), hn::Mul(w0, hn::LoadU(d, left + z))), d, out + z);
  for (; z < to; ++z) out[z] = std::fma(other, right[z], weight * left[z]);
}

// Planes [plane, plane + 2) of a detector column.
HWY_INLINE void add_planes(const JosephForward& job, const JosephColumn& column, int plane, JosephScratch& scratch,
                           float* HWY_RESTRICT sums) {
  const std::int64_t buffer = static_cast<std::int64_t>(scratch.column.size()) / 2,
                     cells = static_cast<std::int64_t>(scratch.cells.size()) / 2;
  float* const columns[2] = {scratch.column.data(), scratch.column.data() + buffer};
  std::int32_t* const at_cells[2] = {scratch.cells.data(), scratch.cells.data() + cells};
  BlendedPlane found[2];
  bool meets[2];
  for (int i = 0; i < 2; ++i) meets[i] = find_plane(job, column, plane + i, found[i]);
  if (meets[0] && meets[1] && found[0].met.first == found[1].met.first && found[0].met.last == found[1].met.last) {
    const Heights one(found[0].at, job.grid, job.rows, column.middle_row, found[0].met, job.z0, job.z1),
        two(found[1].at, job.grid, job.rows, column.middle_row, found[1].met, job.z0, job.z1);
    if (one.inside() && two.inside()) {
      blend(job, column, plane, found[0].at, one, columns[0]);
      blend(job, column, plane + 1, found[1].at, two, columns[1]);
      return one.close() && two.close() ? sample_two_columns<true>(columns[0], columns[1], one, two, found[0].met,
                                                                   at_cells[0], at_cells[1], sums)
                                        : sample_two_columns<false>(columns[0], columns[1], one, two, found[0].met,
                                                                    at_cells[0], at_cells[1], sums);
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (!meets[i]) continue;
    const Heights heights(found[i].at, job.grid, job.rows, column.middle_row, found[i].met, job.z0, job.z1);
    blend(job, column, plane + i, found[i].at, heights, columns[i]);
    sample_column(columns[i], heights, found[i].met, at_cells[i], sums);
  }
}

void joseph_forward(const JosephForward& job, JosephScratch& scratch) {
  reserve(scratch, job.rows.size(), job.z1 - job.z0, 2);
  std::fill(scratch.column.begin(), scratch.column.end(), 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    int first = job.grid.size[axis], last = -first;
    for (int i = 0; i < job.count; ++i)
      if (job.columns[i].axis == axis) {
        first = std::min(first, job.columns[i].first);
        last = std::max(last, job.columns[i].last);
      }
    for (int plane = first; plane < last; plane += 2)
      for (int i = 0; i < job.count; ++i)
        if (job.columns[i].axis == axis)
          add_planes(job, job.columns[i], plane, scratch, job.sums + i * job.sums_stride);
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
        const Heights heights(at, job.grid, job.rows, column.middle_row, met, job.z0, job.z1);
        make_shares(heights, met, values, cells, shares);
        std::memset(
            pairs + 2 * (heights.low_cell() - 1), 0,
            sizeof(float) * static_cast<std::size_t>(2 * (heights.high_cell() - heights.low_cell() + 3 + lanes)));
        share_out(shares, cells, heights.end() - met.first, pairs);
        float* left = job.voxels + (plane + middle - low[axis]) * apart[axis] + (cell - low[a]) * apart[a];
        float* right = left + apart[a];
        const bool has_left = cell >= low[a], has_right = cell + 1 < high[a];
        const VF w1 = hn::Set(d, at.fraction), w0 = hn::Sub(hn::Set(d, 1.0F), w1);
        add_pairs(pairs, heights.low_cell(), heights.high_cell(), slices, [&](std::int64_t z, VF sum) HWY_ATTR {
          if (has_left) hn::StoreU(hn::MulAdd(w0, sum, hn::LoadU(d, left + z)), d, left + z);
          if (has_right) hn::StoreU(hn::MulAdd(w1, sum, hn::LoadU(d, right + z)), d, right + z);
        });
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
