// SPDX-License-Identifier: Apache-2.0
// Levenberg-Marquardt on the distance function itself, from the most promising of many orientations; points are a
// sample that depends on their places only, and sums run over fixed pieces of it: the same motion for any number of
// threads.
#include "analysis/align_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/linear_solve.h"
#include "analysis/nominal.h"
#include "analysis/orientations.h"
#include "analysis/surface_crossings.h"

namespace lepus::analysis {
namespace {

constexpr std::size_t all_points = 16384, few_points = 512, tried_in_full = 16;
constexpr std::size_t points_at_once = 256;  // that one thread sums
// Another orientation than that of the volume must fit clearly better: many parts fit in several ways.
constexpr double clearly_better = 0.8;
constexpr double tukey = 4.685;                  // standard deviations beyond which a point does not count
constexpr double deviations_of_median = 1.4826;  // of a normal distribution: standard deviation over median amount

// The points with the smallest hashes of their numbers: a sample at random that does not depend on the order.
class PointSample {
public:
  void add(const Crossing& crossing) {
    points_.push_back({hash(static_cast<std::uint64_t>(crossing.edge)), crossing.point_mm});
    if (points_.size() >= 4 * all_points) shorten();
  }
  void add(const PointSample& other) { points_.insert(points_.end(), other.points_.begin(), other.points_.end()); }
  std::vector<Vec3> sorted() {
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.hash < b.hash; });
    std::vector<Vec3> result;
    for (std::size_t i = 0; i < std::min(all_points, points_.size()); ++i) result.push_back(points_[i].at);
    return result;
  }

private:
  struct Point {
    std::uint64_t hash = 0;
    Vec3 at;
  };
  static std::uint64_t hash(std::uint64_t x) {  // one to one (splitmix64): no two points are equal
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }
  void shorten() {
    std::nth_element(points_.begin(), points_.begin() + all_points, points_.end(),
                     [](const Point& a, const Point& b) { return a.hash < b.hash; });
    points_.resize(all_points);
  }
  std::vector<Point> points_;
};

std::vector<Vec3> sample_points(const VolumeReader& volume, const BitVolume& inside, double threshold,
                                Context& context) {
  std::vector<PointSample> samples(static_cast<std::size_t>(context.threads.size()));
  for_each_crossing(volume, inside, threshold, context, [&](const Crossing& crossing, int worker) {
    samples[static_cast<std::size_t>(worker)].add(crossing);
  });
  for (std::size_t i = 1; i < samples.size(); ++i) samples[0].add(samples[i]);
  return samples[0].sorted();
}

struct Foot {  // of a point after the motion
  Vec3 from_centre, gradient;
  double signed_mm = 0, area = 0;
};

class SurfaceFit {
public:
  SurfaceFit(const VolumeGrid& grid, const MeshDistance& nominal, std::span<const Vec3> points, Context& context)
      : grid_(grid), nominal_(nominal), points_(points), context_(context) {}

  std::vector<Foot> feet(const RigidMotion& motion) const {
    std::vector<Foot> result(points_.size());
    const auto pieces = static_cast<std::int64_t>((points_.size() + points_at_once - 1) / points_at_once);
    context_.threads.parallel_for(0, pieces, 1, [&](std::int64_t k, std::int64_t, int) {
      const std::size_t begin = static_cast<std::size_t>(k) * points_at_once,
                        end = std::min(begin + points_at_once, points_.size());
      for (std::size_t i = begin; i < end; ++i) {
        const Vec3 p = motion(points_[i]);
        const MeshDistance::Nearest near = nominal_.nearest(p);
        // The distance grows along the line to the nearest point; on the surface, along its normal.
        const bool apart = std::abs(near.signed_mm) > 1e-9 * norm(grid_.step_mm);
        result[i] = {p - motion.centre_mm - motion.shift_mm, apart ? (p - near.point) / near.signed_mm : near.normal,
                     near.signed_mm, 1 / crossings_per_mm2(grid_, transposed(motion.rotation) * near.normal)};
      }
    });
    return result;
  }

  // The amount that half of the points do not exceed.
  static double median(const std::vector<Foot>& feet) {
    std::vector<double> amounts;
    amounts.reserve(feet.size());
    for (const Foot& f : feet) amounts.push_back(std::abs(f.signed_mm));
    const auto middle = amounts.begin() + static_cast<std::ptrdiff_t>(amounts.size() / 2);
    std::nth_element(amounts.begin(), middle, amounts.end());
    return *middle;
  }
  static double mean_amount(const std::vector<Foot>& feet) {
    return std::accumulate(feet.begin(), feet.end(), 0.0,
                           [](double sum, const Foot& f) { return sum + std::abs(f.signed_mm); }) /
           static_cast<double>(feet.size());
  }

  Alignment optimise(const RigidMotion& start, int maximum_iterations, double enough_mm) const;

private:
  const VolumeGrid& grid_;
  const MeshDistance& nominal_;
  std::span<const Vec3> points_;
  Context& context_;
};

double tukey_cost(const std::vector<Foot>& feet, double reach) {
  double sum = 0;
  for (const Foot& f : feet) {
    const double u = std::min(1.0, std::abs(f.signed_mm) / reach), v = 1 - u * u;
    sum += f.area * (1 - v * v * v);
  }
  return sum;
}

