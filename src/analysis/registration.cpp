// SPDX-License-Identifier: Apache-2.0
#include "analysis/registration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "analysis/linear_solve.h"
#include "analysis/orientations.h"
#include "analysis/reduced_volume.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr std::int64_t coarsest = 32;  // voxels along the longest side
constexpr std::size_t tilted_starts = 16;
constexpr double clearly_better = 0.8;  // what a tilted sample must be, as samples are mounted upright
constexpr double minimum_overlap = 0.1, minimum_correlation = 0.3;

// Columns of the least-squares problem A + J p = gain B + offset: six of J, B, 1; and A on the right.
constexpr std::size_t unknowns = 8;
struct NormalSums {
  std::array<double, unknowns*(unknowns + 1) / 2> products{};
  std::array<double, unknowns> right{};
  double squares = 0;  // of A
  double voxels = 0, all = 0;

  void add(const NormalSums& other) {
    for (std::size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
    for (std::size_t i = 0; i < unknowns; ++i) right[i] += other.right[i];
    squares += other.squares;
    voxels += other.voxels;
    all += other.all;
  }
  double product(std::size_t i, std::size_t j) const { return products[i * (i + 1) / 2 + j]; }  // j <= i
  double overlap() const { return all > 0 ? voxels / all : 0; }

  struct Fit {
    double gain = 0, offset = 0, correlation = 0;
  };
  Fit fit() const {  // gain and offset alone, without a motion
    const double b = product(7, 6), bb = product(6, 6), a = right[7], ab = right[6];
    const double variance_b = bb - b * b / voxels, variance_a = squares - a * a / voxels, both = ab - a * b / voxels;
    Fit result;
    if (!(variance_b > 0) || !(variance_a > 0)) return result;
    result.gain = both / variance_b;
    result.offset = (a - result.gain * b) / voxels;
    result.correlation = both / std::sqrt(variance_a * variance_b);
    return result;
  }
  // What is minimised: the share of the variance that is not explained.
  double cost() const {
    if (overlap() < minimum_overlap) return std::numeric_limits<double>::infinity();
    const double c = fit().correlation;
    return c > 0 ? 1 - c * c : 1;
  }
};

// Between the eight voxels around a position in voxels; false where one is missing or not finite.
bool interpolate(const ReducedVolume& v, Vec3 at, double& value) {
  const VolumeGrid& g = v.grid;
  if (!(at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < static_cast<double>(g.nx - 1) &&
        at.y < static_cast<double>(g.ny - 1) && at.z < static_cast<double>(g.nz - 1)))
    return false;
  const auto i = static_cast<std::int64_t>(at.x), j = static_cast<std::int64_t>(at.y),
             k = static_cast<std::int64_t>(at.z);
  const double u = at.x - static_cast<double>(i), w = at.y - static_cast<double>(j), t = at.z - static_cast<double>(k);
  const float* const p = v.values.data() + (k * g.ny + j) * g.nx + i;
  const float* const q = p + g.nx * g.ny;
  const auto plane = [&](const float* s) {
    return (1 - w) * ((1 - u) * s[0] + u * s[1]) + w * ((1 - u) * s[g.nx] + u * s[g.nx + 1]);
  };
  value = (1 - t) * plane(p) + t * plane(q);
  return std::isfinite(value);
}

// One pass over the first volume. Slices are summed each for itself and added in order: the same for any threads.
NormalSums normal_sums(const ReducedVolume& first, const ReducedVolume& other, const RigidMotion& motion,
                       Context& context) {
  const VolumeGrid &g = first.grid, &h = other.grid;
  std::vector<NormalSums> slices(static_cast<std::size_t>(g.nz));
  // Voxel to voxel: p = start + x along_x + ...
  const auto in_voxels = [&](Vec3 p) {
    return Vec3{(p.x - h.origin_mm.x) / h.step_mm.x, (p.y - h.origin_mm.y) / h.step_mm.y,
                (p.z - h.origin_mm.z) / h.step_mm.z};
  };
  const Vec3 start = in_voxels(motion(g.centre(0, 0, 0))), along_x = in_voxels(motion(g.centre(1, 0, 0))) - start,
             along_y = in_voxels(motion(g.centre(0, 1, 0))) - start,
             along_z = in_voxels(motion(g.centre(0, 0, 1))) - start;
  const Vec3 half_per_mm{0.5 / g.step_mm.x, 0.5 / g.step_mm.y, 0.5 / g.step_mm.z};
  context.threads.parallel_for(1, g.nz - 1, 1, [&](std::int64_t z, std::int64_t, int) {
    NormalSums& sums = slices[static_cast<std::size_t>(z)];
    for (std::int64_t y = 1; y < g.ny - 1; ++y) {
      const Vec3 row = start + static_cast<double>(y) * along_y + static_cast<double>(z) * along_z;
      for (std::int64_t x = 1; x < g.nx - 1; ++x) {
        const double a = first.at(x, y, z);
        const Vec3 slope{(first.at(x + 1, y, z) - first.at(x - 1, y, z)) * half_per_mm.x,
                         (first.at(x, y + 1, z) - first.at(x, y - 1, z)) * half_per_mm.y,
                         (first.at(x, y, z + 1) - first.at(x, y, z - 1)) * half_per_mm.z};
        if (!std::isfinite(a + slope.x + slope.y + slope.z)) continue;
        sums.all += 1;
        double b = 0;
        if (!interpolate(other, row + static_cast<double>(x) * along_x, b)) continue;
        sums.voxels += 1;
        const Vec3 turn = cross(
            g.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)) - motion.centre_mm, slope);
        const std::array<double, unknowns> column{turn.x, turn.y, turn.z, slope.x, slope.y, slope.z, b, 1};
        std::size_t at = 0;
        for (std::size_t i = 0; i < unknowns; ++i) {
          for (std::size_t j = 0; j <= i; ++j) sums.products[at++] += column[i] * column[j];
          sums.right[i] += column[i] * a;
        }
        sums.squares += a * a;
      }
    }
  });
  NormalSums total;
  for (const NormalSums& s : slices) total.add(s);
  return total;
}

