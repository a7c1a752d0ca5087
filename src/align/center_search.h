// SPDX-License-Identifier: Apache-2.0
// The score of all bands together, or of one, as a function of the column and the angle, and its tops.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "align/center_error.h"
#include "align/center_score.h"
#include "align/quadratic.h"

namespace lepus {

struct AngleRange {
  double first = 0, last = 0;  // rad
};

inline constexpr std::int64_t all_bands = -1;

class CenterSearch {
public:
  CenterSearch(const CenterInput& input, CenterScore& score, Context& context)
      : input_(input), score_(score), context_(context) {}

  ScoreParts parts(AxisPlace place, std::int64_t band) {
    return score_.parts(band, place.column, place.angle_rad, context_);
  }

  ScoreParts all_parts(AxisPlace place) {
    ScoreParts sum;
    for (std::int64_t b = 0; b < static_cast<std::int64_t>(input_.bands.size()); ++b) sum.add(parts(place, b));
    return sum;
  }

  double at(AxisPlace place, std::int64_t band = all_bands) {
    context_.cancel.check();
    const ScoreParts sum = band == all_bands ? all_parts(place) : parts(place, band);
    return sum.denominator > 0 ? sum.numerator / sum.denominator : -std::numeric_limits<double>::infinity();
  }

  std::vector<ScorePoint> curve(double first, double last, double step, double angle_rad,
                                std::int64_t band = all_bands) {
    std::vector<ScorePoint> points;
    const auto count = static_cast<std::int64_t>(std::floor((last - first) / step + 1e-6)) + 1;
    context_.progress.begin("axis", count);
    for (std::int64_t i = 0; i < count; ++i) {
      const double column = first + static_cast<double>(i) * step;
      points.push_back({column, at({column, angle_rad}, band)});
      context_.progress.advance();
    }
    context_.progress.end();
    return points;
  }

  // The top of a parabola through five points, steps from `widest` down to `finest`.
  double refine_column(AxisPlace start, double widest, double finest, std::int64_t band) {
    double column = start.column;
    for (double step = widest; step >= 0.999 * finest; step /= 2)
      for (int again = 0; again < 4; ++again) {
        Scores5 s{};
        for (std::size_t i = 0; i < s.size(); ++i)
          s[i] = at({column + (static_cast<double>(i) - 2) * step, start.angle_rad}, band);
        const double moved = step * parabola_top(s);
        column += moved;
        if (std::abs(moved) < 0.25 * step) break;
      }
    return column;
  }

  // The same for column and angle together: least squares of a quadratic in both on 5 x 5 points. Where the object does
  // not show the angle its quadratic is a saddle or a ridge, and only the range keeps it.
  AxisPlace refine(AxisPlace place, double column_step, double angle_step, double finest, AngleRange range) {
    for (double shrink = 1; column_step * shrink >= 0.999 * finest; shrink /= 2)
      for (int again = 0; again < 4; ++again) {
        const auto [dc, da] = top_around(place, column_step * shrink, angle_step * shrink);
        place.column += dc * column_step * shrink;
        place.angle_rad = std::clamp(place.angle_rad + da * angle_step * shrink, range.first, range.last);
        if (std::max(std::abs(dc), std::abs(da)) < 0.25) break;
      }
    return place;
  }

private:
  std::pair<double, double> top_around(AxisPlace place, double column_step, double angle_step) {
    Scores25 scores{};
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 5; ++j)
        scores[i][j] = at({place.column + (static_cast<double>(i) - 2) * column_step,
                           place.angle_rad + (static_cast<double>(j) - 2) * angle_step});
    return paraboloid_top(scores);
  }

  const CenterInput& input_;
  CenterScore& score_;
  Context& context_;
};

}  // namespace lepus