// The step that the weighted normal equations ask for, damped; false where they have no solution.
bool next_motion(const std::vector<Foot>& feet, double reach, double size, double damping, RigidMotion& motion,
                 double& moved_mm) {
  constexpr std::size_t unknowns = 6;
  std::vector<double> matrix(unknowns * unknowns), right(unknowns);
  double weights = 0;
  for (const Foot& f : feet) {
    const double u = std::abs(f.signed_mm) / reach;
    if (u >= 1) continue;
    const double weight = f.area * (1 - u * u) * (1 - u * u);
    const Vec3 turn = cross(f.from_centre, f.gradient) / size;
    const std::array<double, unknowns> column{turn.x, turn.y, turn.z, f.gradient.x, f.gradient.y, f.gradient.z};
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) matrix[i * unknowns + j] += weight * column[i] * column[j];
      right[i] -= weight * column[i] * f.signed_mm;
    }
    weights += weight;
  }
  // What no point resists, such as a turn of a ball, stays as it is.
  for (std::size_t i = 0; i < unknowns; ++i) matrix[i * (unknowns + 1)] += (damping + 1e-9) * weights;
  if (!solve(matrix, right, unknowns)) return false;
  const Vec3 turn = Vec3{right[0], right[1], right[2]} / size, shift{right[3], right[4], right[5]};
  motion.rotation = rotation_by(turn) * motion.rotation;
  motion.shift_mm = motion.shift_mm + shift;
  moved_mm = norm(turn) * size + norm(shift);
  return true;
}

Alignment SurfaceFit::optimise(const RigidMotion& start, int maximum_iterations, double enough_mm) const {
  Alignment best{start, 0, static_cast<std::int64_t>(points_.size()), 0};
  const double size = norm(nominal_.high_mm() - nominal_.low_mm()) / 2;
  std::vector<Foot> now = feet(start);
  double damping = 1e-3;
  for (int i = 0; i < maximum_iterations && damping < 1e6; ++i) {
    context_.cancel.check();
    ++best.iterations;
    // Below a hundredth of a voxel no point is left out.
    const double reach = tukey * std::max(deviations_of_median * median(now), 0.01 * norm(grid_.step_mm));
    RigidMotion motion = best.motion;
    double moved_mm = 0;
    if (!next_motion(now, reach, size, damping, motion, moved_mm)) break;
    std::vector<Foot> then = feet(motion);
    if (tukey_cost(then, reach) <= tukey_cost(now, reach)) {
      best.motion = motion;
      now = std::move(then);
      damping *= 0.1;
      if (moved_mm < enough_mm) break;
    } else {
      damping = std::max(1e-3, damping * 10);
    }
  }
  best.typical_mm = median(now);
  return best;
}

Vec3 middle_of(std::span<const Vec3> points) {
  return std::accumulate(points.begin(), points.end(), Vec3{}) / static_cast<double>(points.size());
}

}  // namespace

Alignment align_surface(const VolumeReader& volume, const MeshDistance& nominal, const BitVolume& inside,
                        double threshold, WorkMemory& memory, Context& context) {
  const VolumeGrid& grid = volume.grid();
  const WorkMemory::Share share =
      memory.take(context.threads.size() * (crossing_bytes(grid) + static_cast<std::int64_t>(4 * all_points * 32)) +
                      static_cast<std::int64_t>(all_points * 200),
                  "the surface of two slices for each thread", "use fewer --threads");
  context.progress.note("aligning with the nominal surface");
  const std::vector<Vec3> points = sample_points(volume, inside, threshold, context);
  if (points.empty()) refuse_without_surface(threshold);
  const double voxel = std::min({std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)});
  const SurfaceFit coarse(grid, nominal, std::span(points).first(std::min(few_points, points.size())), context);
  const SurfaceFit fine(grid, nominal, points, context);

  const Vec3 middle = middle_of(points);
  struct Start {
    RigidMotion motion;
    double mean_mm = 0;
  };
  std::vector<Start> starts;
  for (const Matrix3& rotation : orientations()) {
    context.cancel.check();
    const RigidMotion motion{rotation, middle, nominal.middle_mm() - middle};
    starts.push_back({motion, SurfaceFit::mean_amount(coarse.feet(motion))});
  }
  std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) { return a.mean_mm < b.mean_mm; });
  const Alignment as_they_lie = coarse.optimise({{}, middle, {}}, 40, 0.1 * voxel);
  Alignment turned;
  int iterations = as_they_lie.iterations;
  for (std::size_t i = 0; i < tried_in_full; ++i) {
    const Alignment trial = coarse.optimise(starts[i].motion, 40, 0.1 * voxel);
    iterations += trial.iterations;
    if (i == 0 || trial.typical_mm < turned.typical_mm) turned = trial;
  }
  const bool turn = turned.typical_mm < clearly_better * as_they_lie.typical_mm;
  Alignment best = fine.optimise((turn ? turned : as_they_lie).motion, 60, 1e-4 * voxel);
  best.iterations += iterations;
  return best;
}

}  // namespace lepus::analysis
