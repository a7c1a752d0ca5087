// SPDX-License-Identifier: Apache-2.0
#include "filter/view_arcs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/format.h"
#include "filter/smooth_step.h"
#include <lepus/math.h>

namespace lepus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

double wrapped(double angle, double period) {
  const double r = angle - period * std::floor(angle / period);
  return r < period ? r : 0.0;
}

// A scan that turns one way past its start: its views in order, angles unwrapped and counted from half a step before
// the first. Empty where the scan is not of that kind.
struct Sequence {
  std::vector<double> position;
  double range = 0, step = 0;
};

Sequence past_the_start(const std::vector<double>& angles, double period) {
  // Larger steps than this may be an interleaved order (golden angle); then only the set of angles counts.
  constexpr double largest_step = pi / 4;
  if (angles.size() < 3) return {};
  std::vector<double> steps;
  for (std::size_t i = 1; i < angles.size(); ++i) {
    const double d = wrapped(angles[i] - angles[i - 1] + period / 2, period) - period / 2;
    if (std::abs(d) > std::min(largest_step, period / 4)) return {};
    steps.push_back(d);
  }
  const double total = std::accumulate(steps.begin(), steps.end(), 0.0);
  const double direction = total < 0 ? -1 : 1;
  for (double& d : steps) d *= direction;
  Sequence s;
  s.step = quantile(steps, 0.5);
  // Small steps back are jitter.
  if (s.step <= 0 || *std::min_element(steps.begin(), steps.end()) < -s.step) return {};
  s.position.push_back(s.step / 2);
  for (const double d : steps) s.position.push_back(s.position.back() + d);
  const auto [low, high] = std::minmax_element(s.position.begin(), s.position.end());
  s.range = *high - *low + s.step;
  const double start = *low - s.step / 2;
  for (double& p : s.position) p -= start;
  return s.range > period + s.step / 2 ? s : Sequence{};
}

// n whole turns and a rest: views in the first and last `rest` see the same rays a whole number of turns apart, and
// fade in and out so that the sum over all of them is one turn.
ViewArcs overlapping_arcs(const Sequence& s, double period) {
  ViewArcs a;
  a.period = period;
  a.step = s.step;
  a.covered = s.range;
  a.overlapping = true;
  const auto views = s.position.size();
  std::vector<std::size_t> order(views);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return s.position[i] < s.position[j]; });
  const double turns = std::floor((s.range + s.step) / period);  // a step too little still is a turn
  const double rest = std::max(s.range - turns * period, 1e-12);
  a.share.resize(views);
  a.margin.assign(views, infinity);
  for (std::size_t k = 0; k < views; ++k) {
    const double here = s.position[order[k]];
    const double before = k == 0 ? 0 : (s.position[order[k - 1]] + here) / 2;
    const double after = k + 1 == views ? s.range : (s.position[order[k + 1]] + here) / 2;
    a.share[order[k]] = (after - before) / turns * smooth_step(here / rest) * smooth_step((s.range - here) / rest);
    if (k + 1 < views && s.position[order[k + 1]] - here > 4 * s.step)
      a.gaps.push_back(format("{:.2f} degrees between views {} and {}", degrees(s.position[order[k + 1]] - here),
                              order[k], order[k + 1]));
  }
  const double scale = period / std::accumulate(a.share.begin(), a.share.end(), 0.0);
  for (double& share : a.share) share *= scale;
  return a;
}

// Views at one angle, to rounding.
struct Group {
  double angle;
  std::vector<std::size_t> views;
};

std::vector<Group> groups_of(const std::vector<double>& angles, double period) {
  std::vector<std::size_t> order(angles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> turned;
  turned.reserve(angles.size());
  for (const double angle : angles) turned.push_back(wrapped(angle, period));
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return turned[i] < turned[j]; });
  const double same = 1e-4 * period / static_cast<double>(angles.size());
  std::vector<Group> groups;
  for (const std::size_t view : order) {
    if (groups.empty() || turned[view] - groups.back().angle > same) groups.push_back({turned[view], {}});
    groups.back().views.push_back(view);
  }
  if (groups.size() > 1 && groups.front().angle + period - groups.back().angle <= same) {
    auto& first = groups.front().views;
    first.insert(first.end(), groups.back().views.begin(), groups.back().views.end());
    groups.pop_back();
  }
  return groups;
}

}  // namespace

double ViewArcs::largest_gap() const {
  double gap = 0;
  for (std::size_t k = 0; k < arcs.size(); ++k)
    gap = std::max(gap, (k + 1 < arcs.size() ? arcs[k + 1].begin : arcs[0].begin + period) - arcs[k].end);
  return gap;
}

ViewArcs view_arcs(const std::vector<double>& angles, double period, double bridged) {
  if (const Sequence s = past_the_start(angles, period); !s.position.empty()) return overlapping_arcs(s, period);

  const std::vector<Group> groups = groups_of(angles, period);
  const std::size_t n = groups.size();
  std::vector<double> gaps;  // from each group to the next
  for (std::size_t k = 0; k < n; ++k)
    gaps.push_back((k + 1 < n ? groups[k + 1].angle : groups[0].angle + period) - groups[k].angle);

  ViewArcs a;
  a.period = period;
  a.step = std::min(quantile(gaps, 0.5), period / 4);
  // A gap is what the spacing does not explain: the second term lets irregular angles be irregular, the last says that
  // a third of the circle is never a step.
  const double gap_above = std::min(std::max({3 * a.step, 2 * quantile(gaps, 0.9), bridged}), period / 3) * (1 + 1e-9);
  const double beyond_end = a.step / 2;
  const auto half = [&](double gap) { return gap > gap_above ? std::min(gap / 2, beyond_end) : gap / 2; };

  a.share.resize(angles.size());
  for (std::size_t k = 0; k < n; ++k) {
    const double share = half(gaps[(k + n - 1) % n]) + half(gaps[k]);
    a.covered += share;
    for (const std::size_t view : groups[k].views) a.share[view] = share / static_cast<double>(groups[k].views.size());
  }

  a.margin.assign(angles.size(), infinity);
  for (std::size_t k = 0; k < n; ++k) {
    if (gaps[(k + n - 1) % n] <= gap_above) continue;  // an arc begins at a group after a gap
    Arc arc{groups[k].angle - half(gaps[(k + n - 1) % n]), groups[k].angle};
    std::size_t last = k;
    for (; gaps[last] <= gap_above; last = (last + 1) % n) arc.end += gaps[last];
    arc.end += half(gaps[last]);
    double angle = groups[k].angle;
    for (std::size_t j = k;; angle += gaps[j], j = (j + 1) % n) {
      for (const std::size_t view : groups[j].views) a.margin[view] = std::min(angle - arc.begin, arc.end - angle);
      if (j == last) break;
    }
    a.gaps.push_back(format("{:.2f} degrees between views {} and {}", degrees(gaps[last]), groups[last].views[0],
                            groups[(last + 1) % n].views[0]));
    const double shift = wrapped(arc.begin, period) - arc.begin;
    a.arcs.push_back({arc.begin + shift, arc.end + shift});
  }
  std::sort(a.arcs.begin(), a.arcs.end(), [](const Arc& p, const Arc& q) { return p.begin < q.begin; });
  return a;
}

}  // namespace lepus
