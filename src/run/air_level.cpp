// SPDX-License-Identifier: Apache-2.0
#include "run/air_level.h"

#include <algorithm>
#include <cmath>

namespace lepus {

std::optional<double> air_level(std::vector<float> block_means, double standard_error) {
  constexpr std::size_t fewest_blocks = 12;
  constexpr double fewest_share = 0.03, widest_peak = 0.08;
  std::erase_if(block_means, [](float t) { return !std::isfinite(t) || t <= 0; });
  if (block_means.size() < fewest_blocks) return std::nullopt;
  std::sort(block_means.begin(), block_means.end());
  const auto blocks = static_cast<double>(block_means.size());
  // The few brightest may be hot pixels.
  const auto top = static_cast<double>(block_means[static_cast<std::size_t>(0.985 * (blocks - 1))]);
  const double half = std::max(0.02 * top, 3 * standard_error);
  if (half > widest_peak * top) return std::nullopt;  // any view has that many blocks so close to each other
  const auto at = [&](double t) {
    return std::lower_bound(block_means.begin(), block_means.end(), static_cast<float>(t));
  };
  const auto first = at(top - 2 * half), last = at(top + half);
  if (last == first) return std::nullopt;
  const auto level = static_cast<double>(*(first + (last - first) / 2));
  const auto in_peak = static_cast<double>(at(level + half) - at(level - half));
  const auto below = static_cast<double>(at(level - half) - at(level - 3 * half));
  const auto object = static_cast<double>(at(level - 3 * half) - block_means.begin());
  const double fewest = std::max(3.0, fewest_share * blocks);
  if (in_peak < fewest || object < fewest || in_peak < 2 * below || top > level + 2 * half) return std::nullopt;
  return level;
}

}  // namespace lepus
