// SPDX-License-Identifier: Apache-2.0
// The search: coarse over the column, coarse over the angle, then both together by fitting a paraboloid that shrinks
// towards its top; then every band alone, whose scatter says how sure the result is.
#include "align/center.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "align/circular.h"
#include "align/center_doubts.h"
#include "align/center_search.h"
#include "align/steady_columns.h"
#include "align/trial_slice.h"
#include "core/check_numbers.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double largest_deviation_px = 2;

[[noreturn]] void refuse_input(std::string what, std::string why, std::string hint, ErrorKind kind = ErrorKind::input) {
  throw Error(kind, {.what = std::move(what), .where = "centre", .why = std::move(why), .hint = std::move(hint)});
}

// orbit: of views whose columns stand still.
void check(const CenterInput& input, const OrbitDeviation& orbit) {
  if (input.geometry.views() < 8)
    refuse_input("the scan has too few views", format("it has {}", input.geometry.views()), "8 are the least");
  if (input.geometry.columns < 32)
    refuse_input("the detector has too few columns", format("it has {}", input.geometry.columns), "32 are the least");
  // What is compared are views that differ by their angle only. A scanner that wobbles by a pixel still has an axis.
  if (!(orbit.rms_px < largest_deviation_px))
    refuse_input("the views do not lie on a circle about the z axis",
                 format("view {} sees points of the field of view {:.1f} pixels from where a circular orbit would",
                        orbit.view, orbit.rms_px),
                 "the geometry of such a scan must be known: leave the search for its axis out", ErrorKind::geometry);
  if (input.bands.empty()) refuse_input("there are no rows", "no band was given", "give at least one");
  check_search(input.options);
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest;
  for (const CenterBand& band : input.bands) {
    const auto expected = band.rows * input.geometry.views() * input.geometry.columns;
    if (band.rows < 1 || static_cast<std::int64_t>(band.line_integrals.size()) != expected)
      throw Error(ErrorKind::internal, {.what = "a band has another size than the scan",
                                        .where = "centre",
                                        .why = format("{} values, {} expected", band.line_integrals.size(), expected),
                                        .hint = {}});
    for (const float p : band.line_integrals) {
      if (!std::isfinite(p))
        refuse_input("the rows hold values that are not numbers", format("in the band around row {}", band.middle()),
                     "correct dead pixels first");
      largest = std::max(largest, static_cast<double>(p));
      smallest = std::min(smallest, static_cast<double>(p));
    }
  }
  if (!(largest > smallest))
    refuse_input("there is nothing to see in the rows", "all line integrals are the same",
                 "choose rows that meet the object");
}

std::unique_ptr<CenterScore> make_score(const CenterInput& input, CenterMethod method, double first, Context& context) {
  switch (method) {
    case CenterMethod::conjugate:
      return make_conjugate_score(input, context);
    case CenterMethod::wedge:
      return make_wedge_score(input, context);
    default:
      return make_sharpness_score(input, first, context);
  }
}

// The smooth part of the curve, a running mean over `width` columns, is taken away.
void detrend(std::vector<ScorePoint>& curve, double width) {
  std::vector<ScorePoint> original = curve;
  for (ScorePoint& point : curve) {
    double sum = 0, count = 0;
    for (const ScorePoint& other : original)
      if (std::abs(other.column - point.column) <= width / 2) {
        sum += other.score;
        count += 1;
      }
    point.score -= sum / count;
  }
}

// Rows high enough apart that an angle moves the axis by more than noise does.
bool can_see_tilt(const CenterInput& input) {
  if (!input.options.tilt || input.geometry.beam == Beam::fan || input.bands.size() < 3) return false;
  double low = input.bands.front().middle(), high = low;
  for (const CenterBand& band : input.bands) {
    if (band.rows < 5) return false;  // too low for a slanted line
    low = std::min(low, band.middle());
    high = std::max(high, band.middle());
  }
  return high - low >= 16;
}

