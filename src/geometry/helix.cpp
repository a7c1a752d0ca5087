// SPDX-License-Identifier: Apache-2.0
#include "geometry/helix.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <vector>

#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {

CircularScan with_helix(CircularScan scan, double pitch_mm) {
  if (pitch_mm == 0 || scan.angles_rad.empty()) return scan;
  scan.perturbations.resize(scan.angles_rad.size());
  const double middle = (scan.angles_rad.front() + scan.angles_rad.back()) / 2;
  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) {
    const double up = pitch_mm * (scan.angles_rad[i] - middle) / (2 * std::numbers::pi);
    scan.perturbations[i].source_mm.y -= up;  // v points down
    scan.perturbations[i].detector_mm.y -= up;
  }
  return scan;
}

namespace {

struct ViewHeight {
  double angle_rad, z_mm;  // of the source; parallel and fan beams: of the detector
};

std::vector<ViewHeight> heights_of(const ScanGeometry& geometry) {
  std::vector<ViewHeight> heights;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const Camera camera = camera_of(geometry, view);
    heights.push_back({view_angle_rad(camera), geometry.beam == Beam::cone ? camera.source_mm.z : camera.origin_mm.z});
  }
  return heights;
}

// Between the lowest and the highest mean of so many neighbours.
double spread_mm(const std::vector<ViewHeight>& heights, std::size_t neighbours) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t first = 0; first + neighbours <= heights.size(); ++first) {
    double mean = 0;
    for (std::size_t i = 0; i < neighbours; ++i) mean += heights[first + i].z_mm / static_cast<double>(neighbours);
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  return heights.empty() ? 0 : high - low;
}

double height_seen_mm(const ScanGeometry& geometry) {
  return geometry.matrices.empty()
             ? 0
             : pitch_at_axis(camera_of(geometry, 0)).height_mm * static_cast<double>(geometry.rows);
}

// Whether the views climb, or fall, by more than a tenth of what is seen, in the order they were taken or around the
// axis. Jitter leaves the means over a quarter of them where they are; where it takes half of the detector away, it is
// no better.
bool climbs(const ScanGeometry& geometry) {
  std::vector<ViewHeight> heights = heights_of(geometry);
  const double seen = height_seen_mm(geometry);
  if (spread_mm(heights, 1) > seen / 2) return true;
  const std::size_t views = heights.size(), quarter = std::max<std::size_t>(1, views / 4);
  const double kept = static_cast<double>(views - quarter) / static_cast<double>(views - 1);  // of a steady climb
  if (spread_mm(heights, quarter) > kept * seen / 10) return true;
  std::sort(heights.begin(), heights.end(),
            [](const ViewHeight& a, const ViewHeight& b) { return a.angle_rad < b.angle_rad; });
  return spread_mm(heights, quarter) > kept * seen / 10;
}

}  // namespace

bool is_helical(const ScanGeometry& geometry) {
  return spread_mm(heights_of(geometry), 1) > height_seen_mm(geometry) / 10;
}

bool is_helix_to_fdk(const ScanGeometry& geometry) { return is_helical(geometry) && climbs(geometry); }

void refuse_helix(const ScanGeometry& geometry, const std::string& where) {
  if (!is_helix_to_fdk(geometry)) return;
  throw Error(ErrorKind::unsupported,
              {.what = "FDK cannot reconstruct a helical scan",
               .where = where,
               .why = "source and detector move along the axis, and its weights are those of a circle",
               .hint = "take an iterative method that does not start from FDK: --method os-sart"});
}

}  // namespace lepus
