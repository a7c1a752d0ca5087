// SPDX-License-Identifier: Apache-2.0
#include "align/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/linear_solve.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr int globals = 6, pitch_index = 4, yaw_index = 5;
constexpr std::array<const char*, globals> names{"source_detector_mm", "detector_shift_u_mm", "detector_shift_v_mm",
                                                 "in_plane_deg",       "pitch_deg",           "yaw_deg"};

constexpr double prior_deg = 1;  // how well pitch and yaw count as known beforehand

double& global_of(CircularScan& s, int i) {
  switch (i) {
    case 0:
      return s.source_detector_mm;
    case 1:
      return s.detector_shift_u_mm;
    case 2:
      return s.detector_shift_v_mm;
    case 3:
      return s.in_plane_rad;
    case 4:
      return s.pitch_rad;
    default:
      return s.yaw_rad;
  }
}

double global_of(const CircularScan& s, int i) {
  CircularScan copy = s;
  return global_of(copy, i);
}

[[noreturn]] void refuse_beads(std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = "calibrate", .why = std::move(why), .hint = std::move(hint)});
}

[[noreturn]] void refuse_singular() {
  refuse_beads("the sightings of the beads do not determine the geometry", "the normal equations cannot be solved",
               "use more beads at different heights, and views of a full turn");
}

void refuse_few(std::size_t beads) {
  if (beads < 4)
    refuse_beads(format("{} beads were followed through the views", beads),
                 "at least 4 are needed, at different heights",
                 "check that the beads are the densest things in the frames and do not overlap");
}

struct Sighting {
  std::size_t bead, view;
  double column, row;
  bool used = true;
};

struct Projected {
  double u, v;
  std::array<double, 3> du, dv;  // by x, y, z of the bead
};

Projected project(const Matrix34& p, Vec3 x) {
  const Vec3 h = transform(p, x);
  Projected r{h.x / h.z, h.y / h.z, {}, {}};
  for (int j = 0; j < 3; ++j) {
    r.du[static_cast<std::size_t>(j)] = (p(0, j) - r.u * p(2, j)) / h.z;
    r.dv[static_cast<std::size_t>(j)] = (p(1, j) - r.v * p(2, j)) / h.z;
  }
  return r;
}

double distance_px(const ScanGeometry& geometry, const Sighting& s, Vec3 bead) {
  const Projected p = project(geometry.matrices[s.view], bead);
  return std::hypot(p.u - s.column, p.v - s.row);
}

// The point nearest to a bead's rays: (P0 - u P2) X = 0 and (P1 - v P2) X = 0 by least squares.
Vec3 triangulate(const ScanGeometry& geometry, std::span<const Sighting> track) {
  Matrix3 m{{0, 0, 0, 0, 0, 0, 0, 0, 0}};
  Vec3 b;
  for (const Sighting& s : track) {
    const Matrix34& p = geometry.matrices[s.view];
    for (int k = 0; k < 2; ++k) {
      const double q = k == 0 ? s.column : s.row;
      const Vec3 a = row3(p, k) - q * row3(p, 2);
      const double c = q * p(2, 3) - p(k, 3);
      const double f[3] = {a.x, a.y, a.z};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m(i, j) += f[i] * f[j];
      b = b + c * a;
    }
  }
  return inverse(m) * b;
}

class Adjustment {
public:
  explicit Adjustment(const CalibrateInput& input)
      : scan_(input.scan), given_(input.scan), is_bead_(input.tracks.size(), true) {
    const ScanGeometry start = build_scan(scan_);
    for (std::size_t b = 0; b < input.tracks.size(); ++b) {
      const std::size_t first = sightings_.size();
      for (const BeadSighting& s : input.tracks[b])
        sightings_.push_back({b, static_cast<std::size_t>(s.view), s.column, s.row});
      beads_.push_back(triangulate(start, std::span(sightings_).subspan(first)));
    }
  }

