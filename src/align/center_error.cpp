// SPDX-License-Identifier: Apache-2.0
#include "align/center_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "align/quadratic.h"

namespace lepus {
namespace {

constexpr double grid_columns = 0.25;  // step of the grid on which the scores are fitted

// Scores of every band and direction on the 5 x 5 grid (5 x 1 where the angle is not looked for).
class Cells {
public:
  Cells(CenterScore& score, std::int64_t bands, AxisPlace place, double angle_step_rad, Context& context)
      : bands_(static_cast<std::size_t>(bands)), place_(place), angle_step_(grid_columns * angle_step_rad) {
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < (tilted() ? 5U : 1U); ++j)
        for (std::size_t b = 0; b < bands_; ++b)
          parts_[i][j].push_back(score.by_direction(static_cast<std::int64_t>(b), column_at(i), angle_at(j), context));
    directions_ = parts_[2][0].front().size();
  }

  bool tilted() const { return angle_step_ > 0; }
  std::size_t directions() const { return directions_; }

  // How much of the comparison a direction is.
  double share(std::size_t direction) const {
    double part = 0, all = 0;
    const auto& middle = parts_[2][tilted() ? 2 : 0];
    for (std::size_t b = 0; b < bands_; ++b)
      for (std::size_t d = 0; d < directions_; ++d) {
        all += middle[b][d].denominator;
        if (d == direction) part += middle[b][d].denominator;
      }
    return all > 0 ? part / all : 0;
  }

  // The top without a direction, from the place that was given.
  AxisPlace without(std::size_t direction) const {
    Scores25 scores{};
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < (tilted() ? 5U : 1U); ++j) {
        ScoreParts sum;
        for (std::size_t b = 0; b < bands_; ++b)
          for (std::size_t d = 0; d < directions_; ++d)
            if (d != direction) sum.add(parts_[i][j][b][d]);
        scores[i][j] = sum.denominator > 0 ? sum.numerator / sum.denominator : -std::numeric_limits<double>::infinity();
      }
    if (tilted()) {
      const auto [column, angle] = paraboloid_top(scores);
      return {column * grid_columns, angle * angle_step_};
    }
    Scores5 line{};
    for (std::size_t i = 0; i < 5; ++i) line[i] = scores[i][0];
    return {parabola_top(line) * grid_columns, 0};
  }

private:
  double column_at(std::size_t i) const { return place_.column + (static_cast<double>(i) - 2) * grid_columns; }
  double angle_at(std::size_t j) const {
    return tilted() ? place_.angle_rad + (static_cast<double>(j) - 2) * angle_step_ : place_.angle_rad;
  }

  std::size_t bands_, directions_ = 1;
  AxisPlace place_;
  double angle_step_;
  std::vector<std::vector<ScoreParts>> parts_[5][5];  // [band][direction]
};

// Of the estimates that left one out.
AxisErrors jackknife(const std::vector<AxisPlace>& without) {
  const auto n = static_cast<double>(without.size());
  if (without.size() < 2) return {};
  AxisPlace mean;
  for (const AxisPlace& p : without) {
    mean.column += p.column / n;
    mean.angle_rad += p.angle_rad / n;
  }
  AxisErrors squares;
  for (const AxisPlace& p : without) {
    squares.column += (p.column - mean.column) * (p.column - mean.column);
    squares.angle_rad += (p.angle_rad - mean.angle_rad) * (p.angle_rad - mean.angle_rad);
  }
  return {std::sqrt((n - 1) / n * squares.column), std::sqrt((n - 1) / n * squares.angle_rad)};
}

}  // namespace

AxisErrors spread_of_directions(CenterScore& score, std::int64_t bands, AxisPlace place, double angle_step_rad,
                                Context& context) {
  const Cells cells(score, bands, place, angle_step_rad, context);
  constexpr double minimum_share = 0.01;
  std::vector<AxisPlace> without;
  for (std::size_t d = 0; d < cells.directions(); ++d)
    if (cells.share(d) > minimum_share) without.push_back(cells.without(d));
  if (without.size() < 2) return {};
  // What a direction says wrongly of the object it says all over itself: where few were seen, their spread does not
  // show what the others would have added.
  const double unseen = std::sqrt(static_cast<double>(cells.directions()) / static_cast<double>(without.size()));
  const AxisErrors spread = jackknife(without);
  return {unseen * spread.column, unseen * spread.angle_rad};
}

AxisErrors spread_of_bands(std::vector<BandDistance> bands, bool tilted, double aspect) {
  const auto n = static_cast<double>(bands.size());
  const double fitted = tilted ? 2 : 1;
  if (n <= fitted) return {};
  double rows = 0, squares = 0;
  for (const BandDistance& band : bands) {
    rows += band.row;
    squares += band.row * band.row;
  }
  // From the median, as one band may show next to nothing; 1.48 makes it the standard deviation of normal deviates.
  const auto middle = bands.begin() + static_cast<std::ptrdiff_t>(bands.size() / 2);
  std::nth_element(bands.begin(), middle, bands.end(), [](const BandDistance& a, const BandDistance& b) {
    return std::abs(a.columns) < std::abs(b.columns);
  });
  const double deviation = 1.48 * std::abs(middle->columns) * std::sqrt(n / (n - fitted));
  const double spread = squares / n - rows / n * (rows / n);
  return {deviation / std::sqrt(n), tilted && spread > 0 ? deviation / std::sqrt(n * spread) / aspect : 0};
}

}  // namespace lepus
