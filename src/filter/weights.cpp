// SPDX-License-Identifier: Apache-2.0
#include "filter/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/format.h"
#include "filter/redundancy.h"
#include "filter/smooth_step.h"
#include "filter/view_rays.h"
#include "geometry/arc.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double full_turn = 2 * pi;

// From here on one side of the detector sees so much farther that the scan is called half-fan (as in
// field_of_view_radius_mm), and from there on that less than a full turn cannot be what was meant.
constexpr double half_fan_ratio = 1.2, half_fan_only_ratio = 2.5;
constexpr double bridged_in_half_fan = radians(2);

struct View : ViewRays {
  double share = 0;
  double lowest_gamma = 0, highest_gamma = 0;
  using ViewRays::ViewRays;
};

// Columns start .. start + n, counted from the detector's middle. A loop per case, so that each becomes vector code.
constexpr std::int64_t block = 256;
float column(float start, std::int64_t k) { return start + static_cast<float>(static_cast<int>(k)); }

void fan_angles(const RayLine& r, Beam beam, bool narrow, float start, std::int64_t n, float* gamma) {
  if (beam == Beam::parallel) {
    std::fill(gamma, gamma + n, 0.0F);
  } else if (narrow) {
    for (std::int64_t k = 0; k < n; ++k) gamma[k] = narrow_fan_angle(r, column(start, k));
  } else {
    for (std::int64_t k = 0; k < n; ++k) gamma[k] = wide_fan_angle(r, column(start, k));
  }
}

void axis_distances(const RayLine& r, Beam beam, float start, std::int64_t n, float* rho) {
  for (std::int64_t k = 0; k < n; ++k) rho[k] = across_at(r, column(start, k));
  if (beam == Beam::parallel) return;
  for (std::int64_t k = 0; k < n; ++k) rho[k] = axis_distance(r, column(start, k), rho[k]);
}

// ray_redundancy for a block of columns.
void redundancies(const RayWeights& rays, const ViewWeight& view, double v, float start, std::int64_t n,
                  float* weight) {
  std::array<float, block> gamma, rho;
  const RayLine line = ray_line(view, rays.shape.middle_column, v);
  if (view.needs_gamma) fan_angles(line, rays.shape.beam, view.narrow, start, n, gamma.data());
  if (view.needs_rho) axis_distances(line, rays.shape.beam, start, n, rho.data());
  if (!view.needs_gamma) {
    for (std::int64_t k = 0; k < n; ++k) weight[k] = feathered_redundancy(rays.shape, rho[k]);
    return;
  }
  std::fill(weight, weight + n, 0.0F);  // of the partner: its margin first
  for (std::int32_t i = 0; i < view.partners; ++i) {
    const PartnerArc arc = rays.partners[static_cast<std::size_t>(view.first_partner) + static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < n; ++k) weight[k] = partner_margin(arc, gamma[k], weight[k]);
  }
  const float margin = view.margin;
  if (view.needs_rho)
    for (std::int64_t k = 0; k < n; ++k) weight[k] = feathered_arc_redundancy(rays.shape, margin, weight[k], rho[k]);
  else
    for (std::int64_t k = 0; k < n; ++k) weight[k] = arc_redundancy(margin, weight[k]);
}

// By the weights and the cosines.
void multiply(const RayLine& r, Beam beam, float factor, float start, std::int64_t n, const float* weight,
              float* pixels) {
  if (beam == Beam::parallel)
    for (std::int64_t k = 0; k < n; ++k) pixels[k] *= factor * weight[k];
  else
    for (std::int64_t k = 0; k < n; ++k) pixels[k] *= cosine_weight(r, column(start, k), factor * weight[k]);
}

// Lines through the disc of fan angle gamma that no view sees, as an arc of directions: both their views lie in gaps.
double unseen(const ViewArcs& arcs, double gamma) {
  double sum = 0;
  const std::size_t n = arcs.arcs.size();
  const auto gap = [&](std::size_t k) {
    return Arc{arcs.arcs[k].end, k + 1 < n ? arcs.arcs[k + 1].begin : arcs.arcs[0].begin + arcs.period};
  };
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < n; ++k)
      for (int turn = -2; turn <= 2; ++turn) {
        const double shift = pi + 2 * gamma + turn * arcs.period;
        const double low = std::max(gap(j).begin, gap(k).begin + shift),
                     high = std::min(gap(j).end, gap(k).end + shift);
        sum += std::max(0.0, high - low);
      }
  return sum;
}

}  // namespace

