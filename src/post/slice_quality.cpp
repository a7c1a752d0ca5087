// SPDX-License-Identifier: Apache-2.0
#include "post/slice_quality.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"

namespace lepus::post {
namespace {

double pixel(const Slice& slice, std::int64_t x, std::int64_t y) {
  return static_cast<double>(slice.values[static_cast<std::size_t>(y * slice.width + x)]);
}

// Whether a pixel, given by its middle, lies inside the largest circle; half a pixel is left out at its rim.
bool in_circle(const Slice& slice, double x, double y) {
  const double dx = (x + 0.5 - 0.5 * static_cast<double>(slice.width)) * slice.pixel_width_mm;
  const double dy = (y + 0.5 - 0.5 * static_cast<double>(slice.height)) * slice.pixel_height_mm;
  const double across = std::min(static_cast<double>(slice.width - 1) * slice.pixel_width_mm,
                                 static_cast<double>(slice.height - 1) * slice.pixel_height_mm);
  return 4 * (dx * dx + dy * dy) <= across * across;
}

bool in_circle(const Slice& slice, const FlatRegion& r) {
  const auto x0 = static_cast<double>(r.x), x1 = static_cast<double>(r.x + r.side - 1);
  const auto y0 = static_cast<double>(r.y), y1 = static_cast<double>(r.y + r.side - 1);
  return in_circle(slice, x0, y0) && in_circle(slice, x1, y0) && in_circle(slice, x0, y1) && in_circle(slice, x1, y1);
}

struct PlaneFit {
  double mean = 0, deviation = 0;
};

// Least squares: on a square the mean and the slopes about its middle do not depend on each other.
PlaneFit fit_plane(const Slice& slice, const FlatRegion& r) {
  const double middle = 0.5 * static_cast<double>(r.side - 1), n = static_cast<double>(r.side * r.side);
  double sum = 0, along_x = 0, along_y = 0, squares = 0;
  for (std::int64_t j = 0; j < r.side; ++j)
    for (std::int64_t i = 0; i < r.side; ++i) {
      const double v = pixel(slice, r.x + i, r.y + j), x = static_cast<double>(i) - middle;
      sum += v;
      along_x += v * x;
      along_y += v * (static_cast<double>(j) - middle);
      squares += x * x;
    }
  const double mean = sum / n, slope_x = squares > 0 ? along_x / squares : 0,
               slope_y = squares > 0 ? along_y / squares : 0;
  double rest = 0;
  for (std::int64_t j = 0; j < r.side; ++j)
    for (std::int64_t i = 0; i < r.side; ++i) {
      const double plane =
          mean + slope_x * (static_cast<double>(i) - middle) + slope_y * (static_cast<double>(j) - middle);
      const double off = pixel(slice, r.x + i, r.y + j) - plane;
      rest += off * off;
    }
  return {mean, std::sqrt(rest / std::max(1.0, n - 3))};
}

}  // namespace

FlatRegion flattest_region(const Slice& slice) {
  const std::int64_t shortest = std::min(slice.width, slice.height);
  const std::int64_t side = std::min(shortest, std::max<std::int64_t>(8, slice.width / 16));
  const std::int64_t step = std::max<std::int64_t>(1, side / 2);
  const double threshold = 0.5 * (percentile(slice.values, 2) + percentile(slice.values, 98));
  FlatRegion best{(slice.width - side) / 2, (slice.height - side) / 2, side};
  bool found_object = false, found = false;
  double least = 0;
  for (std::int64_t y = 0; y + side <= slice.height; y += step)
    for (std::int64_t x = 0; x + side <= slice.width; x += step) {
      const FlatRegion region{x, y, side};
      if (!in_circle(slice, region)) continue;
      const PlaneFit fit = fit_plane(slice, region);
      const bool object = fit.mean > threshold;
      if (found_object && !object) continue;
      if (found && object == found_object && !(fit.deviation < least)) continue;
      best = region;
      least = fit.deviation;
      found = true;
      found_object = object;
    }
  return best;
}

double noise_in(const Slice& slice, const FlatRegion& region) { return fit_plane(slice, region).deviation; }

double gradient_energy(const Slice& slice) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t y = 1; y + 1 < slice.height; ++y)
    for (std::int64_t x = 1; x + 1 < slice.width; ++x) {
      if (!in_circle(slice, static_cast<double>(x), static_cast<double>(y))) continue;
      const double dx = (pixel(slice, x + 1, y) - pixel(slice, x - 1, y)) / (2 * slice.pixel_width_mm);
      const double dy = (pixel(slice, x, y + 1) - pixel(slice, x, y - 1)) / (2 * slice.pixel_height_mm);
      sum += dx * dx + dy * dy;
      ++count;
    }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace lepus::post
