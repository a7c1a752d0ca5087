// SPDX-License-Identifier: Apache-2.0
#include "correct/beam/phase_reference.h"

#include <cmath>

#include <lepus/math.h>

namespace lepus {
namespace {

// basis[k * n + s]: the orthonormal cosine of frequency k / 2n at sample s.
std::vector<double> cosines(std::size_t n) {
  std::vector<double> basis(n * n);
  const auto length = static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t s = 0; s < n; ++s)
      basis[k * n + s] = std::sqrt((k == 0 ? 1.0 : 2.0) / length) *
                         std::cos(pi * static_cast<double>(k) * (static_cast<double>(s) + 0.5) / length);
  return basis;
}

}  // namespace

std::vector<double> paganin_reference(const std::vector<float>& frame, std::int64_t columns, double a_v, double a_u) {
  const auto width = static_cast<std::size_t>(columns), height = frame.size() / width;
  const std::vector<double> along = cosines(width), down = cosines(height);
  std::vector<double> rows(frame.size()), spectrum(frame.size()), result(frame.size());
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t x = 0; x < width; ++x)
        rows[y * width + k] += along[k * width + x] * static_cast<double>(frame[y * width + x]);
  for (std::size_t m = 0; m < height; ++m)
    for (std::size_t k = 0; k < width; ++k) {
      double sum = 0;
      for (std::size_t y = 0; y < height; ++y) sum += down[m * height + y] * rows[y * width + k];
      const double f_v = static_cast<double>(m) / static_cast<double>(2 * height);
      const double f_u = static_cast<double>(k) / static_cast<double>(2 * width);
      spectrum[m * width + k] = sum / (1 + a_v * f_v * f_v + a_u * f_u * f_u);
    }
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t k = 0; k < width; ++k) {
      double sum = 0;
      for (std::size_t m = 0; m < height; ++m) sum += down[m * height + y] * spectrum[m * width + k];
      rows[y * width + k] = sum;
    }
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t k = 0; k < width; ++k) result[y * width + x] += along[k * width + x] * rows[y * width + k];
  return result;
}

}  // namespace lepus