struct FdkWeights::State {
  Beam beam = Beam::cone;
  std::int64_t columns = 0, rows = 0;
  std::vector<View> views;
  RayWeights rays;
  Redundancy redundancy;
  Coverage coverage = Coverage::full;
  double arc = 0;
  std::vector<std::string> warnings;
  ColumnPadding padding;

  DetectorReach look_at_views(const ScanGeometry& geometry, std::vector<double>& angles);
  void describe_gaps(const ViewArcs& arcs);
  void judge_limited(const ViewArcs& arcs, const DetectorReach& reach);
  void pad_short_side(const DetectorReach& reach);
  void describe_rays();
};

DetectorReach FdkWeights::State::look_at_views(const ScanGeometry& geometry, std::vector<double>& angles) {
  double first = -0.5, last = static_cast<double>(columns) - 0.5;
  if (geometry.recorded_on_arc) {  // the flat detector is a little wider than what was recorded
    const ArcMap map(geometry);
    first = map.to_flat({-0.5, geometry.recorded_on_arc->central_row}).column;
    last = map.to_flat(
                  {static_cast<double>(geometry.recorded_on_arc->columns) - 0.5, geometry.recorded_on_arc->central_row})
               .column;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double positive = infinity, negative = infinity;              // what every view reaches
  double positive_best = -infinity, negative_best = -infinity;  // what some view reaches
  for (std::int64_t i = 0; i < geometry.views(); ++i) {
    const Camera camera = camera_of(geometry, i);
    View view(camera);
    if (beam != Beam::parallel && !(view.radius_mm > 0))
      throw Error(ErrorKind::geometry, {.what = "the source lies on the rotation axis",
                                        .where = format("view {}", i),
                                        .why = {},
                                        .hint = "check the view's matrix"});
    double high = -infinity, low = infinity;
    view.lowest_gamma = infinity;
    view.highest_gamma = -infinity;
    for (const double v : {0.0, static_cast<double>(rows - 1)}) {
      const Ray a = view.ray(first, v), b = view.ray(last, v);
      positive = std::min(positive, std::max(a.rho_mm, b.rho_mm));
      negative = std::min(negative, -std::min(a.rho_mm, b.rho_mm));
      high = std::max({high, a.rho_mm, b.rho_mm});
      low = std::min({low, a.rho_mm, b.rho_mm});
      view.lowest_gamma = std::min({view.lowest_gamma, a.gamma_rad, b.gamma_rad});
      view.highest_gamma = std::max({view.highest_gamma, a.gamma_rad, b.gamma_rad});
    }
    positive_best = std::max(positive_best, high);
    negative_best = std::max(negative_best, -low);
    angles.push_back(view.angle_rad);
    views.push_back(view);
  }
  if (positive_best < 0 || negative_best < 0)
    throw Error(ErrorKind::geometry, {.what = "the detector does not see the rotation axis in any view",
                                      .where = "geometry",
                                      .why = "no line near the axis is measured",
                                      .hint = "check detector_shift_u_mm and axis_offset_mm"});
  if (std::min(positive, negative) <= 0)
    warnings.emplace_back("the detector does not see the rotation axis in every view; lines are weighted as if it did");
  return detector_reach(positive, negative);
}

// Where the far side's reach would fall on the near side, in every view and row.
void FdkWeights::State::pad_short_side(const DetectorReach& reach) {
  const double rho = -reach.longer_side * reach.longer_mm;
  double leftmost = 0, rightmost = static_cast<double>(columns - 1);
  for (const View& view : views)
    for (const double v : {0.0, static_cast<double>(rows - 1)}) {
      const double u = view.column(v, rho);
      leftmost = std::min(leftmost, u);
      rightmost = std::max(rightmost, u);
    }
  constexpr std::int64_t taps = 2;  // that cubic interpolation needs on each side
  if (leftmost < 0) padding.left = static_cast<std::int64_t>(std::ceil(-leftmost)) + taps;
  if (const double beyond = rightmost - static_cast<double>(columns - 1); beyond > 0)
    padding.right = static_cast<std::int64_t>(std::ceil(beyond)) + taps;
}

// A single arc has one gap, its complement: that is a short scan. More are views that are missing.
void FdkWeights::State::describe_gaps(const ViewArcs& arcs) {
  if (arcs.arcs.size() == 1) return;
  constexpr std::size_t named = 5;
  for (std::size_t k = 0; k < std::min(named, arcs.gaps.size()); ++k)
    warnings.push_back("views are missing: " + arcs.gaps[k]);
  if (arcs.gaps.size() > named) warnings.push_back(format("and {} more gaps", arcs.gaps.size() - named));
}

// Whether every line through the field of view is seen; says what is missing.
void FdkWeights::State::judge_limited(const ViewArcs& arcs, const DetectorReach& reach) {
  if (arcs.closed()) return;
  double radius = 0;
  for (const View& view : views) radius = std::max(radius, view.radius_mm);
  const double shorter = std::max(0.0, reach.shorter_mm);
  const double widest = beam == Beam::parallel ? 0 : std::asin(std::min(1.0, shorter / radius));
  constexpr int samples = 64;
  double missing = 0, complete = -1;
  for (int k = 0; k <= samples; ++k) {
    const double lost = unseen(arcs, widest * k / samples);
    missing = std::max(missing, lost);
    if (lost <= arcs.step) complete = widest * k / samples;
  }
  if (missing <= arcs.step) return;
  coverage = Coverage::limited;
  const std::string consequence = complete > 0 ? format("only objects within {:.4g} mm of the axis are seen completely",
                                                        radius * std::sin(complete))
                                               : "no part of the object is seen completely";
  // Differences of what is printed, so that a reader who adds up gets the same.
  const auto printed = [](double angle_rad) { return std::round(100 * degrees(angle_rad)) / 100; };
  const double covered = printed(arcs.covered), needed = printed(pi + 2 * widest);
  warnings.push_back(
      arcs.arcs.size() == 1
          ? format("the views cover {:.2f} degrees, {:.2f} degrees too little: {} (a short scan needs {:.2f})", covered,
                   needed - covered, consequence, needed)
          : format("the views cover {:.2f} of 360 degrees, in {} pieces; of the lines that the missing {:.2f} degrees "
                   "would have seen, up to {:.2f} degrees' are not seen from the other end either: {} (one piece of "
                   "{:.2f} degrees would do)",
                   covered, arcs.arcs.size(), 360 - covered, printed(missing), consequence, needed));
}

void FdkWeights::State::describe_rays() {
  rays.shape.beam = beam;
  rays.shape.middle_column = 0.5 * static_cast<double>(columns - 1);
  rays.shape.middle_row = 0.5 * static_cast<double>(rows - 1);
  redundancy.describe(rays.shape);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = views[i];
    ViewWeight w;
    std::copy(view.along.begin(), view.along.end(), w.along);
    std::copy(view.across.begin(), view.across.end(), w.across);
    std::copy(view.height.begin(), view.height.end(), w.height);
    w.radius_mm = view.radius_mm;
    w.elevation = view.elevation;
    w.share_rad = view.share;
    redundancy.describe(static_cast<std::int64_t>(i), view.lowest_gamma, view.highest_gamma, w, rays.partners);
    w.upright = (std::abs(w.along[2]) + std::abs(w.across[2])) * static_cast<double>(rows) <
                1e-9 * std::abs(linear(view.along, rays.shape.middle_column, 0));
    for (const double u : {0.0, static_cast<double>(columns - 1)})
      for (const double v : {0.0, static_cast<double>(rows - 1)}) w.narrow &= std::abs(view.ray(u, v).gamma_rad) < 0.78;
    rays.views.push_back(w);
  }
}

