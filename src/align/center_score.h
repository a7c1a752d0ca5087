// SPDX-License-Identifier: Apache-2.0
// What the three methods have in common: how well the data agree with the axis on a column and at an angle. A score is
// a ratio, so that bands can be put together: the sum of their numerators over the sum of their denominators.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "align/axis_line.h"
#include "align/center.h"

namespace lepus {

struct ScoreParts {
  double numerator = 0, denominator = 0;  // a band that says nothing has 0 / 0
  // Conjugate: what of the denominator differs from view to view, in the order of the angles and in that of the frames.
  // Angles that are wrong make neighbours of strangers in the one, frames that were taken out of order in the other.
  double noise_by_angle = 0, noise_by_frame = 0;

  void add(const ScoreParts& more) {
    numerator += more.numerator;
    denominator += more.denominator;
    noise_by_angle += more.noise_by_angle;
    noise_by_frame += more.noise_by_frame;
  }
  double noise() const { return std::min(noise_by_angle, noise_by_frame); }
};

class CenterScore {
public:
  virtual ~CenterScore() = default;
  // column: where the axis crosses the middle row; angle_rad: AxisLine::angle_rad. Higher is better.
  virtual ScoreParts parts(std::int64_t band, double column, double angle_rad, Context& context) = 0;
  // The same, by the directions of the lines that were compared (of half a turn), where the method can tell them.
  virtual std::vector<ScoreParts> by_direction(std::int64_t band, double column, double angle_rad, Context& context) {
    return {parts(band, column, angle_rad, context)};
  }
};

inline constexpr std::size_t line_directions = 12;  // of 15 degrees

// The input outlives the score.
std::unique_ptr<CenterScore> make_sharpness_score(const CenterInput& input, double first_column, Context& context);
std::unique_ptr<CenterScore> make_conjugate_score(const CenterInput& input, Context& context);
std::unique_ptr<CenterScore> make_wedge_score(const CenterInput& input, Context& context);

// Fraction of the rays, with the axis as given, that the scan measured from the other end too.
double share_seen_twice(const CenterInput& input);

// Cubic B-spline, for the samples -1, 0, 1, 2. It blurs a little, the same at every fraction of a pixel, and moves
// nothing: at the frequencies that are left after center_blur its phase is right to 0.1 %, that of Catmull-Rom's
// interpolation to 7 %, which makes slanted lines look less slanted than they are.
std::array<float, 4> spline_weights(double fraction);

// Rows of a band, and their weights, for a place between them (counted in rows of the band); clamped to the band.
struct RowTaps {
  std::array<std::int64_t, 4> rows{};
  std::array<float, 4> weights{};
};
RowTaps row_taps(const CenterBand& band, double place);

// What rows are blurred with, along and across, before they are compared: one standard deviation, in columns. The same
// in both directions, or a slanted line would see one object slant more than another.
inline constexpr double center_blur = 1.25;

// A row blurred along it; its first and last values go on beyond it.
void blur_row(const float* in, std::int64_t columns, float* out);

// A band blurred across its rows, without the outermost ones. Low bands stay as they are.
CenterBand blurred_across_rows(const CenterBand& band, std::int64_t views, std::int64_t columns, double aspect,
                               Context& context);
std::int64_t rows_lost_to_blur(double aspect);  // on both sides: to it, to interpolation and to differences

// A band's values along the line across the axis that meets it in the band's middle: for column u of view i
//   out[i][u] = p(i; u, v(u)),  v(u) = middle - (u - crossing) * row_slope
// spline between rows; a band of one row is taken as it is.
std::vector<float> level_row(const CenterBand& band, std::int64_t views, std::int64_t columns, double crossing,
                             double row_slope);

}  // namespace lepus
