// SPDX-License-Identifier: Apache-2.0
// The bilateral filter on the CPU: a weighted mean over the mask, weight exp(-distance^2 / 2 sigma^2 -
// difference^2 / 2 sigma_value^2), taken of the differences from the middle pixel, which loses no digits.
#include <algorithm>
#include <numbers>
#include <vector>

#include "core/memory.h"
#include "device/host/band_kernels/host_passes.h"
#include "device/host/band_kernels/row_kernels.h"

namespace lepus::filters {
namespace {

constexpr double log2_e = std::numbers::log2e;

struct Lines {
  Buffer<float> values, result;
  std::vector<BilateralRow> rows;
};

}  // namespace

void bilateral_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to,
                       ThreadPool& threads) {
  const std::int64_t width = from.part.width, r = pass.reach_u, rv = pass.reach_v, rz = pass.reach_z;
  const double per_distance2 = log2_e / (2 * pass.sigma * pass.sigma);
  const auto falloff = static_cast<float>(log2_e / (2 * pass.sigma_value * pass.sigma_value));
  std::vector<float> taps;
  for (std::int64_t k = -r; k <= r; ++k)
    taps.push_back(static_cast<float>(-per_distance2 * static_cast<double>(k * k)));
  // The least weight is 2^-126: what is not there adds nothing that a float would show, and its square is a number.
  const float nothing = pass.border == FilterBorder::zero ? 0.0f : 1e15f;
  // Rows of one task: their masks share rows that are copied once.
  const std::int64_t at_once = rv == 0 ? 1 : 16, deep = 2 * rz + 1, high = at_once + 2 * rv;
  const std::int64_t length = width + 2 * r + slack, groups = (pass.rows.size() + at_once - 1) / at_once;
  std::vector<Lines> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(
      0, groups * pass.planes.size(), rv == 0 ? 16 : 1, [&](std::int64_t begin, std::int64_t end, int worker) {
        Lines& mine = scratch[static_cast<std::size_t>(worker)];
        if (mine.values.size() == 0) {
          mine.values = Buffer<float>(deep * high * length);
          mine.result = Buffer<float>(length);
          std::fill(mine.values.begin(), mine.values.end(), 0.0f);
        }
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t z = pass.planes.first + task / groups, y0 = pass.rows.first + task % groups * at_once;
          const std::int64_t y1 = std::min(y0 + at_once, pass.rows.last);
          const auto line = [&](std::int64_t dz, std::int64_t y) {
            return mine.values.data() + ((dz + rz) * high + y - (y0 - rv)) * length;
          };
          for (std::int64_t dz = -rz; dz <= rz; ++dz)
            for (std::int64_t y = y0 - rv; y < y1 + rv; ++y)
              gather_row(pass, from, z + dz, y, -r, width + r, nothing, line(dz, y));
          for (std::int64_t y = y0; y < y1; ++y) {
            mine.rows.clear();
            for (std::int64_t dz = -rz; dz <= rz; ++dz)
              for (std::int64_t dy = -rv; dy <= rv; ++dy)
                mine.rows.push_back(
                    {line(dz, y + dy), static_cast<float>(-per_distance2 * static_cast<double>(dz * dz + dy * dy))});
            row_kernels().bilateral(mine.rows.data(), static_cast<std::int64_t>(mine.rows.size()), taps.data(),
                                    2 * r + 1, falloff, line(0, y) + r, mine.result.data(), width);
            std::copy_n(mine.result.data(), width, to.row(z, y));
            put_back(pass, original, to, z, y, 0, width);
          }
        }
      });
}

}  // namespace lepus::filters