  // Levenberg-Marquardt; the damping multiplies the diagonal. noise_px: what a coordinate of a sighting is off by,
  // against which the scan file's pitch and yaw count as known. Frames with small cone angles hardly tell
  // them from shifts, and the solution would wander off along what they do not tell.
  int run(double noise_px) {
    prior_ = noise_px / radians(prior_deg);
    double damping = 1e-3, cost = cost_of(scan_, beads_);
    for (int iteration = 1; iteration <= 200; ++iteration) {
      std::vector<double> matrix, right;
      normal_equations(matrix, right);
      bool better = false, solved = false;
      double gain = 0;
      while (!better && damping < 1e12) {
        std::vector<double> a = matrix, step = right;
        const std::size_t n = step.size();
        for (std::size_t i = 0; i < n; ++i) a[i * n + i] *= 1 + damping;
        CircularScan scan = scan_;
        std::vector<Vec3> beads = beads_;
        if (analysis::solve(a, step, n)) {
          solved = true;
          for (int g = 0; g < globals; ++g) global_of(scan, g) += step[static_cast<std::size_t>(g)];
          for (std::size_t b = 0; b < beads.size(); ++b)
            beads[b] = beads[b] + Vec3{step[globals + 3 * b], step[globals + 3 * b + 1], step[globals + 3 * b + 2]};
          const double now = plausible(scan) ? cost_of(scan, beads) : cost + 1;
          better = now <= cost;
          gain = cost - now;
          if (better) {
            scan_ = scan;
            beads_ = beads;
            cost = now;
          }
        }
        damping *= better ? 0.2 : 5;
      }
      if (!solved) refuse_singular();
      if (!better || gain < 1e-8 * cost) return iteration;
    }
    refuse_beads("the geometry was not found", "200 steps did not converge",
                 "start from a scan file nearer to the truth: distances within 20 %");
  }

  double rms_px() const {
    double n = 0;
    for (const Sighting& s : sightings_) n += s.used ? 2 : 0;
    return std::sqrt(misfit(scan_, beads_) / n);
  }

  // Sightings farther off than five times the usual distance belong to something else; a track of which less than half
  // is left is that of no bead, unless a better geometry makes one of it. True where other tracks are beads than
  // before.
  bool leave_out() {
    const ScanGeometry geometry = build_scan(scan_);
    std::vector<double> distances;
    for (const Sighting& s : sightings_) distances.push_back(distance_px(geometry, s, beads_[s.bead]));
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    const double limit = 5 * std::max(*middle, 0.005);
    const auto mark = [&] {
      for (Sighting& s : sightings_) s.used = distance_px(geometry, s, beads_[s.bead]) <= limit;
      return tracks_of_beads();
    };
    const std::vector<bool> first = mark(), before = std::exchange(is_bead_, first);
    for (std::size_t b = 0; b < beads_.size(); ++b)  // sightings of something else may have drawn it away
      if (!first[b]) beads_[b] = seen_by_most(geometry, b);
    if (bead_count() < beads_.size()) is_bead_ = mark();
    for (Sighting& s : sightings_) s.used = s.used && is_bead_[s.bead];
    refuse_few(bead_count());
    return is_bead_ != before;
  }

