// SPDX-License-Identifier: Apache-2.0
#include "iterative/subsets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

namespace lepus {
namespace {

double distance_in_half_a_turn(double a, double b) {
  const double difference = std::fmod(std::abs(a - b), std::numbers::pi);
  return std::min(difference, std::numbers::pi - difference);
}

std::vector<std::int64_t> distant_order(const std::vector<double>& angles) {
  constexpr double rounding = 1e-9;  // angles that are as far but for it
  std::vector<double> nearest(angles.size(), std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> order;
  std::size_t next = 0;
  while (order.size() < angles.size()) {
    order.push_back(static_cast<std::int64_t>(next));
    nearest[next] = -1;
    for (std::size_t i = 0; i < angles.size(); ++i)
      nearest[i] =
          std::min(nearest[i], distance_in_half_a_turn(angles[i], angles[static_cast<std::size_t>(order.back())]));
    for (const auto taken : order) nearest[static_cast<std::size_t>(taken)] = -1;
    for (std::size_t i = 0; i < angles.size(); ++i)
      if (nearest[i] > nearest[next] + rounding) next = i;
  }
  return order;
}

}  // namespace

std::vector<std::int64_t> subset_order(ViewOrder order, const std::vector<double>& angles_rad, std::uint64_t seed,
                                       std::int64_t pass) {
  if (order == ViewOrder::distant) return distant_order(angles_rad);
  std::vector<std::int64_t> subsets(angles_rad.size());
  std::iota(subsets.begin(), subsets.end(), 0);
  if (order == ViewOrder::sequential) return subsets;
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(pass) * 0x9E3779B97F4A7C15U);
  for (std::size_t i = subsets.size(); i > 1; --i)  // std::shuffle is another one in every library
    std::swap(subsets[i - 1], subsets[static_cast<std::size_t>(random() % i)]);
  return subsets;
}

Subsets::Subsets(Problem& problem, std::int64_t count, ViewOrder order, std::uint64_t seed)
    : whole_(*problem.map), parts_(static_cast<std::size_t>(count)), order_(order), seed_(seed) {
  const std::int64_t views = whole_.views();
  for (std::int64_t view = 0; view < views; ++view) part(view % count).views.push_back(view);
  for (std::int64_t subset = 0; subset < count; ++subset) {
    Part& part = this->part(subset);
    if (count > 1) part.owned = whole_.subset(part.views);
    part.map = count > 1 ? part.owned.get() : &whole_;
    angles_.push_back(problem.angles_rad.empty()
                          ? 2 * std::numbers::pi * static_cast<double>(subset) / static_cast<double>(views)
                          : problem.angles_rad[static_cast<std::size_t>(subset)]);
  }
}

Vector& Subsets::work(std::int64_t subset, Vector& kept) {
  const std::int64_t size = map(subset).values();
  if (kept.capacity() < size) kept = Vector::of_line_integrals(map(0));  // the first one is the largest
  kept.resize(size);
  return kept;
}

const Vector& Subsets::gather(const Vector& line_integrals, std::int64_t subset, Vector& kept) {
  if (count() == 1) return line_integrals;
  Vector& out = work(subset, kept);
  const std::int64_t n = whole_.values_per_view();
  std::int64_t to = 0;
  for (const std::int64_t view : part(subset).views) {
    whole_.home().copy(out.data() + to, line_integrals.data() + view * n, n * static_cast<std::int64_t>(sizeof(float)),
                       whole_.queue());
    to += n;
  }
  return out;
}

}  // namespace lepus