struct Trial {
  RigidMotion motion;
  NormalSums sums;
  int iterations = 0;
};

// The step that the normal equations ask for, damped; false where they have no solution.
bool step(const NormalSums& sums, double damping, RigidMotion& motion, Vec3& turn, Vec3& shift) {
  // A + J p - gain B - offset -> 0: unknowns p, gain, offset with columns J, -B, -1.
  std::vector<double> matrix(unknowns * unknowns), right(unknowns);
  const auto sign = [](std::size_t i) { return i < 6 ? 1.0 : -1.0; };
  for (std::size_t i = 0; i < unknowns; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * unknowns + j] = matrix[j * unknowns + i] = sign(i) * sign(j) * sums.product(i, j);
    right[i] = -sign(i) * sums.right[i];
    if (i < 6) matrix[i * unknowns + i] *= 1 + damping;
  }
  if (!solve(matrix, right, unknowns)) return false;
  turn = {right[0], right[1], right[2]};
  shift = {right[3], right[4], right[5]};
  // The first volume moved by W fits the other: the motion after W's inverse.
  motion.rotation = motion.rotation * transposed(rotation_by(turn));
  motion.shift_mm = motion.shift_mm - motion.rotation * shift;
  return true;
}

Trial optimise(const ReducedVolume& first, const ReducedVolume& other, const RigidMotion& start, int maximum_iterations,
               double enough_voxels, Context& context) {
  Trial best{start, normal_sums(first, other, start, context), 0};
  const VolumeGrid& g = first.grid;
  const double voxel = std::min({std::abs(g.step_mm.x), std::abs(g.step_mm.y), std::abs(g.step_mm.z)});
  const double reach = norm({static_cast<double>(g.nx) * g.step_mm.x, static_cast<double>(g.ny) * g.step_mm.y,
                             static_cast<double>(g.nz) * g.step_mm.z}) /
                       2;
  double damping = 1e-3;
  for (int i = 0; i < maximum_iterations && damping < 1e6; ++i) {
    context.cancel.check();
    ++best.iterations;
    RigidMotion motion = best.motion;
    Vec3 turn, shift;
    if (!step(best.sums, damping, motion, turn, shift)) break;
    const NormalSums sums = normal_sums(first, other, motion, context);
    if (sums.cost() <= best.sums.cost()) {
      best.motion = motion;
      best.sums = sums;
      damping *= 0.1;
      if (norm(turn) * reach + norm(shift) < enough_voxels * voxel) break;
    } else {
      damping = std::max(1e-3, damping * 10);
    }
  }
  return best;
}

