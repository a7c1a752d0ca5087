// SPDX-License-Identifier: Apache-2.0
// Numbers of a volume: a histogram of a sample or a slice, exact statistics of a region.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "view/opened_volume.h"

namespace lepus::view {

struct ValueHistogram {
  double low = 0, high = 1;
  std::vector<std::int64_t> counts;
  std::int64_t below = 0, above = 0;
};
// Of finite values; the last bin holds `high`, too.
ValueHistogram histogram_of(const std::vector<float>& finite, std::int64_t bins, double low, double high);

struct RegionStatistics {
  std::int64_t voxels = 0, not_finite = 0;                            // in the region
  double mean = 0, standard_deviation = 0, minimum = 0, maximum = 0;  // of the finite ones; NaN where there is none
};
enum class RegionShape { box, ellipsoid };
// x0, x1, y0, y1, z0, z1 of the file's voxels; the ellipsoid touches the faces of the box.
RegionStatistics statistics_of(const OpenedVolume& volume, RegionShape shape, const std::array<std::int64_t, 6>& box,
                               PartCache& cache, const CancelFlag& cancel);

}  // namespace lepus::view
