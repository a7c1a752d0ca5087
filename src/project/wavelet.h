// SPDX-License-Identifier: Apache-2.0
// Daubechies' orthogonal wavelets on finite lines (Daubechies, Comm. Pure Appl. Math. 41 (1988) 909). A line of n
// numbers -> low-pass and high-pass coefficients, (n + taps - 1) / 2 of each, the line mirrored about its ends
// (2 1 0 | 0 1 2), and back without loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "project/host_device.h"

namespace lepus::rings {

// The low-pass taps of the wavelet with `moments` vanishing moments, 1 to 10: 2 * moments of them, sum sqrt(2).
std::span<const double> daubechies(int moments);
// The high-pass taps that belong to it: g[k] = (-1)^k h[taps - 1 - k].
std::vector<double> high_pass(std::span<const double> low);

LEPUS_HD inline std::int64_t coefficients_of(std::int64_t n, std::int64_t taps) { return (n + taps - 1) / 2; }

// Index i of a line of n numbers mirrored about its ends, however far it lies outside.
LEPUS_HD inline std::int64_t mirrored_index(std::int64_t i, std::int64_t n) {
  const std::int64_t period = 2 * n;
  i = (i % period + period) % period;
  return i < n ? i : period - 1 - i;
}

// Coefficient i is the sum over j of filter[j] * line[2 i + 1 - j].
std::vector<double> analyse(const std::vector<double>& line, std::span<const double> filter);
// The transpose of analyse, for lines of n numbers.
std::vector<double> analyse_transposed(const std::vector<double>& coefficients, std::span<const double> filter,
                                       std::int64_t n);
// What coefficients of one filter contribute to a line of n numbers: element i is the sum over k of
// filter[2 k + 1 - i] * coefficients[k].
std::vector<double> synthesise(const std::vector<double>& coefficients, std::span<const double> filter, std::int64_t n);

}  // namespace lepus::rings
