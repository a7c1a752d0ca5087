// SPDX-License-Identifier: Apache-2.0
// Which columns of a sinogram are faulty: a list of one number per column -> a mask, written once for host and device.
// Vo, Atwood and Drakopoulos (2018), section 3: in the sorted list a line is laid through the middle half; what stands
// out beyond the line's ends by snr times the line's rise is a fault.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus::rings {

// Index i of a line of n pixels mirrored at its outermost pixels, which are not repeated; |i| beyond the edge < n.
LEPUS_HD inline std::int64_t mirror_inside(std::int64_t i, std::int64_t n) {
  return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

// Median of list over [x - radius, x + radius] by counting; list has n > radius numbers.
LEPUS_HD inline double local_median(const double* list, std::int64_t n, std::int64_t x, std::int64_t radius) {
  for (std::int64_t k = -radius; k <= radius; ++k) {
    const double candidate = list[mirror_inside(x + k, n)];
    std::int64_t below = 0, same = 0;
    for (std::int64_t j = -radius; j <= radius; ++j) {
      const double other = list[mirror_inside(x + j, n)];
      below += other < candidate;
      same += other == candidate;
    }
    if (below <= radius && radius < below + same) return candidate;
  }
  return list[x];  // not reached while the list holds numbers
}

// How far a column's flutter d is from that of its neighbours b, between -1 and 1: the logarithm of their ratio to
// first order, and finite. `floor` keeps columns in noise-free air from counting.
LEPUS_HD inline double flutter_contrast(double d, double b, double floor) {
  const double sum = d + b + 2 * floor;
  return sum > 0 ? (d - b) / sum : 0;
}

// The same, of column x, and far beyond 1 where there is no doubt. The measure above ends at 1, which is nothing among
// columns that differ much, as an object's details make them. But what an object does to one column it does to those
// beside it: a column that flutters ten times as much as those on its left and those on its right, or a tenth, is
// broken, however the others are.
LEPUS_HD inline double flutter_contrast(const double* flutter, std::int64_t n, std::int64_t x, double around,
                                        double floor) {
  constexpr double times = 10, no_doubt = 100;
  constexpr std::int64_t beside = 4, radius = 2;  // 2 to 6 columns away: up to five broken ones may be neighbours
  const double d = flutter[x];
  if (n > 2 * (beside + radius)) {
    const double left = local_median(flutter, n, mirror_inside(x - beside, n), radius);
    const double right = local_median(flutter, n, mirror_inside(x + beside, n), radius);
    const double low = left < right ? left : right, high = left < right ? right : left;
    if (low > floor && times * d < low) return -no_doubt;
    if (d > times * (high > floor ? high : floor) && d > 0) return no_doubt;
  }
  return flutter_contrast(d, around, floor);
}

struct OutlierLimits {
  double bottom = 0, top = 0;  // of the line through the sorted list
  bool any_low = false, any_high = false;
  double threshold = 0;  // what lies further than this beyond bottom or top is out
};

LEPUS_HD inline OutlierLimits outlier_limits(const double* ascending, std::int64_t n, double snr) {
  OutlierLimits limits;
  if (n < 4) return limits;
  const std::int64_t first = n / 4, last = n - n / 4;
  const double middle = 0.5 * static_cast<double>(first + last - 1);
  double mean = 0, along = 0, squares = 0;
  for (std::int64_t i = first; i < last; ++i) mean += ascending[i];
  mean /= static_cast<double>(last - first);
  for (std::int64_t i = first; i < last; ++i) {
    const double t = static_cast<double>(i) - middle;
    along += t * (ascending[i] - mean);
    squares += t * t;
  }
  const double slope = along / squares;
  limits.bottom = mean - slope * middle;
  limits.top = mean + slope * (static_cast<double>(n - 1) - middle);
  const double noise = limits.top - limits.bottom;  // >= 0: the list ascends
  limits.any_high = ascending[n - 1] > limits.top && ascending[n - 1] - limits.top >= snr * noise;
  limits.any_low = ascending[0] < limits.bottom && limits.bottom - ascending[0] >= snr * noise;
  limits.threshold = 0.5 * snr * noise;
  return limits;
}

// How far a column lies out, 0 where it lies inside.
LEPUS_HD inline double beyond(const OutlierLimits& limits, double value) {
  if (limits.any_high && value > limits.top) return value - limits.top;
  if (limits.any_low && value < limits.bottom) return limits.bottom - value;
  return 0;
}

// mask[x] = 1 for x in [first, last) where column x or a neighbour of it lies further out than the threshold; runs
// longer than `longest` are marked with half of their own peak as threshold, and not at all if they are too long again.
LEPUS_HD inline void mark_range(const double* list, const OutlierLimits& limits, double threshold, std::int64_t first,
                                std::int64_t last, std::int64_t longest, bool again, unsigned char* mask) {
  const auto out = [&](std::int64_t x) { return x >= first && x < last && beyond(limits, list[x]) > threshold; };
  std::int64_t run = 0;
  for (std::int64_t x = first; x <= last; ++x) {
    if (x < last && (out(x - 1) || out(x) || out(x + 1))) {
      mask[x] = 1;
      ++run;
      continue;
    }
    if (run > longest) {
      double peak = 0;
      for (std::int64_t k = x - run; k < x; ++k) {
        const double d = beyond(limits, list[k]);
        peak = d > peak ? d : peak;
        mask[k] = 0;
      }
      if (again) mark_range(list, limits, 0.5 * peak, x - run, x, longest, false, mask);
    }
    run = 0;
    if (x < last) mask[x] = 0;
  }
}

// Runs that stay longer than `longest` are the object's, not the detector's: the filters that judge and mend see no
// whole side beyond them. The neighbours of a strong stripe are pulled along by it, and where there is little noise
// stand out too: hence the second look.
LEPUS_HD inline void mark_columns(const double* list, const double* ascending, std::int64_t n, double snr,
                                  std::int64_t longest, unsigned char* mask) {
  const OutlierLimits limits = outlier_limits(ascending, n, snr);
  mark_range(list, limits, limits.threshold, 0, n, longest, true, mask);
}

}  // namespace lepus::rings