  CalibrateResult result(std::optional<double> spacing) {
    CalibrateResult r;
    const ScanGeometry geometry = build_scan(scan_);
    r.view_rms_px.assign(scan_.angles_rad.size(), 0);
    std::vector<double> counts(scan_.angles_rad.size());
    double sum = 0;
    for (const Sighting& s : sightings_) {
      if (!s.used) {
        ++r.left_out;
        if (r.bad_views.empty() ||
            std::find(r.bad_views.begin(), r.bad_views.end(), static_cast<std::int64_t>(s.view)) == r.bad_views.end())
          r.bad_views.push_back(static_cast<std::int64_t>(s.view));
        continue;
      }
      const Projected p = project(geometry.matrices[s.view], beads_[s.bead]);
      const double square = (p.u - s.column) * (p.u - s.column) + (p.v - s.row) * (p.v - s.row);
      sum += square;
      r.view_rms_px[s.view] += square;
      counts[s.view] += 2;
      ++r.sightings;
    }
    std::sort(r.bad_views.begin(), r.bad_views.end());
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) r.view_rms_px[i] = std::sqrt(r.view_rms_px[i] / counts[i]);
    r.rms_px = std::sqrt(sum / static_cast<double>(2 * r.sightings));
    standard_errors(r);
    r.false_tracks = static_cast<std::int64_t>(beads_.size() - bead_count());
    for (std::size_t b = 0; b < beads_.size(); ++b)
      if (is_bead_[b]) r.beads_mm.push_back(beads_[b]);
    std::sort(r.beads_mm.begin(), r.beads_mm.end(), [](Vec3 a, Vec3 b) { return a.z < b.z; });
    // Pieces of one bead's track that were not joined.
    const double pixel_mm = scan_.pixel_width_mm * scan_.source_axis_mm / scan_.source_detector_mm;
    for (std::size_t i = 0; i < r.beads_mm.size(); ++i)
      for (std::size_t j = r.beads_mm.size(); --j > i;)
        if (norm(r.beads_mm[i] - r.beads_mm[j]) < pixel_mm)
          r.beads_mm.erase(r.beads_mm.begin() + static_cast<std::ptrdiff_t>(j));
    refuse_few(r.beads_mm.size());
    double scale = 1;
    if (spacing)
      scale = *spacing * static_cast<double>(r.beads_mm.size() - 1) / (r.beads_mm.back().z - r.beads_mm.front().z);
    scan_.source_axis_mm *= scale;
    scan_.axis_offset_mm *= scale;
    for (ViewPerturbation& view : scan_.perturbations) {  // the detector stays where it is, seen from the source
      view.detector_mm = view.detector_mm + (scale - 1) * view.source_mm;
      view.source_mm = scale * view.source_mm;
    }
    for (Vec3& bead : r.beads_mm) bead = scale * bead;
    r.scan = scan_;
    return r;
  }