double spread_of_rows(const CenterInput& input, double middle_row) {
  double sum = 0;
  for (const CenterBand& band : input.bands) sum += (band.middle() - middle_row) * (band.middle() - middle_row);
  return std::sqrt(sum / static_cast<double>(input.bands.size()));
}

// The angle at which the bands agree best, with the column free to follow: steps move the outer bands by a column.
AxisPlace coarse_angle(CenterSearch& search, const CenterInput& input, const AxisLine& line, AxisPlace start) {
  const double step = 1.0 / (spread_of_rows(input, line.middle_row) * line.aspect);
  const double largest = radians(input.options.largest_tilt_deg);
  AxisPlace best = start;
  double best_score = -std::numeric_limits<double>::infinity();
  const auto count = static_cast<int>(std::ceil(largest / step));
  for (int i = -count; i <= count; ++i)
    for (int j = -2; j <= 2; ++j) {
      const AxisPlace place{start.column + 0.75 * j, line.angle_rad + std::clamp(i * step, -largest, largest)};
      const double score = search.at(place);
      if (score > best_score) {
        best_score = score;
        best = place;
      }
    }
  return best;
}

// How much a turn by a small angle costs, against a shift that moves the bands as far (root mean square): about 1 where
// every band has its own edges, 0 where a slanted line sees the same as a level one (a ball on the axis).
constexpr double minimum_angle_share = 0.005;  // a ball: 0.004 at most; the heads of the tests: 0.02 and more
double share_of_angle(CenterSearch& search, const CenterInput& input, const AxisLine& line, AxisPlace place) {
  const double spread = spread_of_rows(input, line.middle_row) * line.aspect;
  const double angle = std::min(1 / spread, 0.5 * radians(input.options.largest_tilt_deg));
  const double columns = angle * spread, top = search.at(place);
  const auto drop = [&](AxisPlace by) {
    const double up = search.at({place.column + by.column, place.angle_rad + by.angle_rad});
    const double down = search.at({place.column - by.column, place.angle_rad - by.angle_rad});
    return top - 0.5 * (up + down);
  };
  return drop({0, angle}) / drop({columns, 0});
}

// The bands' own columns, and how far they lie from the common line.
std::vector<BandDistance> each_band(CenterSearch& search, const CenterInput& input, const AxisLine& line,
                                    AxisPlace place, double finest, CenterResult& result) {
  std::vector<double> agreed;  // how much agrees, where the method measures that; air has nothing to say
  for (std::size_t b = 0; b < input.bands.size(); ++b)
    agreed.push_back(
        result.method == CenterMethod::conjugate ? search.parts(place, static_cast<std::int64_t>(b)).numerator : 1.0);
  const double least = 0.05 * *std::max_element(agreed.begin(), agreed.end());
  const double slope = std::tan(place.angle_rad) * line.aspect;
  std::vector<BandDistance> distances;
  for (std::size_t b = 0; b < input.bands.size(); ++b) {
    if (agreed[b] < least) continue;
    const double row = input.bands[b].middle() - line.middle_row;
    const double own = search.refine_column(place, 0.25, finest, static_cast<std::int64_t>(b));
    result.rows.push_back({row + line.middle_row, own + slope * row});
    distances.push_back({row, own - place.column});
  }
  return distances;
}

// The two other methods' own errors, in columns: the wedge is cut out of a coarse spectrum (up to 0.08 off on
// noise-free scans), the sharpest of the trials, a twentieth of a column apart, is up to 0.11 off (docs/center.md).
constexpr double own_error_of_wedge = 0.05, own_error_of_sharpness = 0.1;

