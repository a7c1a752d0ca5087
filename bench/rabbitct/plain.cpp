// SPDX-License-Identifier: Apache-2.0
#include "bench/rabbitct/plain.h"

#include <algorithm>

#include "project/detector_point.h"
#include "project/interpolate.h"
#include "bench/rabbitct/format.h"

namespace lepus::rabbitct {

PlainSlices::PlainSlices(std::int64_t size, std::vector<std::int64_t> slices)
    : grid_(grid_of(size)), slices_(std::move(slices)), sums_(slices_.size() * static_cast<std::size_t>(size * size)) {}

const double* PlainSlices::values(std::size_t index) const {
  return sums_.data() + index * static_cast<std::size_t>(grid_.nx * grid_.ny);
}

void PlainSlices::add(const Matrix34& matrix, std::int64_t columns, std::int64_t rows, const float* view,
                      ThreadPool& threads) {
  const double side = matrix(2, 3) < 0 ? -1.0 : 1.0;
  const auto pixel = [&](std::int64_t column, std::int64_t row) { return view[row * columns + column]; };
  const auto lines = static_cast<std::int64_t>(slices_.size()) * grid_.ny;
  threads.parallel_for(0, lines, 16, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t line = first; line < last; ++line) {
      double* out = sums_.data() + line * grid_.nx;
      const auto z = static_cast<double>(slices_[static_cast<std::size_t>(line / grid_.ny)]);
      for (std::int64_t x = 0; x < grid_.nx; ++x) {
        const Vec3 p = grid_.centre(static_cast<double>(x), static_cast<double>(line % grid_.ny), z);
        const auto point = detector_point(matrix.m.data(), Beam::cone, p.x, p.y, p.z);
        if (in_front_of_source(side * point.w))
          out[x] += distance_weight(Beam::cone, point.w) *
                    sample(Interpolation::linear, columns, rows, point.u, point.v, pixel);
      }
    }
  });
}

std::vector<std::int64_t> spread_slices(std::int64_t size, std::int64_t count) {
  const std::int64_t n = std::clamp<std::int64_t>(count, 0, size);
  std::vector<std::int64_t> slices;
  for (std::int64_t i = 0; i < n; ++i) slices.push_back((2 * i + 1) * size / (2 * n));
  return slices;
}

}  // namespace lepus::rabbitct