FdkWeights::FdkWeights(const ScanGeometry& geometry, const WeightOptions& options) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.beam = geometry.beam;
  s.columns = geometry.columns;
  s.rows = geometry.rows;
  if (geometry.views() < 1)
    throw Error(ErrorKind::geometry, {.what = "the scan has no views", .where = {}, .why = {}, .hint = {}});
  std::vector<double> angles;
  const DetectorReach reach = s.look_at_views(geometry, angles);

  ViewArcs arcs = view_arcs(angles, full_turn);
  const double ratio = reach.shorter_mm > 0 ? reach.longer_mm / reach.shorter_mm : 1;
  if (ratio > half_fan_only_ratio && !arcs.closed() && options.redundancy) {
    ViewArcs bridged = view_arcs(angles, full_turn, bridged_in_half_fan);
    if (!bridged.closed())
      throw Error(ErrorKind::geometry,
                  {.what = "a half-fan scan of less than 360 degrees",
                   .where = "geometry",
                   .why = format("the detector reaches {:.4g} mm to one side of the axis and {:.4g} mm to the other, "
                                 "and the views leave out {:.2f} degrees",
                                 reach.longer_mm, reach.shorter_mm, degrees(arcs.largest_gap())),
                   .hint = "scan a full turn, or check detector_shift_u_mm and axis_offset_mm"});
    bridged.gaps = arcs.gaps;
    arcs = std::move(bridged);
  }
  s.arc = arcs.covered;
  s.describe_gaps(arcs);

  double constant = options.redundancy ? 0 : 0.5;
  const bool turns_twice = arcs.closed() || arcs.covered > pi + 2 * arcs.step;
  ViewArcs half;
  if (s.beam == Beam::parallel && options.redundancy && !(turns_twice && reach.feathered()))
    half = view_arcs(angles, pi);
  const bool folded = !half.share.empty() && half.closed();

  const bool past_start = arcs.overlapping && arcs.covered > full_turn + 1.5 * arcs.step;
  if (arcs.closed())
    s.coverage = ratio > half_fan_ratio ? Coverage::half_fan : past_start ? Coverage::over_full : Coverage::full;
  else
    s.coverage = s.beam == Beam::parallel ? Coverage::parallel_half_turn : Coverage::short_scan;
  if (s.coverage == Coverage::half_fan && options.redundancy) s.pad_short_side(reach);
  if (folded) {  // views half a turn apart measure the same lines: their shares of the half turn say it all
    arcs = std::move(half);
    constant = 1;
  } else {
    s.judge_limited(arcs, reach);
  }
  if (s.coverage != Coverage::half_fan && ratio > half_fan_ratio)
    s.warnings.push_back(
        format("the detector reaches {:.4g} mm to one side of the axis but {:.4g} mm to the other, and "
               "this is not a full turn: only objects within the smaller radius are seen completely",
               reach.longer_mm, reach.shorter_mm));
  for (std::size_t i = 0; i < s.views.size(); ++i) s.views[i].share = arcs.share[i];
  s.redundancy = Redundancy(std::move(angles), std::move(arcs), reach, constant);
  s.describe_rays();
}