// Half a turn has its first and last view, which see each other from behind: what they say beside the wedge's column is
// a second opinion. They may be a step apart, and the wedge suffers where the object is cut off; nobody knows whose
// fault a difference is.
double second_opinion(const CenterInput& input, AxisPlace place, Context& context) {
  if (share_seen_twice(input) == 0) return 0;
  const auto score = make_conjugate_score(input, context);
  CenterSearch search(input, *score, context);
  const std::vector<ScorePoint> near = search.curve(place.column - 3, place.column + 3, 0.5, place.angle_rad);
  const auto top = std::max_element(near.begin(), near.end(), [](auto& a, auto& b) { return a.score < b.score; });
  if (!std::isfinite(top->score)) return 0;
  const double other = search.refine_column({top->column, place.angle_rad}, 0.5, 0.05, all_bands);
  return std::abs(other - place.column) / std::sqrt(2);
}

void state_errors(const CenterInput& input, const AxisLine& line, CenterScore& score, AxisPlace place,
                  const std::vector<BandDistance>& bands, double angle_share, CenterResult& result, Context& context) {
  const double spread = spread_of_rows(input, line.middle_row) * line.aspect;
  const auto count = static_cast<std::int64_t>(input.bands.size());
  const AxisErrors rows = spread_of_bands(bands, result.tilt_found, line.aspect);
  const AxisErrors directions =
      result.method == CenterMethod::conjugate
          ? spread_of_directions(score, count, place, result.tilt_found ? 1 / spread : 0, context)
          : AxisErrors{};
  const double own = result.method == CenterMethod::conjugate ? 0
                     : result.method == CenterMethod::wedge
                         ? std::hypot(own_error_of_wedge, second_opinion(input, place, context))
                         : own_error_of_sharpness;
  result.column_error = std::hypot(rows.column, directions.column, own);
  if (!result.tilt_found) return;
  // The bands' scatter says how well columns are known; angles are known less well where the score hardly minds them.
  const double angle_rows = rows.angle_rad / std::sqrt(std::min(angle_share, 1.0));
  result.in_plane_error_deg = degrees(std::hypot(angle_rows, directions.angle_rad, own / spread));
}

}  // namespace

const char* name_of(CenterMethod method) {
  switch (method) {
    case CenterMethod::sharpness:
      return "sharpness";
    case CenterMethod::conjugate:
      return "conjugate";
    case CenterMethod::wedge:
      return "wedge";
    default:
      return "auto";
  }
}

bool CenterResult::tilt_matters() const {
  return tilt_found && std::abs(in_plane_deg - given_in_plane_deg) > 2 * in_plane_error_deg;
}

void check_search(const AxisSearch& o) {
  const auto refuse = [](const char* what, std::string why, const char* hint = "") {
    refuse_input(what, std::move(why), hint, ErrorKind::usage);
  };
  check_named(o.method, CenterMethod::wedge, "CenterMethod");
  for (const std::optional<double>& column : {o.first, o.last})
    if (column) check_finite(*column, "columns of the search");
  if (!(o.step > 0 && o.precision > 0))
    refuse("steps must be above zero", format("step {}, precision {}", o.step, o.precision));
  if (!(o.step >= 1e-3 && o.step <= 1e3 && o.precision >= 1e-6 && o.precision <= 1e3))
    refuse("steps of the search are columns", format("step {}, precision {}", o.step, o.precision), "try 0.5 and 0.01");
  if (o.first && o.last && !(*o.first < *o.last))
    refuse("no column lies between the first and the last", format("{} and {}", *o.first, *o.last),
           "give the smaller one first");
  if (std::max(std::abs(o.first.value_or(0)), std::abs(o.last.value_or(0))) > 1e6)
    refuse("no detector has such columns", format("{} to {}", o.first.value_or(0), o.last.value_or(0)),
           "give columns of the frames");
  if (!(o.largest_tilt_deg >= 0 && o.largest_tilt_deg <= 45))
    refuse("an in-plane angle is looked for within 45 degrees", format("{} are asked for", o.largest_tilt_deg),
           "try 1.5");
  if (o.lines < 1) refuse("no line of the image is looked at", "lines is below 1");
  constexpr std::int64_t largest_image = 16384;
  if (o.image_size < 0 || o.image_size > largest_image || o.lines > largest_image)
    refuse("there is no such trial image", format("{} pixels along a side, {} lines", o.image_size, o.lines),
           "leave them out");
  if (!(o.detrend >= 0 && o.detrend <= 1e6))
    refuse("a running mean has a width", format("{} columns", o.detrend), "give columns, or 0 for none");
}

