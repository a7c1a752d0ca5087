// SPDX-License-Identifier: Apache-2.0
// The top of a quadratic that is fitted, by least squares, to scores on a small grid: on -2 ... 2 steps of one unknown,
// or on 5 x 5 steps of two. In steps from the grid's middle, at most two; the best point where there is no top.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace lepus {

using Scores5 = std::array<double, 5>;
using Scores25 = std::array<Scores5, 5>;  // [first unknown][second]

inline double parabola_top(const Scores5& s) {
  const auto best = std::max_element(s.begin(), s.end()) - s.begin() - 2;
  const double slope = (2 * (s[4] - s[0]) + s[3] - s[1]) / 10;
  const double curvature = (2 * s[0] - s[1] - 2 * s[2] - s[3] + 2 * s[4]) / 7;  // twice the quadratic's coefficient
  if (!std::isfinite(slope) || !(curvature < 0)) return static_cast<double>(best);
  return std::clamp(-slope / curvature, -2.0, 2.0);
}

// f = a + b x + c y + d x^2 + e x y + g y^2: the grid's symmetry separates most of the sums.
inline std::pair<double, double> paraboloid_top(const Scores25& scores) {
  double sum = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  std::pair<double, double> best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t column = 0; column < 5; ++column) {
      const double s = scores[row][column], i = static_cast<double>(row) - 2, j = static_cast<double>(column) - 2;
      if (s > best_score) {
        best_score = s;
        best = {i, j};
      }
      sum += s;
      x += i * s;
      y += j * s;
      xx += i * i * s;
      xy += i * j * s;
      yy += j * j * s;
    }
  // Sums over the 25 points: 1 -> 25, i^2 -> 50, i^4 -> 170, i^2 j^2 -> 100.
  const double b = x / 50, c = y / 50, e = xy / 100;
  const double d = (xx - 2 * sum) / 70, g = (yy - 2 * sum) / 70;
  const double determinant = 4 * d * g - e * e;
  if (!std::isfinite(sum) || !(d < 0) || !(determinant > 0)) return best;
  return {std::clamp((e * c - 2 * g * b) / determinant, -2.0, 2.0),
          std::clamp((e * b - 2 * d * c) / determinant, -2.0, 2.0)};
}

}  // namespace lepus