FdkWeights::~FdkWeights() = default;
FdkWeights::FdkWeights(FdkWeights&&) noexcept = default;
FdkWeights& FdkWeights::operator=(FdkWeights&&) noexcept = default;

Coverage FdkWeights::coverage() const { return state_->coverage; }
double FdkWeights::arc_rad() const { return state_->arc; }
std::vector<std::string> FdkWeights::warnings() const { return state_->warnings; }

ColumnPadding FdkWeights::padding() const { return state_->padding; }

double FdkWeights::redundancy(std::int64_t view, double u, double v) const {
  const Ray ray = state_->views[static_cast<std::size_t>(view)].ray(u, v);
  return state_->redundancy.at(view, ray.gamma_rad, ray.rho_mm);
}

double FdkWeights::share_rad(std::int64_t view) const { return state_->views[static_cast<std::size_t>(view)].share; }

double FdkWeights::at(std::int64_t view, double u, double v) const {
  const View& w = state_->views[static_cast<std::size_t>(view)];
  double cosine = 1;
  if (state_->beam != Beam::parallel) {
    const double along = linear(w.along, u, v);
    cosine = along / std::hypot(along, linear(w.across, u, v), linear(w.height, u, v));
  }
  const ViewWeight& parameters = state_->rays.views[static_cast<std::size_t>(view)];
  return w.share * redundancy(view, u, v) * row_factor(parameters, state_->beam, v) * cosine;
}

const RayWeights& FdkWeights::rays() const { return state_->rays; }

void FdkWeights::apply(std::int64_t view, std::int64_t row0, std::int64_t row1, float* rows) const {
  const State& s = *state_;
  const WeightShape& shape = s.rays.shape;
  const ViewWeight& w = s.rays.views[static_cast<std::size_t>(view)];
  std::array<float, block> weight;
  for (std::int64_t begin = 0; begin < s.columns; begin += block) {
    const std::int64_t n = std::min(block, s.columns - begin);
    const auto start = static_cast<float>(static_cast<double>(begin) - shape.middle_column);
    if (!w.varies) std::fill(weight.begin(), weight.begin() + n, w.redundancy);
    if (w.varies && w.upright) redundancies(s.rays, w, shape.middle_row, start, n, weight.data());
    for (std::int64_t row = row0; row < row1; ++row) {
      const auto v = static_cast<double>(row);
      if (w.varies && !w.upright) redundancies(s.rays, w, v, start, n, weight.data());
      const auto factor = static_cast<float>(w.share_rad * row_factor(w, shape.beam, v));
      multiply(ray_line(w, shape.middle_column, v), shape.beam, factor, start, n, weight.data(),
               rows + (row - row0) * s.columns + begin);
    }
  }
}

ScanGeometry padded(const ScanGeometry& geometry, ColumnPadding padding) {
  ScanGeometry wider = geometry;
  wider.columns += padding.left + padding.right;
  wider.recorded_on_arc.reset();  // it belongs to the frames
  for (Matrix34& p : wider.matrices)
    for (int k = 0; k < 4; ++k) p(0, k) += static_cast<double>(padding.left) * p(2, k);
  return wider;
}

}  // namespace lepus
