// SPDX-License-Identifier: Apache-2.0
// The definition of the four filters: every pixel from its mask, in double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include "correct/filters/filter_reference.h"
#include "project/filter_window.h"

namespace lepus::reference {
namespace {

using filters::border_index;
using filters::full_mask;

struct Stack3 {
  std::int64_t width, height, count;
  std::vector<double> values;
  double& at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((z * height + y) * width + x)];
  }
};

struct Tap {
  double value, distance2;
};

double filtered(const std::vector<Tap>& taps, double centre, const FilterOptions& options) {
  if (options.kind == FilterKind::median) {
    std::vector<double> values;
    values.reserve(taps.size());
    for (const Tap& tap : taps) values.push_back(tap.value);
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
  }
  double sum = 0, weights = 0;
  for (const Tap& tap : taps) {
    double weight = 1;
    if (options.kind != FilterKind::box) weight = std::exp(-tap.distance2 / (2 * options.sigma * options.sigma));
    if (options.kind == FilterKind::bilateral) {
      const double difference = tap.value - centre;
      weight *= std::exp(-difference * difference / (2 * options.sigma_value * options.sigma_value));
    }
    sum += weight * tap.value;
    weights += weight;
  }
  return sum / weights;
}

}  // namespace

void filter(const Planes& in, const Planes& out, const FilterOptions& options) {
  check_filter(options, in.width, in.height, in.count);
  Stack3 from{in.width, in.height, in.count,
              std::vector<double>(static_cast<std::size_t>(in.width * in.height * in.count))};
  for (std::int64_t z = 0; z < in.count; ++z)
    for (std::int64_t y = 0; y < in.height; ++y) std::copy_n(in.row(z, y), in.width, &from.at(z, y, 0));
  const std::int64_t r = options.radius, rv = options.dimensions > 1 ? r : 0, rz = options.dimensions > 2 ? r : 0;
  std::vector<Tap> taps;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    Stack3 to = from;
    for (std::int64_t z = 0; z < in.count; ++z)
      for (std::int64_t y = 0; y < in.height; ++y)
        for (std::int64_t x = 0; x < in.width; ++x) {
          const bool full = full_mask(x, in.width, r) && full_mask(y, in.height, rv) && full_mask(z, in.count, rz);
          if (options.border == FilterBorder::keep && !full) continue;
          taps.clear();
          for (std::int64_t dz = -rz; dz <= rz; ++dz)
            for (std::int64_t dy = -rv; dy <= rv; ++dy)
              for (std::int64_t dx = -r; dx <= r; ++dx) {
                const std::int64_t at_x = border_index(options.border, x + dx, in.width);
                const std::int64_t at_y = border_index(options.border, y + dy, in.height);
                const std::int64_t at_z = border_index(options.border, z + dz, in.count);
                const auto distance2 = static_cast<double>(dx * dx + dy * dy + dz * dz);
                if (at_x >= 0 && at_y >= 0 && at_z >= 0)
                  taps.push_back({from.at(at_z, at_y, at_x), distance2});
                else if (options.border == FilterBorder::zero)
                  taps.push_back({0, distance2});
              }
          to.at(z, y, x) = filtered(taps, from.at(z, y, x), options);
        }
    from = std::move(to);
  }
  for (std::int64_t z = 0; z < in.count; ++z)
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x) out.row(z, y)[x] = static_cast<float>(from.at(z, y, x));
}

}  // namespace lepus::reference