private:
  std::vector<bool> tracks_of_beads() const {
    std::vector<std::size_t> seen(beads_.size()), used(beads_.size());
    for (const Sighting& s : sightings_) {
      ++seen[s.bead];
      used[s.bead] += s.used ? 1 : 0;
    }
    std::vector<bool> list;
    for (std::size_t b = 0; b < beads_.size(); ++b) list.push_back(used[b] >= 4 && 2 * used[b] >= seen[b]);
    return list;
  }

  // Least trimmed squares: the point nearest to the rays of the half of the sightings that it is nearest to.
  Vec3 seen_by_most(const ScanGeometry& geometry, std::size_t bead) const {
    std::vector<Sighting> track;
    for (const Sighting& s : sightings_)
      if (s.bead == bead) track.push_back(s);
    Vec3 place = triangulate(geometry, track);
    for (int step = 0; step < 20; ++step) {
      std::ranges::sort(track, {}, [&](const Sighting& s) { return distance_px(geometry, s, place); });
      place = triangulate(geometry, std::span(track).first((track.size() + 1) / 2));
    }
    return place;
  }

  std::size_t bead_count() const { return static_cast<std::size_t>(std::ranges::count(is_bead_, true)); }

  static bool plausible(const CircularScan& s) {
    return s.source_detector_mm > 0 && std::abs(s.pitch_rad) < 0.7 && std::abs(s.yaw_rad) < 0.7 &&
           std::abs(s.in_plane_rad) < 1.6;
  }

  double cost_of(const CircularScan& scan, const std::vector<Vec3>& beads) const {
    const double pitch = prior_ * (scan.pitch_rad - given_.pitch_rad), yaw = prior_ * (scan.yaw_rad - given_.yaw_rad);
    return misfit(scan, beads) + pitch * pitch + yaw * yaw;
  }

  double misfit(const CircularScan& scan, const std::vector<Vec3>& beads) const {
    const ScanGeometry geometry = build_scan(scan);
    double sum = 0;
    for (const Sighting& s : sightings_) {
      if (!s.used) continue;
      const Projected p = project(geometry.matrices[s.view], beads[s.bead]);
      sum += (p.u - s.column) * (p.u - s.column) + (p.v - s.row) * (p.v - s.row);
    }
    return sum;
  }

  void normal_equations(std::vector<double>& matrix, std::vector<double>& right) const {
    const std::size_t n = globals + 3 * beads_.size();
    matrix.assign(n * n, 0);
    right.assign(n, 0);
    for (const int g : {pitch_index, yaw_index}) {
      const auto i = static_cast<std::size_t>(g);
      matrix[i * n + i] += prior_ * prior_;
      right[i] += prior_ * prior_ * (global_of(given_, g) - global_of(scan_, g));
    }
    for (std::size_t i = globals; i < n; ++i)  // what is no bead stays where it is
      if (!is_bead_[(i - globals) / 3]) matrix[i * n + i] = 1;
    const ScanGeometry geometry = build_scan(scan_);
    std::array<std::array<ScanGeometry, 2>, globals> nearby;
    std::array<double, globals> reach{};
    for (int g = 0; g < globals; ++g) {
      CircularScan changed = scan_;
      double& value = global_of(changed, g);
      const double step = g < 3 ? 1e-5 * scan_.source_detector_mm : 1e-5, kept = value;
      reach[static_cast<std::size_t>(g)] = step;
      for (const int side : {0, 1}) {
        value = kept + (side == 0 ? -step : step);
        nearby[static_cast<std::size_t>(g)][static_cast<std::size_t>(side)] = build_scan(changed);
      }
    }
    for (const Sighting& s : sightings_) {
      if (!s.used) continue;
      const Projected p = project(geometry.matrices[s.view], beads_[s.bead]);
      std::array<std::array<double, globals + 3>, 2> slope{};
      for (std::size_t g = 0; g < globals; ++g) {
        const Projected before = project(nearby[g][0].matrices[s.view], beads_[s.bead]);
        const Projected after = project(nearby[g][1].matrices[s.view], beads_[s.bead]);
        slope[0][g] = (after.u - before.u) / (2 * reach[g]);
        slope[1][g] = (after.v - before.v) / (2 * reach[g]);
      }
      std::array<std::size_t, globals + 3> place{};
      for (std::size_t i = 0; i < place.size(); ++i) place[i] = i < globals ? i : globals + 3 * s.bead + i - globals;
      for (std::size_t j = 0; j < 3; ++j) {
        slope[0][globals + j] = p.du[j];
        slope[1][globals + j] = p.dv[j];
      }
      const std::array<double, 2> missing{s.column - p.u, s.row - p.v};
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t i = 0; i < place.size(); ++i) {
          right[place[i]] += slope[k][i] * missing[k];
          for (std::size_t j = 0; j < place.size(); ++j) matrix[place[i] * n + place[j]] += slope[k][i] * slope[k][j];
        }
    }
  }

  // The inverse of the normal matrix, column by column for the globals, times the variance of a coordinate.
  void standard_errors(CalibrateResult& r) const {
    std::vector<double> matrix, right;
    normal_equations(matrix, right);
    const std::size_t n = right.size();
    const double freedom = static_cast<double>(2 * r.sightings) - static_cast<double>(globals + 3 * bead_count());
    if (!(freedom > 0)) refuse_singular();
    const double variance = r.rms_px * r.rms_px * static_cast<double>(2 * r.sightings) / freedom;
    for (std::size_t g = 0; g < globals; ++g) {
      std::vector<double> a = matrix, unit(n);
      unit[g] = 1;
      if (!analysis::solve(a, unit, n)) refuse_singular();
      const double error = std::sqrt(variance * unit[g]);
      r.errors.emplace_back(names[g], g < 3 ? error : degrees(error));
    }
  }

  CircularScan scan_, given_;
  double prior_ = 0;           // px per radian
  std::vector<bool> is_bead_;  // by track; false: no sighting of it is used
  std::vector<Vec3> beads_;    // by track
  std::vector<Sighting> sightings_;
};

