// SPDX-License-Identifier: Apache-2.0
// Joseph's rays of an upright view, detector column by detector column: all rays of a column meet a plane of voxels on
// x or y at one place a, and at heights b that are affine in the row. So a plane's two voxel columns around a are
// blended once for the whole detector column, and every ray takes its sample from that one column: with z fastest in
// memory all of it is plain loads. Heights are set up in double precision per plane and detector column, and rows
// counted from the detector's middle: any piece of the work finds the same numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "geometry/row_band.h"
#include "project/joseph.h"

namespace lepus::cpu {

struct JosephColumn {
  int axis = 0;             // of the planes: x or y
  int first = 0, last = 0;  // planes, from the middle
  double a0 = 0, da = 0;
  double place = 0, over = 0;                     // plane i is at t = (i - place) over along the rays
  double z0 = 0, z0_row = 0, dz = 0, dz_row = 0;  // height at t: z0 + row z0_row + t (dz + row dz_row)
  RowBand rows;                                   // whose rays have planes on x or y; those of the others run along z
  double across_mm = 0, step_z_mm = 0;            // of a ray's direction: its horizontal length, and a voxel's height
  int middle_row = 0;

  // The way from plane to plane.
  float way_mm(std::int64_t row) const {
    const double up = (dz + static_cast<double>(row) * dz_row) * step_z_mm;
    return static_cast<float>(std::sqrt(across_mm * across_mm + up * up) * std::fabs(over));
  }
};

// Heights of rows, counted from the detector's middle: height + row * per_row.
struct RowLine {
  float height = 0, per_row = 0;
};

// Where a detector column meets a plane: between voxels `cell` and cell + 1 of the plane's first axis, and at heights
// low + row * per_row - 1/2, row counted from the middle.
struct PlaneCrossing : RowLine {
  int cell = 0;
  float fraction = 0;
};

inline PlaneCrossing crossing(const JosephColumn& column, int plane) {
  const double a = column.a0 + plane * column.da, cell = std::floor(a), t = (plane - column.place) * column.over;
  const double per_row = column.z0_row + t * column.dz_row;
  PlaneCrossing out;
  out.height = static_cast<float>(column.z0 + t * column.dz + column.middle_row * per_row - 0.5);
  out.per_row = static_cast<float>(per_row);
  out.cell = static_cast<int>(cell);
  out.fraction = static_cast<float>(a - cell);
  return out;
}

// Do all rays of a detector column of this view stand above one another?
bool stands_upright(const JosephView& view, std::int64_t rows);
JosephColumn joseph_column(const JosephView& view, const JosephGrid& grid, std::int64_t u, std::int64_t rows);

// Some detector columns of a view through the slices held, z fastest: voxels[(y * nx + x) * stride + z - z0]; sums of
// column i lie from sums + i * sums_stride on, one per row of `rows`. They are not yet multiplied by the way.
struct JosephForward {
  JosephGrid grid;
  const JosephColumn* columns = nullptr;
  int count = 0;
  const float* voxels = nullptr;
  std::int64_t stride = 0, z0 = 0, z1 = 0;
  RowBand rows;
  float* sums = nullptr;
  std::int64_t sums_stride = 0;
};

// A tile of voxel columns [x0, x1) x [y0, y1), z fastest: voxels[((y - y0) * (x1 - x0) + x - x0) * stride + z - z0],
// and detector columns [u0, u1) of a view with their values times the way, values[u * values_stride + row -
// rows.first].
struct JosephBack {
  JosephGrid grid;
  const JosephColumn* columns = nullptr;  // of the whole detector
  std::int64_t u0 = 0, u1 = 0;
  const float* values = nullptr;
  std::int64_t values_stride = 0;
  RowBand rows;
  float* voxels = nullptr;
  std::int64_t stride = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
};

// Working memory of a thread.
struct JosephScratch {
  std::vector<float> column, fractions;
  std::vector<std::int32_t> cells;
};

struct JosephKernel {
  const char* target;
  void (*forward)(const JosephForward&, JosephScratch&);
  void (*back)(const JosephBack&, JosephScratch&);
};
JosephKernel chosen_joseph_kernel();

// Whole vectors may be read and written: arrays of rows and of slices have this many floats more.
inline constexpr std::int64_t joseph_padding = 32;

}  // namespace lepus::cpu
