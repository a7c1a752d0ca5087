// SPDX-License-Identifier: Apache-2.0
#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/memory.h"

namespace lepus {
namespace {

// Count, mean and sum of squared deviations: parts are merged without the cancellation that sums of squares suffer
// (Chan, Golub, LeVeque 1983).
struct Moments {
  double count = 0, mean = 0, deviations = 0;
  double smallest = std::numeric_limits<double>::infinity(), largest = -std::numeric_limits<double>::infinity();

  void add(const Moments& other) {
    if (other.count == 0) return;
    const double whole = count + other.count, step = other.mean - mean;
    mean += step * other.count / whole;
    deviations += other.deviations + step * step * count * other.count / whole;
    count = whole;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
};

Moments moments_of(const float* values, std::int64_t n) {
  Moments m;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = values[i];
    if (!std::isfinite(v)) continue;
    ++m.count;
    sum += v;
    m.smallest = std::min(m.smallest, v);
    m.largest = std::max(m.largest, v);
  }
  if (m.count == 0) return m;
  m.mean = sum / m.count;
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isfinite(values[i])) m.deviations += (values[i] - m.mean) * (values[i] - m.mean);
  return m;
}

}  // namespace

VolumeStatistics volume_statistics(const VolumeReader& volume, std::int64_t memory_bytes, Context& context) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t row = grid.nx, slice = grid.nx * grid.ny;
  const std::int64_t fits = std::max<std::int64_t>(1, memory_bytes / (4 * slice));
  const std::int64_t slab = std::clamp<std::int64_t>((std::int64_t{1} << 24) / slice, 1, fits);
  Buffer<float> slices(slab * slice);
  Moments total;
  context.progress.begin("reading", grid.nz);
  for (std::int64_t z0 = 0; z0 < grid.nz; z0 += slab) {
    const std::int64_t z1 = std::min(grid.nz, z0 + slab), rows = (z1 - z0) * grid.ny;
    context.cancel.check();
    volume.read(z0, z1, slices.data());
    std::vector<Moments> parts(static_cast<std::size_t>(rows));
    context.threads.parallel_for(0, rows, 32, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t r = begin; r < end; ++r)
        parts[static_cast<std::size_t>(r)] = moments_of(slices.data() + r * row, row);
    });
    for (const Moments& part : parts) total.add(part);
    context.progress.advance(z1 - z0);
  }
  context.progress.end();
  VolumeStatistics result;
  result.voxels = grid.voxels();
  result.not_finite = result.voxels - static_cast<std::int64_t>(total.count);
  const bool any = total.count > 0;
  const double none = std::numeric_limits<double>::quiet_NaN();
  result.smallest = any ? total.smallest : none;
  result.largest = any ? total.largest : none;
  result.mean = any ? total.mean : none;
  result.standard_deviation = any ? std::sqrt(total.deviations / total.count) : none;
  return result;
}

double percentile(std::vector<float> values, double percent) {
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  if (values.empty()) return 0;
  const double place = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  if (below + 1 == static_cast<std::ptrdiff_t>(values.size())) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (place - static_cast<double>(below)) * (high - low);
}

}  // namespace lepus
