// SPDX-License-Identifier: Apache-2.0
#include "align/center_doubts.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "filter/truncation.h"
#include "filter/view_arcs.h"
#include "geometry/camera.h"

namespace lepus {
namespace {

// With less, lines are compared in so few directions that wrong angles fit as well as right ones (simulated half turns
// of a cone beam: 1.5 columns off, the ends agreeing by 91 %).
constexpr double minimum_seen_twice = 0.05;
// Simulated scans in ever more noise lose the axis where the two ends of the rays correlate by less than 0.04, and know
// it to some tenths of a column below 0.1.
constexpr double minimum_correlation = 0.1;
// Of what noise leaves to agree: right scans had 0.988 and more (60 of them: arcs of 190 to 360 degrees, noise, objects
// off the axis or wider than the detector), scans with wrong angles 0.33 to 0.88.
constexpr double minimum_fit = 0.92;
// Beside tops of the sharpness that were right no other had more than 0.53 of their height (7 searches), beside wrong
// ones 0.73 or more (13).
constexpr double largest_next_best = 0.65;
constexpr double doubtful_column_error = 0.25, useless_column_error = 0.75;

// Of the curve's tops that are at least two columns from the best: the highest, as a share of it.
double next_best(const std::vector<ScorePoint>& curve, const ScorePoint& best) {
  double next = 0;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i)
    if (curve[i].score >= std::max(curve[i - 1].score, curve[i + 1].score) &&
        std::abs(curve[i].column - best.column) >= 2)
      next = std::max(next, curve[i].score / best.score);
  return next;
}

// The sinogram of the middle row of the middle band.
bool is_truncated(const CenterInput& input) {
  const CenterBand& band = input.bands[input.bands.size() / 2];
  const std::int64_t plane = input.geometry.views() * input.geometry.columns, row = band.rows / 2;
  return truncation(input.geometry, std::llround(band.first_row) + row, band.line_integrals.data() + row * plane)
      .seen();
}

constexpr const char* by_eye = "compare trials by eye: lepus center SCAN --column N --picture FILE";

}  // namespace

ScanReach scan_reach(const CenterInput& input) {
  ScanReach reach;
  reach.seen_twice = share_seen_twice(input);
  std::vector<double> angles;
  for (std::int64_t view = 0; view < input.geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(input.geometry, view)));
  const ViewArcs arcs = view_arcs(angles, 2 * pi);
  reach.covered_deg = degrees(arcs.covered);
  reach.step_deg = degrees(arcs.step);
  const AxisLine line = axis_line(input.geometry, input.middle_row);
  const RowFan fan(input.geometry, line.column, line.middle_row);
  double widest = 0;
  for (const double u : {-0.5, static_cast<double>(input.geometry.columns) - 0.5})
    widest = std::max(widest, std::abs(fan.angle_rad(u - line.column)));
  reach.half_turn_deg = 180 + 2 * degrees(widest);
  reach.truncated = is_truncated(input);
  return reach;
}

CenterMethod method_for(const ScanReach& reach) {
  if (reach.seen_twice > minimum_seen_twice) return CenterMethod::conjugate;
  return reach.covered_deg + 0.5 * reach.step_deg >= reach.half_turn_deg ? CenterMethod::wedge
                                                                         : CenterMethod::automatic;
}

std::string too_little(const ScanReach& reach) {
  return format(
      "the rotation axis cannot be found: the views cover {:.2f} degrees, and {:.2f} are needed for lines that are "
      "seen "
      "from both ends. It stays where the scan file has it. If these angles are right, {}, and set detector_shift_u_mm",
      reach.covered_deg, reach.half_turn_deg, by_eye);
}

// Without columns: those of a binned detector are not those of the frames.
void say_doubts(const ScanReach& reach, const ScoreParts& found, bool at_the_end, const ScorePoint& best,
                CenterResult& result) {
  const auto distrust = [&](std::string why) {
    result.known = false;
    result.warnings.push_back(std::move(why));
  };
  if (at_the_end) distrust("the best column is at the end of what was tried: try a wider range (--first, --last)");
  if (result.method == CenterMethod::conjugate) {
    const double agreement = found.numerator / found.denominator, possible = 1 - found.noise() / found.denominator;
    if (!(agreement >= minimum_correlation))
      distrust(
          format("the two ends of the rays agree by {:.1f} % only: the column may be chance. Is there an object in "
                 "the rows, and is it more than noise? {}",
                 100 * agreement, by_eye));
    else if (agreement < minimum_fit * possible)
      distrust(
          format("no column makes the two ends of the rays agree: {:.0f} % at best, noise would leave {:.0f} %. The "
                 "angles (their unit, their direction, the arc) or the pixel size are not those of the frames, or "
                 "the object moved",
                 100 * agreement, 100 * possible));
  }
  if (result.column_error > useless_column_error)
    distrust("rows and directions disagree about the column by about a column: there is no telling where the axis is");
  else if (result.column_error > doubtful_column_error)
    result.warnings.push_back(
        format("rows and directions disagree about the column, so that it is not known well: {}", by_eye));
  if (result.method != CenterMethod::sharpness) return;
  const char* instead = reach.seen_twice > minimum_seen_twice
                            ? "use the method conjugate, which compares rays seen from both ends"
                            : by_eye;
  if (reach.seen_twice <= minimum_seen_twice)
    distrust(format("trials are about as sharp everywhere where hardly a line is seen from both ends: {}", instead));
  if (reach.truncated)
    distrust(
        format("the object reaches past the detector's sides, and the sharpest edge may be the rim of what was "
               "seen: {}",
               instead));
  if (const double next = next_best(result.curve, best); next > largest_next_best)
    distrust(format("other columns are about as sharp as the best one (up to {:.0f} % of its score): {}", 100 * next,
                    instead));
}

}  // namespace lepus
