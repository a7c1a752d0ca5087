// SPDX-License-Identifier: Apache-2.0
#include "project/seen_pixels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "project/detector_point.h"

namespace lepus {

// In front of the source u and v have no extremes within a box but at its corners.
PixelWindow seen_pixels(const Matrix34& matrix, Beam beam, std::int64_t columns, std::int64_t rows,
                        const VoxelRanges& box) {
  if (box.x0 >= box.x1 || box.y0 >= box.y1 || box.z0 >= box.z1) return {};
  const auto ends = [](std::int64_t first, std::int64_t last, int end) {
    return static_cast<double>(end == 0 ? first - 1 : last);  // one voxel around
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double u_low = infinity, u_high = -infinity, v_low = infinity, v_high = -infinity;
  for (int corner = 0; corner < 8; ++corner) {
    const DetectorPoint<double> at =
        detector_point(matrix.m.data(), beam, ends(box.x0, box.x1, corner & 1), ends(box.y0, box.y1, corner >> 1 & 1),
                       ends(box.z0, box.z1, corner >> 2));
    if (!in_front_of_source(at.w)) return {0, columns, 0, rows};
    u_low = std::min(u_low, at.u);
    u_high = std::max(u_high, at.u);
    v_low = std::min(v_low, at.v);
    v_high = std::max(v_high, at.v);
  }
  const auto first = [](double low, std::int64_t n) {
    return static_cast<std::int64_t>(std::clamp(std::floor(low) - 1, 0.0, static_cast<double>(n)));
  };
  const auto last = [](double high, std::int64_t n) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(high) + 2, 0.0, static_cast<double>(n)));
  };
  const PixelWindow window{first(u_low, columns), last(u_high, columns), first(v_low, rows), last(v_high, rows)};
  return window.empty() ? PixelWindow{} : window;
}

}  // namespace lepus