// What was found is not what one may expect of a scan file that is about right.
std::vector<std::string> doubts(const CircularScan& given, const CalibrateResult& r) {
  std::vector<std::string> list;
  // Of some fifty simulated scans those that came out right missed them by 0.05 px or less, wrong ones by 0.5 or more.
  if (r.rms_px > 0.3)
    list.push_back(format(
        "the geometry misses the beads by {:.2f} pixels rms, where a tenth is usual: it may be wrong by much more "
        "than its standard errors. Use beads that stay apart, or a scan file that is closer to the truth",
        r.rms_px));
  if (std::abs(r.scan.source_detector_mm / given.source_detector_mm - 1) > 0.2)
    list.push_back(
        format("source_detector_mm = {:.1f} is far from the scan file's {:.1f}: were the beads followed rightly?",
               r.scan.source_detector_mm, given.source_detector_mm));
  if (r.false_tracks > 0)
    list.push_back(format(
        "{} followed that no bead makes, and left out: beads that overlap or pass one another were taken for one "
        "another. Is {} the number of beads?",
        r.false_tracks == 1 ? "a track was" : format("{} tracks were", r.false_tracks), r.beads_mm.size()));
  for (const int g : {pitch_index, yaw_index}) {
    const double before = degrees(global_of(given, g)), found = degrees(global_of(r.scan, g));
    if (std::abs(found - before) > 5 * prior_deg)
      list.push_back(format(
          "{} = {:.2f} is far from the scan file's {:.2f}, and all other keys depend on it: if the detector is not "
          "tilted like that, the beads were not followed rightly, or angles or the pixel size are wrong",
          names[static_cast<std::size_t>(g)], found, before));
  }
  return list;
}

}  // namespace

CalibrateResult fit_geometry(const CalibrateInput& input) {
  if (input.scan.beam != Beam::cone || input.scan.arc)
    refuse_beads("only a cone beam with a flat detector can be calibrated with beads", "the scan file has another one",
                 "use 'lepus center' for the axis");
  refuse_few(input.tracks.size());
  if (input.bead_spacing_mm && !(*input.bead_spacing_mm > 0))
    refuse_beads("the distance of the beads must be above zero", format("it is {}", *input.bead_spacing_mm), "");
  Adjustment adjustment(input);
  int iterations = adjustment.run(0.1);
  for (int again = 0; again < 12; ++again) {
    const bool others = adjustment.leave_out();
    if (again >= 3 && !others) break;
    iterations += adjustment.run(adjustment.rms_px());
  }
  CalibrateResult result = adjustment.result(input.bead_spacing_mm);
  if (input.bead_spacing_mm && !(result.scan.source_axis_mm < result.scan.source_detector_mm))
    refuse_beads(format("with beads {} mm apart the axis would lie behind the detector", *input.bead_spacing_mm),
                 format("source_axis_mm would be {:.1f}, source_detector_mm {:.1f}", result.scan.source_axis_mm,
                        result.scan.source_detector_mm),
                 "check the distance: that of neighbouring beads along the axis, in millimetres");
  // Centres are found to a tenth of a pixel; tracks that do not belong to one bead each miss by many.
  if (!(result.rms_px < 2))
    refuse_beads(format("the geometry misses the beads by {:.1f} pixels rms", result.rms_px),
                 "beads that overlap or pass one another were taken for one another, or the scan file is far off",
                 "use fewer or smaller beads that stay apart, more views, or a scan file that is closer to the truth");
  result.warnings = doubts(input.scan, result);
  result.iterations = iterations;
  return result;
}

}  // namespace lepus
