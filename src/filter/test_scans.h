// SPDX-License-Identifier: Apache-2.0
// Small scans that the tests of this room share, each with a name.
#pragma once

#include <string>
#include <vector>

#include <lepus/geometry.h>

namespace lepus::test_scans {

// n angles from `first` over `range` degrees, the end left out.
inline std::vector<double> angles(int n, double range_deg, double first_deg = 0) {
  std::vector<double> a;
  for (int i = 0; i < n; ++i) a.push_back(radians(first_deg + range_deg * i / n));
  return a;
}

// One row, source-axis 200 mm, source-detector 300 mm, 128 columns of 1.2 mm (0.8 mm at the axis): half fan angle 14.4
// degrees, field of view 49.6 mm.
inline CircularScan fan(std::vector<double> angles_rad, Beam beam = Beam::fan) {
  CircularScan s;
  s.beam = beam;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = 128;
  s.rows = 1;
  s.pixel_width_mm = s.pixel_height_mm = beam == Beam::parallel ? 0.8 : 1.2;
  s.angles_rad = std::move(angles_rad);
  return s;
}

inline CircularScan with(CircularScan s, double shift_mm, double axis_mm) {
  s.detector_shift_u_mm = shift_mm;
  s.axis_offset_mm = axis_mm;
  return s;
}

inline CircularScan without_views(CircularScan s, int first, int last) {
  s.angles_rad.erase(s.angles_rad.begin() + first, s.angles_rad.begin() + last);
  return s;
}

struct Named {
  std::string name;
  CircularScan scan;
};

}  // namespace lepus::test_scans
