// SPDX-License-Identifier: Apache-2.0
// The search: coarse over the column, coarse over the angle, then both together by fitting a paraboloid that shrinks
// towards its top; then every band alone, whose scatter says how sure the result is.
#include "align/center.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "align/circular.h"
#include "align/center_score.h"
#include "align/trial_slice.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct Place {
  double column = 0, angle_rad = 0;
};

struct AngleRange {
  double first = 0, last = 0;  // rad
};

constexpr std::int64_t all_bands = -1;

class Search {
public:
  Search(const CenterInput& input, CenterScore& score, Context& context)
      : input_(input), score_(score), context_(context) {}

  ScoreParts parts(Place place, std::int64_t band) {
    return score_.parts(band, place.column, place.angle_rad, context_);
  }

  double at(Place place, std::int64_t band = all_bands) {
    context_.cancel.check();
    ScoreParts sum;
    for (std::int64_t b = 0; b < static_cast<std::int64_t>(input_.bands.size()); ++b) {
      if (band != all_bands && b != band) continue;
      const ScoreParts one = parts(place, b);
      sum.numerator += one.numerator;
      sum.denominator += one.denominator;
    }
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
  double refine_column(Place start, double widest, double finest, std::int64_t band) {
    double column = start.column;
    for (double step = widest; step >= 0.999 * finest; step /= 2)
      for (int again = 0; again < 4; ++again) {
        std::array<double, 5> s{};
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
  Place refine(Place place, double column_step, double angle_step, double finest, AngleRange range) {
    for (double shrink = 1; column_step * shrink >= 0.999 * finest; shrink /= 2)
      for (int again = 0; again < 4; ++again) {
        const auto [dc, da] = paraboloid_top(place, column_step * shrink, angle_step * shrink);
        place.column += dc * column_step * shrink;
        place.angle_rad = std::clamp(place.angle_rad + da * angle_step * shrink, range.first, range.last);
        if (std::max(std::abs(dc), std::abs(da)) < 0.25) break;
      }
    return place;
  }

private:
  // Least squares on -2 ... 2; in steps, at most two.
  static double parabola_top(const std::array<double, 5>& s) {
    const auto best = std::max_element(s.begin(), s.end()) - s.begin() - 2;
    const double slope = (2 * (s[4] - s[0]) + s[3] - s[1]) / 10;
    const double curvature = (2 * s[0] - s[1] - 2 * s[2] - s[3] + 2 * s[4]) / 7;  // twice the quadratic's coefficient
    if (!std::isfinite(slope) || !(curvature < 0)) return static_cast<double>(best);
    return std::clamp(-slope / curvature, -2.0, 2.0);
  }

  // f = a + b x + c y + d x^2 + e x y + g y^2 on the grid -2 ... 2: the grid's symmetry separates most of the sums.
  std::pair<double, double> paraboloid_top(Place place, double column_step, double angle_step) {
    double sum = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    std::pair<double, double> best;
    double best_score = -std::numeric_limits<double>::infinity();
    for (int i = -2; i <= 2; ++i)
      for (int j = -2; j <= 2; ++j) {
        const double s = at({place.column + i * column_step, place.angle_rad + j * angle_step});
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

  const CenterInput& input_;
  CenterScore& score_;
  Context& context_;
};

constexpr double largest_deviation_px = 2;

[[noreturn]] void refuse_input(std::string what, std::string why, std::string hint, ErrorKind kind = ErrorKind::input) {
  throw Error(kind, {.what = std::move(what), .where = "centre", .why = std::move(why), .hint = std::move(hint)});
}

void check(const CenterInput& input) {
  const CenterOptions& o = input.options;
  if (input.geometry.views() < 8)
    refuse_input("the scan has too few views", format("it has {}", input.geometry.views()), "8 are the least");
  if (input.geometry.columns < 32)
    refuse_input("the detector has too few columns", format("it has {}", input.geometry.columns), "32 are the least");
  // What is compared are views that differ by their angle only. A scanner that wobbles by a pixel still has an axis.
  const OrbitDeviation deviation = deviation_from_circle(input.geometry);
  if (!(deviation.rms_px < largest_deviation_px))
    refuse_input("the views do not lie on a circle about the z axis",
                 format("view {} sees points of the field of view {:.1f} pixels from where a circular orbit would",
                        deviation.view, deviation.rms_px),
                 "the geometry of such a scan must be known: leave the search for its axis out", ErrorKind::geometry);
  if (input.bands.empty()) refuse_input("there are no rows", "no band was given", "give at least one");
  if (!(o.step > 0 && o.precision > 0))
    refuse_input("steps must be above zero", format("step {}, precision {}", o.step, o.precision), "",
                 ErrorKind::usage);
  if (o.first && o.last && !(*o.first < *o.last))
    refuse_input("no column lies between the first and the last", format("{} and {}", *o.first, *o.last),
                 "give the smaller one first", ErrorKind::usage);
  if (o.lines < 1) refuse_input("no line of the image is looked at", "lines is below 1", "", ErrorKind::usage);
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
Place coarse_angle(Search& search, const CenterInput& input, const AxisLine& line, Place start) {
  const double step = 1.0 / (spread_of_rows(input, line.middle_row) * line.aspect);
  const double largest = radians(input.options.largest_tilt_deg);
  Place best = start;
  double best_score = -std::numeric_limits<double>::infinity();
  const auto count = static_cast<int>(std::ceil(largest / step));
  for (int i = -count; i <= count; ++i)
    for (int j = -2; j <= 2; ++j) {
      const Place place{start.column + 0.75 * j, line.angle_rad + std::clamp(i * step, -largest, largest)};
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
constexpr double least_angle_share = 0.005;  // a ball: 0.004 at most; the heads of the tests: 0.02 and more
double share_of_angle(Search& search, const CenterInput& input, const AxisLine& line, Place place) {
  const double spread = spread_of_rows(input, line.middle_row) * line.aspect;
  const double angle = std::min(1 / spread, 0.5 * radians(input.options.largest_tilt_deg));
  const double columns = angle * spread, top = search.at(place);
  const auto drop = [&](Place by) {
    const double up = search.at({place.column + by.column, place.angle_rad + by.angle_rad});
    const double down = search.at({place.column - by.column, place.angle_rad - by.angle_rad});
    return top - 0.5 * (up + down);
  };
  return drop({0, angle}) / drop({columns, 0});
}

// The bands' own columns, and the standard errors of column and angle from their distances to the common line.
void each_band(Search& search, const CenterInput& input, const AxisLine& line, Place place, double finest,
               CenterResult& result) {
  std::vector<double> agreed;  // how much agrees, where the method measures that; air has nothing to say
  for (std::size_t b = 0; b < input.bands.size(); ++b)
    agreed.push_back(
        result.method == CenterMethod::conjugate ? search.parts(place, static_cast<std::int64_t>(b)).numerator : 1.0);
  const double least = 0.05 * *std::max_element(agreed.begin(), agreed.end());
  const double slope = std::tan(place.angle_rad) * line.aspect;
  double rows = 0, rr = 0, n = 0;
  std::vector<double> distances;
  for (std::size_t b = 0; b < input.bands.size(); ++b) {
    if (agreed[b] < least) continue;
    const double row = input.bands[b].middle() - line.middle_row;
    const double own = search.refine_column(place, 0.25, finest, static_cast<std::int64_t>(b));
    result.rows.push_back({row + line.middle_row, own + slope * row});
    distances.push_back(std::abs(own - place.column));
    rows += row;
    rr += row * row;
    n += 1;
  }
  const double fitted = result.tilt_found ? 2 : 1;
  if (n <= fitted) return;
  // From the median, as one band may show next to nothing; 1.48 makes it the standard deviation of normal deviates.
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2),
                   distances.end());
  const double deviation = 1.48 * distances[distances.size() / 2] * std::sqrt(n / (n - fitted));
  result.column_error = deviation / std::sqrt(n);
  const double spread = rr / n - rows / n * (rows / n);
  if (result.tilt_found && spread > 0)
    result.in_plane_error_deg = degrees(deviation / std::sqrt(n * spread) / line.aspect);
}

// Of the curve's tops that are at least two columns from the best: the highest, as a share of it.
double next_best(const std::vector<ScorePoint>& curve, const ScorePoint& best) {
  double next = 0;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i)
    if (curve[i].score >= std::max(curve[i - 1].score, curve[i + 1].score) &&
        std::abs(curve[i].column - best.column) >= 2)
      next = std::max(next, curve[i].score / best.score);
  return next;
}

// A search always has a result. Where it may be chance, that is said. Simulated scans in ever more noise lose the axis
// where the two ends of the rays correlate by less than 0.04, and know it to some tenths of a column below 0.1; beside
// tops of the sharpness that were right no other had more than 0.53 of their height (7 searches), beside wrong ones
// 0.73 or more (13).
constexpr double least_correlation = 0.1, largest_column_error = 0.25, largest_next_best = 0.65;

// Without columns: those of a binned detector are not those of the frames.
void say_doubts(double correlation, const ScorePoint& best, CenterResult& result) {
  if (result.method == CenterMethod::conjugate && correlation < least_correlation)
    result.warnings.push_back(
        format("the two ends of the rays agree by {:.1f} % only: the column may be chance. Is there an object in the "
               "rows, and is it more than noise? Compare the trials of lepus center --picture",
               100 * correlation));
  else if (result.column_error > largest_column_error)
    result.warnings.push_back(
        "the rows scatter, so that the column is not known well: compare the trials of lepus center --picture");
  if (result.method != CenterMethod::sharpness) return;
  if (const double next = next_best(result.curve, best); next > largest_next_best)
    result.warnings.push_back(format(
        "other columns are about as sharp as the best one (up to {:.0f} % of its score): compare the trials of lepus "
        "center --picture, give a narrower range, or use the method conjugate",
        100 * next));
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

CenterResult find_center(const CenterInput& given, Context& context) {
  check(given);
  const AxisLine line = axis_line(given.geometry, given.middle_row);
  CenterInput input{given.geometry, {}, given.middle_row, given.options};
  for (const CenterBand& band : given.bands)
    input.bands.push_back(
        blurred_across_rows(band, given.geometry.views(), given.geometry.columns, line.aspect, context));
  const CenterOptions& o = input.options;
  const auto columns = static_cast<double>(input.geometry.columns);
  double first = o.first.value_or(std::max(0.1 * columns, line.column - 0.25 * columns));
  double last = o.last.value_or(std::min(0.9 * columns, line.column + 0.25 * columns));

  CenterResult result;
  result.given_column = line.column;
  result.middle_row = line.middle_row;
  result.given_in_plane_deg = result.in_plane_deg = line.in_plane_deg();
  result.method = o.method;
  const double twice = share_seen_twice(input);
  if (o.method == CenterMethod::automatic)
    result.method = twice > 0.05                            ? CenterMethod::conjugate
                    : input.geometry.beam == Beam::parallel ? CenterMethod::wedge
                                                            : CenterMethod::sharpness;
  if (result.method == CenterMethod::conjugate && twice == 0)
    refuse_input("no ray was measured from both ends", "the views cover too little of a turn",
                 "use the method sharpness");
  if (result.method == CenterMethod::sharpness) {
    const auto possible = [&](double column) { return trial_is_possible(input, column, line.angle_rad); };
    while (!o.first && first < line.column && !possible(first - o.detrend)) first += o.step;
    while (!o.last && last > line.column && !possible(last + o.detrend)) last -= o.step;
  }
  const auto score = make_score(input, result.method, first, context);
  Search search(input, *score, context);
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
  if (best == result.curve.begin() || best + 1 == result.curve.end())
    result.warnings.push_back("the best column is at the end of what was tried: try a wider range (--first, --last)");
  Place place{best->column, line.angle_rad};
  // What the other methods measure is not smooth on a finer scale.
  const double finest = result.method == CenterMethod::conjugate ? o.precision : std::max(o.precision, 0.05);
  double angle_share = 1;
  result.tilt_found = can_see_tilt(input);
  if (result.tilt_found) {
    place = coarse_angle(search, input, line, place);
    const double angle_step = o.step / (spread_of_rows(input, line.middle_row) * line.aspect);
    const double largest = radians(o.largest_tilt_deg);
    place = search.refine(place, o.step, angle_step, finest, {line.angle_rad - largest, line.angle_rad + largest});
    angle_share = share_of_angle(search, input, line, place);
    const bool seen = angle_share > least_angle_share;
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
  each_band(search, input, line, place, finest, result);
  // The bands' scatter says how well columns are known; angles are known less well where the score hardly minds them.
  if (result.tilt_found) result.in_plane_error_deg /= std::sqrt(std::min(angle_share, 1.0));
  say_doubts(search.at(place), *best, result);
  return result;
}

std::vector<RowBand> center_bands(const ScanGeometry& geometry, std::int64_t count, const CenterOptions& options) {
  const AxisLine line = axis_line(geometry, {});
  // A slanted line across the detector leaves its row by so much.
  const double largest = std::abs(line.angle_rad) + radians(options.largest_tilt_deg);
  const double slant = 0.5 * static_cast<double>(geometry.columns) * std::tan(largest) / line.aspect;
  std::int64_t half = static_cast<std::int64_t>(std::ceil(slant)) + rows_lost_to_blur(line.aspect);
  const bool tilt = options.tilt && count >= 3 && geometry.rows >= 2 * half + 17 && geometry.beam != Beam::fan;
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
