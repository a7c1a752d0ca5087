// SPDX-License-Identifier: Apache-2.0
// Rays measured from both ends: view beta at the fan angle gamma sees the line that view beta + pi + 2 gamma sees at
// -gamma. In a cone beam both rays pass the axis at the same height h and then part, one rising, one falling:
//   p = int f(s, t, h + h t / R) dt,   so that they differ by 2 h/R int t f_z dt.
// Their derivatives along the row differ by what the rest of the data tells, since d/ds int t g dt = -d/dbeta int g dt:
//   G = dp/ds + 1/R * h * d2p/(dh dbeta)
// is the same, with its sign turned, for both, to first order in the cone angle. (Without the second term an object
// that is twisted about the axis looks like a tilted detector.) Derivatives know nothing of drifting beams, and count
// air for nothing. Score: the correlation -2 sum(G G') / sum(G^2 + G'^2).
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "align/center_score.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr int blur_reach = 4;  // of center_blur

// Between which two views (in the order of their angles) the other end of a ray lies. second < 0: nowhere.
struct Partner {
  std::int32_t first = 0, second = -1;
  float fraction = 0;
  std::uint32_t direction = 0;  // of the line, in parts of half a turn
};

// Three views in a row, by their places in the order of the angles.
using Neighbours = std::array<std::size_t, 3>;

struct SortedViews {
  std::vector<std::int64_t> order;
  std::vector<double> angles;                       // ascending from angles[0], less than a turn above it
  double step = 0;                                  // the usual distance of neighbours
  std::vector<Neighbours> between, between_frames;  // around each place, in the order of the angles and of the frames
};

void find_neighbours(SortedViews& s) {
  const std::size_t n = s.order.size();
  std::vector<std::size_t> place(n);
  for (std::size_t i = 0; i < n; ++i) place[static_cast<std::size_t>(s.order[i])] = i;
  const auto inner = [&](std::size_t i) { return std::clamp<std::size_t>(i, 1, n - 2); };
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = inner(i), frame = inner(static_cast<std::size_t>(s.order[i]));
    s.between.push_back({k - 1, k, k + 1});
    s.between_frames.push_back({place[frame - 1], place[frame], place[frame + 1]});
  }
}

SortedViews sorted_views(const ScanGeometry& geometry) {
  SortedViews s;
  std::vector<double> angles;
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    angles.push_back(view_angle_rad(camera_of(geometry, view)));
  for (double& a : angles) a -= 2 * pi * std::floor(a / (2 * pi));
  s.order.resize(angles.size());
  std::iota(s.order.begin(), s.order.end(), 0);
  std::sort(s.order.begin(), s.order.end(), [&](std::int64_t a, std::int64_t b) {
    return angles[static_cast<std::size_t>(a)] < angles[static_cast<std::size_t>(b)];
  });
  for (const std::int64_t view : s.order) s.angles.push_back(angles[static_cast<std::size_t>(view)]);
  std::vector<double> steps;
  for (std::size_t i = 1; i < s.angles.size(); ++i) steps.push_back(s.angles[i] - s.angles[i - 1]);
  if (!steps.empty()) {
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
    s.step = steps[steps.size() / 2];
  }
  find_neighbours(s);
  return s;
}

// The partners of every view at one fan angle. In a parallel beam a half turn's first and last view are each other's
// partners although they may be a step short of 180 degrees: the nearest view serves there.
std::vector<Partner> partners(const SortedViews& s, double fan_angle_rad, bool parallel) {
  const std::size_t n = s.angles.size();
  std::vector<Partner> list(n);
  std::size_t j = 0;
  double previous = -1;
  for (std::size_t i = 0; i < n; ++i) {
    double target = s.angles[i] + pi + 2 * fan_angle_rad - s.angles[0];
    target -= 2 * pi * std::floor(target / (2 * pi));
    if (target < previous) j = 0;
    previous = target;
    while (j + 1 < n && s.angles[j + 1] - s.angles[0] <= target) ++j;
    const std::size_t next = (j + 1) % n;
    const double gap = next == 0 ? 2 * pi - (s.angles[j] - s.angles[0]) : s.angles[next] - s.angles[j];
    const double past = target - (s.angles[j] - s.angles[0]);
    if (gap <= 2.5 * s.step + 1e-9)
      list[i] = {static_cast<std::int32_t>(j), static_cast<std::int32_t>(next),
                 static_cast<float>(gap > 0 ? past / gap : 0.0)};
    else if (parallel && past <= 1.01 * s.step)
      list[i] = {static_cast<std::int32_t>(j), static_cast<std::int32_t>(j), 0};
    else if (parallel && gap - past <= 1.01 * s.step)
      list[i] = {static_cast<std::int32_t>(next), static_cast<std::int32_t>(next), 0};
    const double turned = (s.angles[i] + fan_angle_rad) / pi;
    const double part = (turned - std::floor(turned)) * static_cast<double>(line_directions);
    list[i].direction = std::min(static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(line_directions - 1));
  }
  return list;
}

