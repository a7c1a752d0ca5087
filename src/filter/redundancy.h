// SPDX-License-Identifier: Apache-2.0
// How the measurements of one line share its weight. A ray of view angle beta at the fan angle gamma (both
// counter-clockwise) passes the axis at the signed distance rho = R sin(gamma); the same line is seen the other way
// round at beta + pi + 2 gamma with -gamma and -rho. Each gets its own confidence over the sum of both, so that they
// add up to 1:
//   m = c / (c + c'),   c = step(x / d) b(rho),   d = min(x + x', 60 degrees)
// x: distance of the view from the nearest end of its arc; b: 1, but falling to 0 at the detector's nearer edge. With
// one arc of pi + 2 Delta this is Parker's weight (1982) in Silver's form (2000); over a full turn, Wang's (2002).
// docs/filters.md derives it.
#pragma once

#include <cstdint>
#include <vector>

#include "filter/view_arcs.h"

namespace lepus {

// How far every view sees to both sides of the axis; the detector's confidence b(rho).
struct DetectorReach {
  double longer_mm = 0, shorter_mm = 0;
  double longer_side = 1;  // sign of rho there
  double fade_mm = 0;      // width over which b rises from 0 at -shorter_mm; 0: b = 1 everywhere

  bool feathered() const { return fade_mm > 0; }
  double confidence(double rho_mm) const;
};

DetectorReach detector_reach(double positive_mm, double negative_mm);

// The widest fade at the end of an arc: Parker's weights reach all over the arc that is seen twice, which costs noise
// where that is long.
inline constexpr double widest_fade_rad = 1.0471975511965976;  // 60 degrees

class Redundancy {
public:
  Redundancy() = default;
  // angles: of the views; every ray counts `constant` where that is positive.
  Redundancy(std::vector<double> angles_rad, ViewArcs arcs, DetectorReach reach, double constant);

  double at(std::int64_t view, double gamma_rad, double rho_mm) const;

  // The same in single precision for n rays of one view: gamma[i] is needed where needs_gamma, rho[i] where needs_rho.
  // `lowest` and `highest` are the view's fan angles.
  struct Row {
    bool varies = false, needs_gamma = false, needs_rho = false;
    float constant = 1;
    float margin = 0;
    std::vector<Arc> partners;  // where -pi - beta + the opposite view's angle = 2 gamma may lie
  };
  Row row(std::int64_t view, double lowest_gamma, double highest_gamma) const;
  void fill(const Row& row, std::int64_t n, const float* gamma, const float* rho, float* weight) const;

  const ViewArcs& arcs() const { return arcs_; }
  const DetectorReach& reach() const { return reach_; }

private:
  std::vector<double> angles_;
  ViewArcs arcs_;
  DetectorReach reach_;
  double constant_ = 0;
};

}  // namespace lepus
