// SPDX-License-Identifier: Apache-2.0
// Lines that were measured from both ends, compared: view beta at the fan angle gamma sees the line that view beta + pi
// + 2 gamma sees at -gamma. Line integrals of one detector row, the geometry, and an assumption about what may be wrong
// with it -> how far both measurements differ.
#pragma once

#include <cstdint>
#include <vector>

#include "filter/view_rays.h"

namespace lepus {

// What the scan file may have wrong. As it stands: everything is as given.
struct RayAssumption {
  bool backwards = false;    // the angles run the other way
  bool mirrored = false;     // the columns do
  double pixel_scale = 1;    // pixels are so much wider
  double shift_columns = 0;  // the axis is seen so many columns further than the geometry says
};

struct RayAgreement {
  double value = 1;              // mean squared difference over the variance: 0 agree, 1 unrelated
  double noise = 0;              // what of it differs from view to view already
  double stripes = 0;            // what of it is the same in all views, as where gains of columns are off
  std::int64_t lines = 0;        // that were compared
  std::vector<double> per_view;  // the value by views that have lines
};

// Standard error of the value.
double error_of(const RayAgreement& agreement);

class OppositeRays {
public:
  // sinogram: views x columns, of row `row`.
  OppositeRays(const ScanGeometry& geometry, std::int64_t row, const float* sinogram);

  // With at most so many views' lines (0: of all).
  RayAgreement compare(const RayAssumption& assumption, std::int64_t maximum_views = 0) const;

private:
  struct Placed {
    double angle;
    std::size_t view;
  };
  struct Assumed;

  double value(std::size_t view, std::int64_t column) const {
    return sinogram_[view * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
  }
  double noise_at(const std::vector<std::size_t>& order, std::size_t place, std::int64_t column) const;

  std::int64_t columns_;
  double row_;
  std::vector<float> sinogram_;  // smoothed
  std::vector<ViewRays> views_;
  std::vector<std::size_t> by_angle_, by_frame_, place_by_angle_;
};

}  // namespace lepus