Vec3 middle_of_mass(const ReducedVolume& v) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const float value : v.values)
    if (std::isfinite(value)) smallest = std::min(smallest, value);
  double mass = 0;
  Vec3 sum;
  for (std::int64_t z = 0; z < v.grid.nz; ++z)
    for (std::int64_t y = 0; y < v.grid.ny; ++y)
      for (std::int64_t x = 0; x < v.grid.nx; ++x)
        if (const double m = static_cast<double>(v.at(x, y, z)) - smallest; std::isfinite(m)) {
          mass += m;
          sum = sum + m * v.grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
        }
  return mass > 0 ? sum / mass : v.grid.centre(0, 0, 0);
}

std::int64_t longest(const VolumeGrid& g) { return std::max({g.nx, g.ny, g.nz}); }

// From as they lie, and with the centres of mass together from every turn about z and from the most promising of all
// other orientations.
Trial find_start(const ReducedVolume& first, const ReducedVolume& other, int& iterations, Context& context) {
  const Vec3 a = middle_of_mass(first), b = middle_of_mass(other);
  struct Start {
    RigidMotion motion;
    double cost = 0;
  };
  std::vector<RigidMotion> upright{{{}, a, {}}};
  std::vector<Start> tilted;
  for (const Matrix3& rotation : orientations()) {
    const RigidMotion motion{rotation, a, b - a};
    if (upright.size() <= upright_orientations)
      upright.push_back(motion);
    else
      tilted.push_back({motion, normal_sums(first, other, motion, context).cost()});
  }
  std::stable_sort(tilted.begin(), tilted.end(), [](const Start& s, const Start& t) { return s.cost < t.cost; });
  Trial best;
  double best_cost = std::numeric_limits<double>::infinity(), preference = 1;
  const auto attempt = [&](const RigidMotion& start) {
    const Trial trial = optimise(first, other, start, 20, 0.05, context);
    iterations += trial.iterations;
    if (trial.sums.cost() >= preference * best_cost) return;
    best = trial;
    best_cost = trial.sums.cost();
    preference = 1;
  };
  for (const RigidMotion& start : upright) attempt(start);
  preference = clearly_better;
  for (std::size_t i = 0; i < tilted_starts; ++i) attempt(tilted[i].motion);
  return best;
}

}  // namespace

Registration register_volumes(const VolumeReader& first, const VolumeReader& other, const RegistrationOptions& options,
                              WorkMemory& memory, Context& context) {
  const auto factor_of = [&](const VolumeGrid& g) { return (longest(g) + options.finest - 1) / options.finest; };
  const auto bytes_of = [&](const VolumeGrid& g) {
    const std::int64_t k = factor_of(g);
    // Itself, smoothed, and the coarser ones.
    return 10 * (g.nx / k + 1) * (g.ny / k + 1) * (g.nz / k + 1) + 24 * g.nx * g.ny * context.threads.size();
  };
  const WorkMemory::Share share = memory.take(bytes_of(first.grid()) + bytes_of(other.grid()),
                                              "coarser versions of both volumes", "use fewer --threads");
  context.progress.note("registering");
  std::vector<std::array<ReducedVolume, 2>> levels{{smooth(reduce(first, factor_of(first.grid()), context), context),
                                                    smooth(reduce(other, factor_of(other.grid()), context), context)}};
  while (longest(levels.back()[0].grid) > coarsest || longest(levels.back()[1].grid) > coarsest) {
    const auto& [a, b] = levels.back();
    std::array<ReducedVolume, 2> next{halve(a), halve(b)};
    levels.push_back(std::move(next));
  }
  int iterations = 0;
  Trial best = find_start(levels.back()[0], levels.back()[1], iterations, context);
  if (best.sums.cost() < 1)
    for (std::size_t level = levels.size(); level-- > 0;) {
      best = optimise(levels[level][0], levels[level][1], best.motion, 30, level == 0 ? 0.0005 : 0.01, context);
      iterations += best.iterations;
    }
  const NormalSums::Fit fit = best.sums.fit();
  if (!(best.sums.cost() < 1) || fit.correlation < minimum_correlation)
    throw Error(ErrorKind::input, {.what = "the volumes could not be registered",
                                   .where = "option --register",
                                   .why = format("the best motion makes {:.0f} % overlap with a correlation of {:.2f}",
                                                 100 * best.sums.overlap(), fit.correlation),
                                   .hint = "check that they show the same thing, in the same units"});
  return {best.motion, fit.gain, fit.offset, fit.correlation, best.sums.overlap(), iterations};
}

}  // namespace lepus::analysis
