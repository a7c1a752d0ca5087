// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/host_passes.h"

#include <algorithm>

namespace lepus::filters {

void run_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads) {
  switch (pass.kind) {
    case FilterKind::box:
    case FilterKind::gaussian:
      return smooth_on_host(pass, original, from, to, threads);
    case FilterKind::median:
      return median_on_host(pass, original, from, to, threads);
    case FilterKind::bilateral:
      return bilateral_on_host(pass, original, from, to, threads);
  }
}

std::int64_t host_scratch_bytes(std::int64_t width, const FilterOptions& options) {
  const std::int64_t r = options.radius, line = (width + 2 * r + 128) * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t deep = options.dimensions > 2 ? 2 * r + 1 : 1;
  if (options.kind == FilterKind::bilateral) return options.dimensions == 1 ? 4 * line : deep * (2 * r + 16) * line;
  if (options.kind != FilterKind::median) return (options.dimensions == 1 ? 4 : 2 * r + 4) * line;
  // Keys twice, coordinates and buckets of a tile (median.cpp).
  const std::int64_t side = std::max<std::int64_t>(128, 2 * r) + 2 * r;
  return 24 * (options.dimensions == 1 ? width + 2 * r : side * side * deep) + (std::int64_t{1} << 18);
}

void gather_row(const Pass& pass, const Stack& from, std::int64_t z, std::int64_t y, std::int64_t first,
                std::int64_t last, float nothing, float* out) {
  const std::int64_t at_z = border_index(pass.border, z, from.planes), at_y = border_index(pass.border, y, from.rows);
  if (at_z < 0 || at_y < 0) {
    std::fill_n(out, last - first, nothing);
    return;
  }
  const std::int64_t width = from.part.width;
  const float* row = from.row(at_z, at_y);
  const std::int64_t inside0 = std::clamp<std::int64_t>(0, first, last), inside1 = std::clamp(width, inside0, last);
  const auto beyond = [&](std::int64_t x) {
    const std::int64_t at = border_index(pass.border, x, width);
    return at < 0 ? nothing : row[at];
  };
  for (std::int64_t x = first; x < inside0; ++x) out[x - first] = beyond(x);
  std::copy(row + inside0, row + inside1, out + (inside0 - first));
  for (std::int64_t x = inside1; x < last; ++x) out[x - first] = beyond(x);
}

void put_back(const Pass& pass, const Stack& original, const Stack& to, std::int64_t z, std::int64_t y,
              std::int64_t first, std::int64_t last) {
  const float* was = original.row(z, y);
  float* row = to.row(z, y);
  if (row_is_kept(pass, to, z, y)) {
    std::copy(was + first, was + last, row + first);
    return;
  }
  const std::int64_t left = std::min(pass.kept_u, last), right = std::max(to.part.width - pass.kept_u, first);
  if (left > first) std::copy(was + first, was + left, row + first);
  if (right < last) std::copy(was + right, was + last, row + right);
}

}  // namespace lepus::filters
