// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/samples.h"

#include <algorithm>

#include "project/ray_views.h"

namespace lepus::bench {

double joseph_samples(const ScanGeometry& geometry, const VolumeGrid& grid) {
  constexpr std::int64_t rays_asked = 20000;
  const RayViews scan = ray_views(geometry, grid);
  const std::int64_t rays = geometry.views() * scan.pixels(), step = std::max<std::int64_t>(1, rays / rays_asked) | 1;
  double samples = 0, counted = 0;
  for (std::int64_t ray = 0; ray < rays; ray += step, ++counted) {
    const std::int64_t pixel = ray % scan.pixels();
    const JosephLine line =
        joseph_line(scan.views[static_cast<std::size_t>(ray / scan.pixels())], scan.grid,
                    static_cast<double>(pixel % scan.columns), static_cast<double>(pixel / scan.columns));
    samples += line.last - line.first;
  }
  return counted > 0 ? samples / counted * static_cast<double>(rays) : 0;
}

}  // namespace lepus::bench
