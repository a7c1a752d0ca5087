// SPDX-License-Identifier: Apache-2.0
#include "geometry/helix.h"

#include <algorithm>
#include <numbers>

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

bool is_helical(const ScanGeometry& geometry) {
  double low = 0, high = 0, height = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const Camera camera = camera_of(geometry, view);
    const double z = geometry.beam == Beam::cone ? camera.source_mm.z : camera.origin_mm.z;
    if (view == 0) {
      low = high = z;
      height = pitch_at_axis(camera).height_mm * static_cast<double>(geometry.rows);
    }
    low = std::min(low, z);
    high = std::max(high, z);
  }
  return high - low > height / 10;
}

void refuse_helix(const ScanGeometry& geometry, const std::string& where) {
  if (!is_helical(geometry)) return;
  throw Error(ErrorKind::unsupported,
              {.what = "FDK cannot reconstruct a helical scan",
               .where = where,
               .why = "source and detector move along the axis, and its weights are those of a circle",
               .hint = "take an iterative method that does not start from FDK: --method os-sart"});
}

}  // namespace lepus
