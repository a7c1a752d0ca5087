// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>

#include "align/beads.h"

namespace lepus {
namespace {

// Running minimum or maximum over 2 reach + 1 samples with a stride; windows are cut off at the ends.
void running(const float* in, float* out, std::int64_t n, std::int64_t stride, std::int64_t reach, bool largest) {
  for (std::int64_t i = 0; i < n; ++i) {
    float best = in[i * stride];
    for (std::int64_t k = std::max<std::int64_t>(0, i - reach); k <= std::min(n - 1, i + reach); ++k)
      best = largest ? std::max(best, in[k * stride]) : std::min(best, in[k * stride]);
    out[i * stride] = best;
  }
}

// What an opening with a square of 2 reach + 1 pixels takes away.
std::vector<float> top_hat(std::span<const float> frame, std::int64_t columns, std::int64_t rows, std::int64_t reach) {
  std::vector<float> a(frame.begin(), frame.end()), b(a.size());
  for (const bool largest : {false, true}) {
    for (std::int64_t v = 0; v < rows; ++v)
      running(a.data() + v * columns, b.data() + v * columns, columns, 1, reach, largest);
    for (std::int64_t u = 0; u < columns; ++u) running(b.data() + u, a.data() + u, rows, columns, reach, largest);
  }
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = frame[i] - a[i];
  return a;
}

struct Blob {
  std::int64_t area = 0;
  double column = 0, row = 0;  // weighted by the values
  bool at_edge = false;
};

std::vector<Blob> blobs(const std::vector<float>& image, std::int64_t columns, std::int64_t rows, float threshold) {
  std::vector<char> seen(image.size());
  std::vector<Blob> list;
  std::vector<std::int64_t> stack;
  for (std::int64_t start = 0; start < columns * rows; ++start) {
    if (seen[static_cast<std::size_t>(start)] || image[static_cast<std::size_t>(start)] < threshold) continue;
    Blob blob;
    double weight = 0;
    stack.assign(1, start);
    seen[static_cast<std::size_t>(start)] = 1;
    while (!stack.empty()) {
      const std::int64_t pixel = stack.back(), u = pixel % columns, v = pixel / columns;
      stack.pop_back();
      const double value = image[static_cast<std::size_t>(pixel)];
      ++blob.area;
      blob.column += value * static_cast<double>(u);
      blob.row += value * static_cast<double>(v);
      weight += value;
      blob.at_edge = blob.at_edge || u == 0 || v == 0 || u == columns - 1 || v == rows - 1;
      for (const auto& [du, dv] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        if (u + du < 0 || u + du >= columns || v + dv < 0 || v + dv >= rows) continue;
        const auto next = static_cast<std::size_t>(pixel + dv * columns + du);
        if (seen[next] || image[next] < threshold) continue;
        seen[next] = 1;
        stack.push_back(static_cast<std::int64_t>(next));
      }
    }
    blob.column /= weight;
    blob.row /= weight;
    list.push_back(blob);
  }
  return list;
}

// A share of the highest level that at least a handful of pixels reach.
float threshold_of(const std::vector<float>& image) {
  std::vector<float> sorted(image);
  const auto place = std::min<std::size_t>(sorted.size() - 1, 8);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.end(), std::greater<>());
  return 0.35F * sorted[place];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The centroid, within 0.75 diameters, of what stands more than a quarter of the bead's height above the opening. The
// opening follows the shadow of what holds the beads, steep sides and ends included. Repeated until the disk sits on
// the bead, so that it does not matter which pixels the blob had.
BeadSpot refine(const std::vector<float>& hat, std::int64_t columns, std::int64_t rows, BeadSpot spot,
                double diameter) {
  for (int step = 0; step < 6; ++step) {
    const auto each = [&](double radius, auto&& visit) {
      for (auto v = std::max<std::int64_t>(0, std::lround(std::ceil(spot.row - radius)));
           v <= std::min(rows - 1, std::lround(std::floor(spot.row + radius))); ++v)
        for (auto u = std::max<std::int64_t>(0, std::lround(std::ceil(spot.column - radius)));
             u <= std::min(columns - 1, std::lround(std::floor(spot.column + radius))); ++u) {
          const double x = static_cast<double>(u) - spot.column, y = static_cast<double>(v) - spot.row;
          if (x * x + y * y <= radius * radius)
            visit(x, y, static_cast<double>(hat[static_cast<std::size_t>(v * columns + u)]));
        }
    };
    double height = 0, n = 0, sum = 0, sx = 0, sy = 0;
    each(0.25 * diameter + 0.5, [&](double, double, double p) { height += p, n += 1; });
    const double least = 0.25 * height / n;
    each(0.75 * diameter, [&](double x, double y, double p) {
      const double above = std::max(0.0, p - least);
      sum += above, sx += above * x, sy += above * y;
    });
    if (!(sum > 0)) return spot;
    spot.column += sx / sum;
    spot.row += sy / sum;
    if (std::hypot(sx, sy) < 1e-3 * sum) break;
  }
  return spot;
}

}  // namespace

double bead_diameter_px(std::span<const float> frame, std::int64_t columns, std::int64_t rows) {
  const std::int64_t reach = std::max<std::int64_t>(2, std::min(columns, rows) / 24);
  const std::vector<float> hat = top_hat(frame, columns, rows, reach);
  std::vector<double> diameters;
  for (const Blob& blob : blobs(hat, columns, rows, threshold_of(hat)))
    if (!blob.at_edge && blob.area >= 4)
      diameters.push_back(std::sqrt(4 / 3.14159265 * static_cast<double>(blob.area)));
  // A sphere's projection is above 0.35 of its height over 0.94 of its diameter.
  return median(diameters) / 0.94;
}

BeadFrame find_beads(std::span<const float> frame, std::int64_t columns, std::int64_t rows, double diameter_px) {
  const auto reach = static_cast<std::int64_t>(std::ceil(0.8 * diameter_px));
  const std::vector<float> hat = top_hat(frame, columns, rows, reach);
  std::vector<Blob> all = blobs(hat, columns, rows, threshold_of(hat));
  std::erase_if(all,
                [&](const Blob& b) { return static_cast<double>(b.area) < 0.3 * 0.785 * diameter_px * diameter_px; });
  std::vector<double> areas;
  areas.reserve(all.size());
  for (const Blob& blob : all) areas.push_back(static_cast<double>(blob.area));
  const double usual = median(areas);
  BeadFrame result;
  for (const Blob& blob : all) {
    if (blob.at_edge)
      ++result.leaving;
    else if (static_cast<double>(blob.area) > 1.5 * usual)
      ++result.overlapping;
    else
      result.spots.push_back(refine(hat, columns, rows, {blob.column, blob.row}, diameter_px));
  }
  return result;
}

}  // namespace lepus