// d/dbeta at a view: what every neighbour counts for. The slope of a line through them, those within `blur_rad` most.
using Slope = std::vector<std::pair<std::int64_t, float>>;

std::vector<Slope> slopes(const SortedViews& s, double blur_rad) {
  const auto n = static_cast<std::int64_t>(s.angles.size());
  std::vector<Slope> all(s.angles.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::array<double, 3>> near;  // place, angle, weight
    const std::int64_t reach = std::min<std::int64_t>((n - 1) / 2, std::llround(2.5 * blur_rad / s.step) + 1);
    double sum = 0, mean = 0, square = 0;
    for (std::int64_t k = -reach; k <= reach; ++k) {
      const std::int64_t j = (i + k + n) % n;
      const double angle =
          std::remainder(s.angles[static_cast<std::size_t>(j)] - s.angles[static_cast<std::size_t>(i)], 2 * pi);
      if (std::abs(angle) > 2.5 * blur_rad + 0.5 * s.step) continue;
      const double weight = std::exp(-0.5 * angle * angle / (blur_rad * blur_rad));
      near.push_back({static_cast<double>(j), angle, weight});
      sum += weight;
      mean += weight * angle;
    }
    mean /= sum;
    for (const auto& [j, angle, weight] : near) square += weight * (angle - mean) * (angle - mean);
    if (!(square > 0)) continue;
    for (const auto& [j, angle, weight] : near)
      all[static_cast<std::size_t>(i)].emplace_back(static_cast<std::int64_t>(j),
                                                    static_cast<float>(weight * (angle - mean) / square));
  }
  return all;
}

class ConjugateScore final : public CenterScore {
public:
  ConjugateScore(const CenterInput& input, Context& context)
      : input_(input), line_(axis_line(input.geometry, input.middle_row)), views_(sorted_views(input.geometry)) {
    for (std::size_t b = 0; b < input.bands.size(); ++b) {
      bands_.push_back(prepare(input.bands[b], context));
      fans_.push_back(pairs(input.bands[b], context));
      for (const Pair& pair : fans_.back()) symmetric_ = symmetric_ && std::abs(pair.x + pair.opposite) < 1e-6;
    }
  }

  ScoreParts parts(std::int64_t band, double column, double angle_rad, Context& context) override {
    ScoreParts total;
    for (const ScoreParts& one : by_direction(band, column, angle_rad, context)) total.add(one);
    return total;
  }

  std::vector<ScoreParts> by_direction(std::int64_t band, double column, double angle_rad, Context& context) override {
    const auto b = static_cast<std::size_t>(band);
    const std::vector<Pair>& pairs = fans_[b];
    const auto count = static_cast<std::int64_t>(pairs.size());
    const std::size_t n = views_.order.size();
    std::vector<float> near(pairs.size() * n), far(symmetric_ ? 0 : pairs.size() * n);
    std::vector<char> seen(pairs.size());
    context.threads.parallel_for(0, count, 8, [&](std::int64_t begin, std::int64_t end, int) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const Line line{b, column, angle_rad};
        seen[i] =
            derivative(line, pairs[i].x, near.data() + i * n) &&
            (symmetric_ ? on_detector(line, -pairs[i].x) : derivative(line, pairs[i].opposite, far.data() + i * n));
      }
    });
    std::vector<Directions> sums(pairs.size());
    context.threads.parallel_for(0, count, 16, [&](std::int64_t begin, std::int64_t end, int) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        if (seen[i])  // the list of x is symmetric about 0
          correlate(pairs[i], near.data() + i * n,
                    symmetric_ ? near.data() + (pairs.size() - 1 - i) * n : far.data() + i * n, sums[i]);
    });
    std::vector<ScoreParts> total(line_directions);
    for (const Directions& one : sums)
      for (std::size_t d = 0; d < line_directions; ++d) total[d].add(one[d]);
    return total;
  }

