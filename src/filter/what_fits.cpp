// SPDX-License-Identifier: Apache-2.0
// The second part of filter/consistency.h: what of the geometry does not fit, and what would. Right scans of 128
// columns, with noise of 5 %, beam hardening, scatter, objects wider than the detector, half-fan and short scans differ
// by at most 1.2 times their noise and 0.01 of the variance; an axis one column off adds 0.011 to 0.1, two 0.04 to 0.3.
// Pixels of another width turn the fan's rays by less than their columns say. That nearly scales the object and adds
// little (20 %: 0.0002 to 0.007, far more to a half-fan), but nothing else looks like it: right scans fit best as
// given. Not to be seen: the height of the pixels (with another one the same rays meet an object that is stretched
// along the axis), nor the width of a parallel beam's.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/format.h"
#include "filter/consistency.h"

namespace lepus {
namespace {

constexpr std::int64_t lines_wanted = 200;
constexpr std::size_t views_wanted = 8;
constexpr double noise_allowed = 1.3, model_error = 0.01;  // of right scans; above it alternatives are tried
constexpr double hopeless = 0.05;                          // where nothing fits, from here on it is said
constexpr double errors_apart = 5, times_better = 1.3;
constexpr double minimum_scale = 0.1, largest_scale = 0.6;  // of the pixels' width, as logarithms
constexpr double scale_times_better = 2, left_by_scale = 1e-3, gained_by_scale = 2e-4;
constexpr std::int64_t views_of_search = 64, shifts_of_search = 96, rows_of_search = 9;

// What noise and our own approximations do not explain.
double excess(const RayAgreement& a) { return a.value - noise_allowed * a.noise - model_error; }
bool fits(const RayAgreement& a) { return excess(a) <= 0; }
bool can_judge(const RayAgreement& a) { return a.lines >= lines_wanted && a.per_view.size() >= views_wanted; }
bool clearly_better(const RayAgreement& a, const RayAgreement& than) {
  return can_judge(a) && than.value - a.value > errors_apart * std::hypot(error_of(a), error_of(than)) &&
         than.value > times_better * a.value;
}

// Opposite rays coincide in the plane of the orbit only: the row must see it in every view, from end to end.
bool row_is_in_plane(const ScanGeometry& g, std::int64_t row) {
  if (g.beam != Beam::cone) return true;
  constexpr double slack_rows = 1.5;
  for (std::int64_t i = 0; i < g.views(); ++i) {
    const ViewRays view(camera_of(g, i));
    if (view.height[2] == 0) return false;
    for (const double u : {0.0, static_cast<double>(g.columns - 1)})
      if (!(std::abs(linear(view.height, u, static_cast<double>(row)) / view.height[2]) < slack_rows)) return false;
  }
  return true;
}

struct Candidate {
  RayAssumption assumption;
  RayAgreement agreement;
};

// The best shift of the axis under one way of turning: coarse with some of the views, then in columns with all.
Candidate best_shift(const OppositeRays& rays, RayAssumption assumption, std::int64_t columns) {
  const auto farthest = static_cast<std::int64_t>(0.3 * static_cast<double>(columns));
  const std::int64_t step = std::max<std::int64_t>(1, 2 * farthest / shifts_of_search);
  const auto search = [&](std::int64_t first, std::int64_t last, std::int64_t by) {
    std::int64_t best = 0;
    double least = 2;
    for (std::int64_t shift = first; shift <= last; shift += by) {
      assumption.shift_columns = static_cast<double>(shift);
      const RayAgreement a = rays.compare(assumption, views_of_search);
      if (a.lines < lines_wanted || a.value >= least) continue;
      least = a.value;
      best = shift;
    }
    assumption.shift_columns = static_cast<double>(best);
    return best;
  };
  const std::int64_t coarse = search(-farthest, farthest, step);
  if (step > 1) search(coarse - step, coarse + step, 1);
  return {assumption, rays.compare(assumption)};
}

// Another width of the pixels, where that explains all that noise does not.
std::optional<Candidate> best_scale(const OppositeRays& rays, const RayAgreement& given) {
  constexpr int steps = 4;
  Candidate best{{}, rays.compare({}, views_of_search)};
  const auto search = [&](double middle, double step) {  // in logarithms
    for (int k = -steps; k <= steps; ++k) {
      if (k == 0) continue;
      const RayAssumption scaled{.pixel_scale = std::exp(middle + step * k)};
      const RayAgreement a = rays.compare(scaled, views_of_search);
      if (a.lines >= lines_wanted && a.value < best.agreement.value) best = {scaled, a};
    }
    return std::log(best.assumption.pixel_scale);
  };
  double middle = search(0, largest_scale / steps);
  if (middle == 0) return std::nullopt;
  for (const double finer : {5.0, 25.0}) middle = search(middle, largest_scale / steps / finer);
  const double scale = std::abs(std::log(best.assumption.pixel_scale));
  if (scale < minimum_scale || scale > largest_scale) return std::nullopt;
  best.agreement = rays.compare(best.assumption);
  const RayAgreement& a = best.agreement;
  const bool explains = a.value < noise_allowed * a.noise + left_by_scale && given.value - a.value > gained_by_scale &&
                        given.value > scale_times_better * a.value && clearly_better(a, given);
  return explains ? std::optional(best) : std::nullopt;
}

std::string percent(double share) {
  return share < 0.1 ? format("{:.2g} %", 100 * share) : format("{:.0f} %", 100 * share);
}

std::string beginning(const RayAgreement& given) {
  return format(
      "rays that were measured from both ends do not agree: they differ by {} of their variance, noise explains {}",
      percent(given.value), percent(given.noise));
}

std::string about_shift(const Candidate& c, bool axis_was_sought) {
  const std::string turned = c.assumption.backwards  ? "the angles the other way round and "
                             : c.assumption.mirrored ? "mirrored columns and "
                                                     : "";
  return format(
      "with {}the axis {:.0f} columns to the {} they differ by {}. {} geometry.detector_shift_u_mm and "
      "pixel_width_mm{}, and whether the frames were cropped",
      turned, std::abs(c.assumption.shift_columns), c.assumption.shift_columns > 0 ? "right" : "left",
      percent(c.agreement.value),
      axis_was_sought ? "Check" : "Set geometry.center = \"auto\" or use lepus center; check",
      c.assumption.backwards  ? ", the sign of the angles"
      : c.assumption.mirrored ? ", mirror_columns"
                              : "");
}

std::string about_scale(const Candidate& c) {
  const double scale = c.assumption.pixel_scale;
  return format(
      "with pixels {:.2f} times as wide they differ by {}. Check geometry.pixel_width_mm (and pixel_height_mm, of "
      "which the "
      "rays say nothing), binning, and source_detector_mm, which {:.2f} times as large does the same",
      scale, percent(c.agreement.value), 1 / scale);
}

}  // namespace

std::string what_does_not_fit(const ScanGeometry& g, std::int64_t row, const OppositeRays& rays,
                              const std::function<std::vector<float>(std::int64_t)>& other_row, bool axis_was_sought) {
  if (!row_is_in_plane(g, row)) return {};
  const RayAgreement given = rays.compare({});
  if (!can_judge(given) || !std::isfinite(given.value)) return {};
  const std::optional<Candidate> scaled = g.beam == Beam::parallel ? std::nullopt : best_scale(rays, given);
  if (fits(given)) return scaled ? beginning(given) + "; " + about_scale(*scaled) : "";
  std::optional<Candidate> best;
  for (const RayAssumption& turning : {RayAssumption{}, {.backwards = true}, {.mirrored = true}}) {
    if (turning.backwards && g.beam == Beam::parallel) continue;  // looks the same
    const Candidate c = best_shift(rays, turning, g.columns);
    const bool moved = std::abs(c.assumption.shift_columns) >= 1 || turning.backwards || turning.mirrored;
    if (!moved || !clearly_better(c.agreement, given)) continue;
    // The simplest explanation, unless another is clearly better.
    if (!best || clearly_better(c.agreement, best->agreement)) best = c;
    if (fits(c.agreement)) break;
  }
  if (scaled && (!best || clearly_better(scaled->agreement, best->agreement)))
    return beginning(given) + "; " + about_scale(*scaled);
  if (best && fits(best->agreement)) return beginning(given) + "; " + about_shift(*best, axis_was_sought);

  // Stripes differ from row to row by chance: a row with fewer of them is not nearer to the plane.
  RayAgreement of_object = given;
  of_object.value -= given.stripes;
  if (g.beam == Beam::cone && !fits(of_object)) {
    const std::int64_t tried = std::min(rows_of_search, g.rows);
    std::vector<std::pair<std::int64_t, double>> fitting;  // their middle is nearest to the plane
    for (std::int64_t k = 0; k < tried; ++k) {
      const std::int64_t other = (2 * k + 1) * g.rows / (2 * tried);
      if (std::abs(other - row) < 2) continue;
      // As if it were the row in the plane.
      const RayAgreement there = OppositeRays(g, row, other_row(other).data()).compare({});
      if (fits(there) && clearly_better(there, of_object)) fitting.emplace_back(other, there.value);
    }
    if (!fitting.empty()) {
      const auto& [there, value] = fitting[fitting.size() / 2];
      return format(
          "{}; those of about row {} do ({}), so that the plane of the orbit seems to be seen there and not on row {}. "
          "Check "
          "geometry.detector_shift_v_mm, and whether the frames were cropped",
          beginning(given), there, percent(value), row);
    }
  }
  if (best && clearly_better(best->agreement, given) &&
      excess(best->agreement) < std::min(hopeless, 0.3 * excess(given)))
    return beginning(given) + "; " + about_shift(*best, axis_was_sought);
  if (excess(given) < hopeless) return {};
  return beginning(given) +
         "; neither another place of the axis nor another direction makes them agree. The angles (their unit, order, "
         "arc) "
         "are not those of the frames, or the object moved";
}

}  // namespace lepus
