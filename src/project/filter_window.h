// SPDX-License-Identifier: Apache-2.0
// What the mask of a filter sees, written once for host and device: what lies beyond an edge, which pixels have a full
// mask, where a part of a picture lies in the whole, floats as integers of the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "project/filter_options.h"
#include "project/host_device.h"

namespace lepus::filters {

// A stack whose rows and planes are counted in the whole of which it holds a part.
struct Stack {
  Planes part;
  std::int64_t first_row = 0, first_plane = 0;  // of `part`
  std::int64_t rows = 0, planes = 0;            // of the whole

  LEPUS_HD float* row(std::int64_t plane, std::int64_t y) const { return part.row(plane - first_plane, y - first_row); }
};

inline Stack stack_of(const Planes& part, RowBand rows, RowBand planes, const FilterCut& cut) {
  return {part, rows.first, planes.first, cut.whole_rows, cut.whole_planes};
}

// Where the mask finds pixel i of a line of n pixels, -1 where it finds none; i is less than n beyond an edge.
LEPUS_HD inline std::int64_t border_index(FilterBorder border, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case FilterBorder::wrap:
      return i < 0 ? i + n : i - n;
    case FilterBorder::mirror:
      return i < 0 ? -i : 2 * (n - 1) - i;
    case FilterBorder::clamp:
      return i < 0 ? 0 : n - 1;
    default:
      return -1;
  }
}

LEPUS_HD inline bool full_mask(std::int64_t i, std::int64_t n, std::int64_t radius) {
  return i >= radius && i + radius < n;
}

// One pass over a stack: the mask's reach along each axis, and the region that comes out. Under FilterBorder::keep the
// mask finds the outermost pixel, and the last pass puts back what lies nearer to the edge than `kept`.
struct Pass {
  FilterKind kind = FilterKind::box;
  FilterBorder border = FilterBorder::clamp;  // never keep
  std::int64_t reach_u = 0, reach_v = 0, reach_z = 0;
  std::int64_t kept_u = 0, kept_v = 0, kept_z = 0;
  double sigma = 1, sigma_value = 1;
  RowBand rows, planes;
};

// Box and Gaussian go along one axis after the other.
inline bool separable(FilterKind kind) { return kind == FilterKind::box || kind == FilterKind::gaussian; }

// The passes of a filter in their order: of box and Gaussian one along each axis, of the others one with the whole
// mask.
std::vector<Pass> passes_of(const FilterOptions& options, const FilterCut& cut);

// Memory that takes what comes out of a pass.
inline Stack packed_stack(float* data, std::int64_t width, const Pass& pass, const FilterCut& cut) {
  const std::int64_t rows = pass.rows.size();
  return stack_of({data, width, rows, width, pass.planes.size(), width * rows}, pass.rows, pass.planes, cut);
}

// Checks, then calls `run` for every pass: the stack as it came, what the pass reads, what it writes. What lies between
// two passes is written to scratch memory 0 or 1, of at least so many floats.
using RunPass = std::function<void(const Pass&, const Stack& original, const Stack& from, const Stack& to)>;
void run_passes(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
                const std::function<float*(int, std::int64_t)>& scratch, const RunPass& run);

LEPUS_HD inline bool row_is_kept(const Pass& pass, const Stack& whole, std::int64_t plane, std::int64_t y) {
  return !full_mask(y, whole.rows, pass.kept_v) || !full_mask(plane, whole.planes, pass.kept_z);
}

// Order of floats as order of unsigned integers; what is not there lies above all numbers.
LEPUS_HD inline std::uint32_t ordered_bits(std::uint32_t float_bits) {
  return float_bits & 0x80000000u ? ~float_bits : float_bits | 0x80000000u;
}
LEPUS_HD inline std::uint32_t float_bits_of(std::uint32_t ordered) {
  return ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered;
}
inline constexpr std::uint32_t absent = 0xffffffffu;

}  // namespace lepus::filters
