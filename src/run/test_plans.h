// SPDX-License-Identifier: Apache-2.0
// For the tests of plans: scans to be planned, and what holds of every plan.
#pragma once

#include <gtest/gtest.h>

#include "run/plan.h"

namespace lepus {

// A full turn around an object of 200 mm.
inline ScanGeometry planned_scan(std::int64_t pixels, std::int64_t views) {
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = scan.rows = pixels;
  scan.pixel_width_mm = scan.pixel_height_mm = 400.0 / static_cast<double>(pixels);
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return build_scan(scan);
}

inline void expect_slabs_cover(const Plan& plan, const VolumeGrid& grid) {
  std::int64_t z = 0;
  for (const SlabRange slab : plan.slabs) {
    EXPECT_EQ(slab.z0, z);
    EXPECT_EQ(slab.z0 % slab_alignment, 0);
    EXPECT_GT(slab.z1, slab.z0);
    EXPECT_LE(slab.z1 - slab.z0, plan.slab_slices);
    z = slab.z1;
  }
  EXPECT_EQ(z, grid.nz);
}

}  // namespace lepus