private:
  using Directions = std::array<ScoreParts, line_directions>;

  struct Pair {
    double x, opposite;  // columns from the axis, across it
    std::vector<Partner> partners;
  };

  // [row][column][view in the order of the angles]: the row blurred along it, and d2/(dv dbeta) of that.
  struct Prepared {
    std::vector<float> smooth, mixed;
    double height = 0;  // what `mixed` is multiplied by: 1/R * columns' pitch * rows from the plane of the orbit
  };

  Prepared prepare(const CenterBand& band, Context& context) const {
    const std::int64_t columns = input_.geometry.columns, n = input_.geometry.views();
    Prepared made;
    made.smooth.resize(band.line_integrals.size());
    blur(band, made.smooth, context);
    if (input_.geometry.beam != Beam::cone || band.rows < 3) return made;

    const Camera camera = camera_of(input_.geometry, 0);
    const double angle = view_angle_rad(camera);
    const double pitch = dot(camera.column_step_mm, Vec3{std::cos(angle), std::sin(angle), 0});
    const double plane_row = input_.geometry.matrices.front()(1, 3);  // of the orbit: where the origin is seen
    made.height = pitch / source_axis_mm(camera) * (band.middle() - plane_row);
    made.mixed.resize(band.line_integrals.size());
    // Neighbouring views see an object at half the detector's reach about as far apart as columns are blurred.
    const double blur_rad = std::max(views_.step, 4 * center_blur / static_cast<double>(columns));
    const std::vector<Slope> slope = slopes(views_, blur_rad);
    context.threads.parallel_for(0, band.rows * columns, 16, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<float> change(static_cast<std::size_t>(n));
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t row = item / columns, above = std::max<std::int64_t>(row - 1, 0);
        const std::int64_t below = std::min(row + 1, band.rows - 1);
        const auto per_row = 1.0F / static_cast<float>(below - above);
        const float* up = made.smooth.data() + (item + (above - row) * columns) * n;
        const float* down = made.smooth.data() + (item + (below - row) * columns) * n;
        for (std::int64_t i = 0; i < n; ++i) change[static_cast<std::size_t>(i)] = per_row * (down[i] - up[i]);
        float* to = made.mixed.data() + item * n;
        for (std::size_t i = 0; i < slope.size(); ++i) {
          float sum = 0;
          for (const auto& [j, weight] : slope[i]) sum += weight * change[static_cast<std::size_t>(j)];
          to[i] = sum;
        }
      }
    });
    return made;
  }

  void blur(const CenterBand& band, std::vector<float>& out, Context& context) const {
    const std::int64_t columns = input_.geometry.columns, n = input_.geometry.views();
    context.threads.parallel_for(0, band.rows * n, 8, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<float> smooth(static_cast<std::size_t>(columns));
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t row = item / n, place = item % n;
        blur_row(band.line_integrals.data() + (row * n + views_.order[static_cast<std::size_t>(place)]) * columns,
                 columns, smooth.data());
        for (std::int64_t u = 0; u < columns; ++u)
          out[static_cast<std::size_t>((row * columns + u) * n + place)] = smooth[static_cast<std::size_t>(u)];
      }
    });
  }

  std::vector<Pair> pairs(const CenterBand& band, Context& context) const {
    const RowFan fan(input_.geometry, line_.column_at(band.middle()), band.middle());
    std::vector<Pair> list;
    for (std::int64_t x = -input_.geometry.columns / 2; x <= input_.geometry.columns / 2; ++x)
      if (x != 0) list.push_back({static_cast<double>(x), fan.opposite(static_cast<double>(x)), {}});
    const bool parallel = input_.geometry.beam == Beam::parallel;
    context.threads.parallel_for(0, static_cast<std::int64_t>(list.size()), 8,
                                 [&](std::int64_t begin, std::int64_t end, int) {
                                   for (std::int64_t i = begin; i < end; ++i) {
                                     Pair& pair = list[static_cast<std::size_t>(i)];
                                     pair.partners = partners(views_, fan.angle_rad(pair.x), parallel);
                                   }
                                 });
    return list;
  }

  struct Line {  // across the axis, through the middle of a band
    std::size_t band;
    double column, angle;  // of the axis
  };
  struct Position {
    double column, row;  // row: counted in rows of the band
  };

  Position position(const Line& line, double x) const {
    const CenterBand& band = input_.bands[line.band];
    const double crossing = line.column + std::tan(line.angle) * line_.aspect * (band.middle() - line_.middle_row);
    return {crossing + x * std::cos(line.angle),
            band.middle() - x * std::sin(line.angle) / line_.aspect - band.first_row};
  }

  // With room for the derivative, the blur and the interpolation.
  bool on_detector(const Line& line, double x) const {
    const Position at = position(line, x);
    const std::int64_t rows = input_.bands[line.band].rows;
    return at.column >= blur_reach + 2 && at.column < static_cast<double>(input_.geometry.columns - blur_reach - 4) &&
           (rows == 1 || (at.row >= 2 && at.row <= static_cast<double>(rows - 3)));
  }

  // Adds `factor` times the values of all views.
  void add_sample(const std::vector<float>& values, const Line& line, double x, float factor, float* out) const {
    const std::int64_t columns = input_.geometry.columns, n = input_.geometry.views();
    const Position at = position(line, x);
    const auto u0 = static_cast<std::int64_t>(at.column);
    const auto across = spline_weights(at.column - static_cast<double>(u0));
    const RowTaps down = row_taps(input_.bands[line.band], at.row);
    for (std::size_t j = 0; j < down.weights.size(); ++j) {
      const float weight = factor * down.weights[j];
      if (weight == 0) continue;
      const float* p = values.data() + (down.rows[j] * columns + u0 - 1) * n;
      const float w0 = weight * across[0], w1 = weight * across[1], w2 = weight * across[2], w3 = weight * across[3];
      for (std::int64_t i = 0; i < n; ++i) out[i] += w0 * p[i] + w1 * p[i + n] + w2 * p[i + 2 * n] + w3 * p[i + 3 * n];
    }
  }

  // G of all views at distance x across the axis; false where that is not on the detector or in the band.
  bool derivative(const Line& line, double x, float* out) const {
    if (!on_detector(line, x)) return false;
    std::fill(out, out + input_.geometry.views(), 0.0F);
    const Prepared& band = bands_[line.band];
    add_sample(band.smooth, line, x + 1, 0.5F, out);
    add_sample(band.smooth, line, x - 1, -0.5F, out);
    if (!band.mixed.empty()) add_sample(band.mixed, line, x, static_cast<float>(band.height), out);
    return true;
  }

  void correlate(const Pair& pair, const float* near, const float* far, Directions& sums) const {
    for (std::size_t i = 0; i < pair.partners.size(); ++i) {
      const Partner& p = pair.partners[i];
      if (p.second < 0) continue;
      ScoreParts& sum = sums[p.direction];
      const double a = near[i], c = far[p.first] + p.fraction * (far[p.second] - far[p.first]);
      sum.numerator -= 2 * a * c;
      sum.denominator += a * a + c * c;
      sum.noise_by_angle += noise_of(near, views_.between[i]);
      sum.noise_by_frame += noise_of(near, views_.between_frames[i]);
    }
  }

  // What a view differs by from the mean of its neighbours is 3/2 of its variance; a partner, linear between two views,
  // has 2/3 of it on average.
  static double noise_of(const float* values, const Neighbours& n) {
    const double apart = static_cast<double>(values[n[1]]) -
                         0.5 * (static_cast<double>(values[n[0]]) + static_cast<double>(values[n[2]]));
    return (1 + 2.0 / 3) * apart * apart / 1.5;
  }

  const CenterInput& input_;
  AxisLine line_;
  SortedViews views_;
  std::vector<Prepared> bands_;
  bool symmetric_ = true;  // the axis is seen where the central ray is: rays at x and -x make opposite angles
  std::vector<std::vector<Pair>> fans_;
};

}  // namespace

std::unique_ptr<CenterScore> make_conjugate_score(const CenterInput& input, Context& context) {
  return std::make_unique<ConjugateScore>(input, context);
}

double share_seen_twice(const CenterInput& input) {
  const SortedViews views = sorted_views(input.geometry);
  const AxisLine line = axis_line(input.geometry, input.middle_row);
  const double row = input.bands.front().middle(), crossing = line.column_at(row);
  const RowFan fan(input.geometry, crossing, row);
  double seen = 0, all = 0;
  for (std::int64_t u = 0; u < input.geometry.columns; u += std::max<std::int64_t>(1, input.geometry.columns / 32))
    for (const Partner& p :
         partners(views, fan.angle_rad(static_cast<double>(u) - crossing), input.geometry.beam == Beam::parallel)) {
      all += 1;
      seen += p.second >= 0 ? 1 : 0;
    }
  return seen / all;
}

}  // namespace lepus
