// SPDX-License-Identifier: Apache-2.0
#include "view/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lepus::view {

ValueHistogram histogram_of(const std::vector<float>& finite, std::int64_t bins, double low, double high) {
  ValueHistogram histogram{low, high, std::vector<std::int64_t>(static_cast<std::size_t>(bins)), 0, 0};
  const double scale = static_cast<double>(bins) / (high - low);
  for (const float value : finite) {
    const auto v = static_cast<double>(value);
    if (v < low) {
      ++histogram.below;
    } else if (v > high) {
      ++histogram.above;
    } else {
      const auto bin = static_cast<std::int64_t>((v - low) * scale);
      ++histogram.counts[static_cast<std::size_t>(std::min(bin, bins - 1))];
    }
  }
  return histogram;
}

RegionStatistics statistics_of(const OpenedVolume& volume, RegionShape shape, const std::array<std::int64_t, 6>& box,
                               PartCache& cache, const CancelFlag& cancel) {
  RegionStatistics result;
  // Sums of distances from the first value: those of squares would lose what the values have in common.
  std::optional<double> base;
  double sum = 0, squares = 0;
  std::int64_t finite = 0;
  result.minimum = std::numeric_limits<double>::infinity();
  result.maximum = -result.minimum;
  std::array<double, 3> centre{}, radius{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    centre[axis] = 0.5 * static_cast<double>(box[2 * axis] + box[2 * axis + 1] - 1);
    radius[axis] = 0.5 * static_cast<double>(box[2 * axis + 1] - box[2 * axis]);
  }
  const auto squared = [&](std::int64_t voxel, std::size_t axis) {
    const double distance = (static_cast<double>(voxel) - centre[axis]) / radius[axis];
    return distance * distance;
  };
  const std::int64_t nx = box[1] - box[0], ny = box[3] - box[2];
  std::vector<float> slice(static_cast<std::size_t>(nx * ny));
  for (std::int64_t z = box[4]; z < box[5]; ++z) {
    cancel.check();
    read_level(volume.levels.front(), {{box[0], box[2], z}, {box[1], box[3], z + 1}, {1, 1, 1}}, cache, slice.data());
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x) {
        if (shape == RegionShape::ellipsoid && squared(box[0] + x, 0) + squared(box[2] + y, 1) + squared(z, 2) > 1)
          continue;
        ++result.voxels;
        const auto value = static_cast<double>(slice[static_cast<std::size_t>(y * nx + x)]);
        if (!std::isfinite(value)) continue;
        ++finite;
        if (!base) base = value;
        sum += value - *base;
        squares += (value - *base) * (value - *base);
        result.minimum = std::min(result.minimum, value);
        result.maximum = std::max(result.maximum, value);
      }
  }
  result.not_finite = result.voxels - finite;
  if (finite == 0) {
    result.mean = result.standard_deviation = result.minimum = result.maximum =
        std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  const double mean = sum / static_cast<double>(finite);
  result.mean = *base + mean;
  result.standard_deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(finite) - mean * mean));
  return result;
}

}  // namespace lepus::view