CenterResult find_center(const CenterInput& given, Context& context) {
  const std::vector<double> offsets = column_offsets(given.geometry, given.middle_row);
  CenterInput input{steadied(given.geometry, offsets), {}, given.middle_row, given.options};
  const OrbitDeviation orbit = deviation_from_circle(input.geometry);
  check(given, orbit);
  const AxisLine line = axis_line(input.geometry, input.middle_row);
  const auto add_blurred = [&](const CenterBand& band) {
    input.bands.push_back(
        blurred_across_rows(band, input.geometry.views(), input.geometry.columns, line.aspect, context));
  };
  for (const CenterBand& band : given.bands)
    offsets.empty() ? add_blurred(band) : add_blurred(steadied(band, input.geometry.columns, offsets));
  const AxisSearch& o = input.options;
  const auto columns = static_cast<double>(input.geometry.columns);
  double first = o.first.value_or(std::max(0.1 * columns, line.column - 0.25 * columns));
  double last = o.last.value_or(std::min(0.9 * columns, line.column + 0.25 * columns));

  CenterResult result;
  result.column = result.given_column = line.column;
  result.middle_row = line.middle_row;
  result.given_in_plane_deg = result.in_plane_deg = line.in_plane_deg();
  const ScanReach reach = scan_reach(given);
  result.method = o.method == CenterMethod::automatic ? method_for(reach) : o.method;
  if (result.method == CenterMethod::automatic) {
    result.known = false;
    result.warnings.push_back(too_little(reach));
    return result;
  }
  if (result.method == CenterMethod::conjugate && reach.seen_twice == 0)
    refuse_input("no ray was measured from both ends", "the views cover too little of a turn",
                 "the axis must be known: give its column with detector_shift_u_mm");
  if (result.method == CenterMethod::sharpness) {
    const auto possible = [&](double column) { return trial_is_possible(input, column, line.angle_rad); };
    while (!o.first && first < line.column && !possible(first - o.detrend)) first += o.step;
    while (!o.last && last > line.column && !possible(last + o.detrend)) last -= o.step;
  }
  const auto score = make_score(input, result.method, first, context);
  CenterSearch search(input, *score, context);
  // The other scores are smooth enough to find the neighbourhood in steps of a column, on one band.
  if (result.method != CenterMethod::sharpness && last - first > 16) {
    const auto middle = static_cast<std::int64_t>(input.bands.size() / 2);
    const std::vector<ScorePoint> wide = search.curve(first, last, 1, line.angle_rad, middle);
    const auto top =
        std::max_element(wide.begin(), wide.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
    result.wide_curve = wide;
    if (top != wide.begin() && top + 1 != wide.end()) {
      first = top->column - 6;
      last = top->column + 6;
    }
  }
  const bool trend = result.method == CenterMethod::sharpness && o.detrend > 0;
  const double beyond = trend ? o.step * std::ceil(0.5 * o.detrend / o.step) : 0;  // so that the mean has both sides
  result.curve = search.curve(first - beyond, last + beyond, o.step, line.angle_rad);
  if (trend) {
    detrend(result.curve, o.detrend);
    std::erase_if(result.curve, [&](const ScorePoint& p) { return p.column < first - 1e-6 || p.column > last + 1e-6; });
  }
  const auto best = std::max_element(result.curve.begin(), result.curve.end(),
                                     [](const ScorePoint& a, const ScorePoint& b) { return a.score < b.score; });
  if (!std::isfinite(best->score))
    refuse_input("no trial could be compared", format("columns {:.1f} to {:.1f}", first, last),
                 "try a range nearer to the middle of the detector");
  AxisPlace place{best->column, line.angle_rad};
  // What the other methods measure is not smooth on a finer scale.
  const double finest = result.method == CenterMethod::conjugate ? o.precision : std::max(o.precision, 0.05);
  double angle_share = 1;
  result.tilt_found = result.tilt_sought = can_see_tilt(input);
  if (result.tilt_found) {
    place = coarse_angle(search, input, line, place);
    const double angle_step = o.step / (spread_of_rows(input, line.middle_row) * line.aspect);
    const double largest = radians(o.largest_tilt_deg);
    place = search.refine(place, o.step, angle_step, finest, {line.angle_rad - largest, line.angle_rad + largest});
    angle_share = share_of_angle(search, input, line, place);
    const bool seen = angle_share > minimum_angle_share;
    if (!seen || std::abs(place.angle_rad - line.angle_rad) > 0.999 * largest) {
      result.tilt_found = false;
      result.warnings.push_back(
          seen ? format("the in-plane angle goes to the end of what was tried ({} degrees) and is left as it was: the "
                        "object hardly shows it, or the tilt is larger (--largest-tilt)",
                        o.largest_tilt_deg)
               : "the object does not show the in-plane angle (a ball on the axis would not): it is left as it was");
      place = {best->column, line.angle_rad};
    }
  }
  if (result.tilt_found)
    result.in_plane_deg = line.handedness * degrees(place.angle_rad);
  else
    place.column = search.refine_column(place, o.step, finest, all_bands);
  result.column = place.column;
  const std::vector<BandDistance> bands = each_band(search, input, line, place, finest, result);
  state_errors(input, line, *score, place, bands, angle_share, result, context);
  const bool at_the_end = best == result.curve.begin() || best + 1 == result.curve.end();
  say_doubts(reach, search.all_parts(place), at_the_end, *best, result);
  if (!result.known && orbit.rms_px > largest_deviation_px / 4)
    result.warnings.push_back(
        format("views lie up to {:.1f} pixels off a circular orbit (view {}) even without their shifts along the rows: "
               "the search does not follow that",
               orbit.rms_px, orbit.view));
  if (!result.known && o.method == CenterMethod::automatic) {
    result.column = line.column;
    result.in_plane_deg = line.in_plane_deg();
    result.tilt_found = false;
    result.column_error = result.in_plane_error_deg = 0;
  }
  return result;
}

namespace {

// Rows above and below a band's middle that the search for the angle needs.
std::int64_t half_band(const ScanGeometry& geometry, const AxisSearch& options) {
  const AxisLine line = axis_line(geometry, {});
  // A slanted line across the detector leaves its row by so much.
  const double largest = std::abs(line.angle_rad) + radians(options.largest_tilt_deg);
  const double slant = 0.5 * static_cast<double>(geometry.columns) * std::tan(largest) / line.aspect;
  return static_cast<std::int64_t>(std::ceil(slant)) + rows_lost_to_blur(line.aspect);
}

}  // namespace

std::int64_t rows_for_tilt(const ScanGeometry& geometry, const AxisSearch& options) {
  return 2 * half_band(geometry, options) + 17;
}

std::vector<RowBand> center_bands(const ScanGeometry& geometry, std::int64_t count, const AxisSearch& options) {
  std::int64_t half = half_band(geometry, options);
  const bool tilt =
      options.tilt && count >= 3 && geometry.rows >= rows_for_tilt(geometry, options) && geometry.beam != Beam::fan;
  if (!tilt) half = 0;
  count = std::min(count, geometry.rows);
  std::vector<RowBand> list;
  for (std::int64_t i = 0; i < count; ++i) {
    // Whole bands only: one that is cut off would compare fewer rays for larger angles.
    const std::int64_t middle = std::clamp((2 * i + 1) * geometry.rows / (2 * count), half, geometry.rows - 1 - half);
    list.push_back({middle - half, middle + half + 1});
  }
  return list;
}

}  // namespace lepus
