// SPDX-License-Identifier: Apache-2.0
// Dilation by a ball, 32 voxels at a time: the ball is a set of rows (dy, dz), each reaching `half` voxels to both
// sides; a voxel of the result is one where any row of the ball around it meets a one.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "project/host_device.h"

namespace lepus {

struct BallRow {
  std::int8_t dy = 0, dz = 0, half = 0;
};

inline constexpr double largest_ball_radius = 31;  // a row reaches no further than the words beside it

// All voxels within the radius, which counts in voxels and may be typed in decimals.
inline std::vector<BallRow> ball_rows(double radius) {
  const auto limit = static_cast<int>(radius * radius * (1 + 1e-12)), reach = static_cast<int>(std::sqrt(limit));
  std::vector<BallRow> rows;
  for (int dz = -reach; dz <= reach; ++dz)
    for (int dy = -reach; dy <= reach; ++dy) {
      const int rest = limit - dy * dy - dz * dz;
      if (rest < 0) continue;
      int half = static_cast<int>(std::sqrt(rest));
      while (half * half > rest) --half;
      while ((half + 1) * (half + 1) <= rest) ++half;
      rows.push_back({static_cast<std::int8_t>(dy), static_cast<std::int8_t>(dz), static_cast<std::int8_t>(half)});
    }
  return rows;
}

// The word `here` of a row, each one spread by `half` <= 31 voxels to both sides; `left` and `right` are the words
// beside it, the first voxel is in the lowest bit. Windows grow by doubling.
LEPUS_HD inline std::uint32_t spread_word(std::uint32_t left, std::uint32_t here, std::uint32_t right, int half) {
  std::uint64_t down = static_cast<std::uint64_t>(right) << 32 | here,
                up = static_cast<std::uint64_t>(here) << 32 | left;
  for (int covered = 0; covered < half;) {
    const int n = covered + 1 < half - covered ? covered + 1 : half - covered;
    down |= down >> n;
    up |= up << n;
    covered += n;
  }
  return static_cast<std::uint32_t>(down) | static_cast<std::uint32_t>(up >> 32);
}

// Ones of word w of a row that counts nx voxels.
LEPUS_HD inline std::uint32_t voxels_of_word(std::int64_t nx, std::int64_t w) {
  const std::int64_t left = nx - 32 * w;
  return left >= 32 ? ~std::uint32_t{0} : left > 0 ? (std::uint32_t{1} << left) - 1 : 0;
}

// Word w of row (y, z) of the volume dilated by a ball; with flip = all ones, eroded: the zeros are spread, and what is
// outside the volume is neither one nor zero. Shape: nx, ny, nz, row_words.
template <class Shape>
LEPUS_HD inline std::uint32_t ball_word(const std::uint32_t* bits, const Shape& shape, const BallRow* rows, int count,
                                        std::uint32_t flip, std::int64_t w, std::int64_t y, std::int64_t z) {
  const std::uint32_t valid = voxels_of_word(shape.nx, w);
  const std::uint32_t valid_left = w > 0 ? ~std::uint32_t{0} : 0;
  const std::uint32_t valid_right = w + 1 < shape.row_words ? voxels_of_word(shape.nx, w + 1) : 0;
  std::uint32_t found = 0;
  for (int i = 0; i < count; ++i) {
    const std::int64_t j = y + rows[i].dy, k = z + rows[i].dz;
    if (j < 0 || k < 0 || j >= shape.ny || k >= shape.nz) continue;
    const std::uint32_t* const at = bits + (k * shape.ny + j) * shape.row_words + w;
    found |= spread_word(valid_left != 0 ? (at[-1] ^ flip) & valid_left : 0, (at[0] ^ flip) & valid,
                         valid_right != 0 ? (at[1] ^ flip) & valid_right : 0, rows[i].half);
    if ((found & valid) == valid) break;
  }
  return (found ^ flip) & valid;
}

}  // namespace lepus
