// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "align/center_score.h"

namespace lepus {

std::array<float, 4> spline_weights(double f) {
  const double g = 1 - f;
  return {static_cast<float>(g * g * g / 6), static_cast<float>((4 - 6 * f * f + 3 * f * f * f) / 6),
          static_cast<float>((4 - 6 * g * g + 3 * g * g * g) / 6), static_cast<float>(f * f * f / 6)};
}

RowTaps row_taps(const CenterBand& band, double place) {
  RowTaps taps;
  const double clamped = std::clamp(place, 0.0, static_cast<double>(band.rows - 1));
  const auto first = static_cast<std::int64_t>(clamped);
  taps.weights = spline_weights(clamped - static_cast<double>(first));
  for (std::int64_t i = 0; i < 4; ++i)
    taps.rows[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(first - 1 + i, 0, band.rows - 1);
  return taps;
}

void blur_row(const float* in, std::int64_t columns, float* out) {
  constexpr std::int64_t reach = 4;
  std::array<float, 2 * reach + 1> kernel{};
  double sum = 0;
  for (std::int64_t i = -reach; i <= reach; ++i)
    sum += std::exp(-0.5 * static_cast<double>(i * i) / (center_blur * center_blur));
  for (std::int64_t i = -reach; i <= reach; ++i)
    kernel[static_cast<std::size_t>(i + reach)] =
        static_cast<float>(std::exp(-0.5 * static_cast<double>(i * i) / (center_blur * center_blur)) / sum);
  for (std::int64_t u = 0; u < columns; ++u) {
    float value = 0;
    for (std::int64_t i = -reach; i <= reach; ++i)
      value += kernel[static_cast<std::size_t>(i + reach)] * in[std::clamp<std::int64_t>(u + i, 0, columns - 1)];
    out[u] = value;
  }
}

std::int64_t rows_lost_to_blur(double aspect) {
  return static_cast<std::int64_t>(std::ceil(3.2 * center_blur / aspect)) + 2;
}

CenterBand blurred_across_rows(const CenterBand& band, std::int64_t views, std::int64_t columns, double aspect,
                               Context& context) {
  const std::int64_t reach = rows_lost_to_blur(aspect) - 2;
  if (band.rows < 2 * (reach + 2) + 1) return band;
  std::vector<float> kernel;
  double sum = 0;
  const auto bell = [&](std::int64_t i) {
    const double distance = static_cast<double>(i) * aspect / center_blur;
    return std::exp(-0.5 * distance * distance);
  };
  for (std::int64_t i = -reach; i <= reach; ++i) sum += bell(i);
  for (std::int64_t i = -reach; i <= reach; ++i) kernel.push_back(static_cast<float>(bell(i) / sum));
  CenterBand out{band.first_row + static_cast<double>(reach), band.rows - 2 * reach, {}};
  const std::int64_t plane = views * columns;
  out.line_integrals.assign(static_cast<std::size_t>(out.rows * plane), 0.0F);
  context.threads.parallel_for(0, out.rows, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t i = 0; i < 2 * reach + 1; ++i) {
        const float weight = kernel[static_cast<std::size_t>(i)];
        const float* in = band.line_integrals.data() + (row + i) * plane;
        float* to = out.line_integrals.data() + row * plane;
        for (std::int64_t k = 0; k < plane; ++k) to[k] += weight * in[k];
      }
  });
  return out;
}

std::vector<float> level_row(const CenterBand& band, std::int64_t views, std::int64_t columns, double crossing,
                             double row_slope) {
  std::vector<float> out(static_cast<std::size_t>(views * columns));
  std::vector<RowTaps> taps;
  for (std::int64_t u = 0; u < columns; ++u) {
    const double v = band.middle() - (static_cast<double>(u) - crossing) * row_slope;
    taps.push_back(row_taps(band, v - band.first_row));
  }
  const std::int64_t plane = views * columns;
  for (std::int64_t view = 0; view < views; ++view)
    for (std::int64_t u = 0; u < columns; ++u) {
      const RowTaps& t = taps[static_cast<std::size_t>(u)];
      const float* p = band.line_integrals.data() + view * columns + u;
      float sum = 0;
      for (std::size_t i = 0; i < 4; ++i) sum += t.weights[i] * p[t.rows[i] * plane];
      out[static_cast<std::size_t>(view * columns + u)] = sum;
    }
  return out;
}

}  // namespace lepus
