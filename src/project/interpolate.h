// SPDX-License-Identifier: Apache-2.0
// A value between pixel centres. Taps outside the detector are zero, so the picture fades to zero over the last pixel
// (linear) or two (cubic) and is zero beyond.
// linear: taps floor(x), floor(x)+1. nearest: tap floor(x + 1/2). cubic: Keys' kernel with a = -1/2 (Catmull-Rom; Keys
// 1981, "Cubic convolution interpolation"), taps floor(x)-1 ... floor(x)+2, exact for quadratics.
#pragma once

#include <cmath>
#include <cstdint>

#include "project/host_device.h"
#include <lepus/options.h>

namespace lepus {

// How many taps there are along one axis, and how far the first lies before floor(x) (nearest: floor(x + 1/2)).
LEPUS_HD constexpr int tap_count(Interpolation i) {
  return i == Interpolation::nearest ? 1 : i == Interpolation::linear ? 2 : 4;
}
LEPUS_HD constexpr int taps_before(Interpolation i) { return i == Interpolation::cubic ? 1 : 0; }

// The weights of the taps for a fraction f = x - floor(x) in [0, 1].
template <class T>
LEPUS_HD inline void linear_weights(T f, T* weight) {
  weight[0] = T(1) - f;
  weight[1] = f;
}
template <class T>
LEPUS_HD inline void cubic_weights(T f, T* weight) {
  const T h = T(0.5) * f, g = T(1) - f;
  weight[0] = -h * g * g;
  weight[1] = T(1) + f * f * (T(1.5) * f - T(2.5));
  weight[2] = h * (T(1) + f * (T(4) - T(3) * f));
  weight[3] = -h * f * g;
}

// The first tap of x and the weights of all of them.
template <class T>
LEPUS_HD inline std::int64_t first_tap(Interpolation i, T x, T* weight) {
  const T cell = std::floor(i == Interpolation::nearest ? x + T(0.5) : x);
  if (i == Interpolation::nearest)
    weight[0] = T(1);
  else if (i == Interpolation::linear)
    linear_weights(x - cell, weight);
  else
    cubic_weights(x - cell, weight);
  return static_cast<std::int64_t>(cell) - taps_before(i);
}

// The picture's value at (u, v), counted from pixel (column_origin, row_origin); pixel(column, row) is asked only for
// pixels of the detector.
template <class T, class Pixel>
LEPUS_HD inline T sample(Interpolation i, std::int64_t columns, std::int64_t rows, T u, T v, const Pixel& pixel,
                         std::int64_t column_origin = 0, std::int64_t row_origin = 0) {
  // Beyond two pixels of the edge every tap is zero; asking first keeps the conversion to integers defined.
  if (!(u > static_cast<T>(-3 - column_origin) && v > static_cast<T>(-3 - row_origin) &&
        u < static_cast<T>(columns + 2 - column_origin) && v < static_cast<T>(rows + 2 - row_origin)))
    return T(0);
  T column_weight[4], row_weight[4];
  const std::int64_t column0 = first_tap(i, u, column_weight) + column_origin,
                     row0 = first_tap(i, v, row_weight) + row_origin;
  const int taps = tap_count(i);
  T sum = T(0);
  for (int a = 0; a < taps; ++a) {
    const std::int64_t column = column0 + a;
    if (column < 0 || column >= columns) continue;
    T along_column = T(0);
    for (int b = 0; b < taps; ++b) {
      const std::int64_t row = row0 + b;
      if (row >= 0 && row < rows) along_column += row_weight[b] * static_cast<T>(pixel(column, row));
    }
    sum += column_weight[a] * along_column;
  }
  return sum;
}

}  // namespace lepus
