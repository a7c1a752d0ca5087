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
#include "project/ray_weight.h"

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

class Redundancy {
public:
  Redundancy() = default;
  // angles: of the views; every ray counts `constant` where that is positive.
  Redundancy(std::vector<double> angles_rad, ViewArcs arcs, DetectorReach reach, double constant);

  double at(std::int64_t view, double gamma_rad, double rho_mm) const;

  // The same in single precision, ray by ray, is ray_redundancy of project/ray_weight.h. This fills in what it needs of
  // a view whose fan angles are given; arcs are appended to `partners`.
  void describe(std::int64_t view, double lowest_gamma, double highest_gamma, ViewWeight& weight,
                std::vector<PartnerArc>& partners) const;
  void describe(WeightShape& shape) const;

  const ViewArcs& arcs() const { return arcs_; }
  const DetectorReach& reach() const { return reach_; }

private:
  std::vector<double> angles_;
  ViewArcs arcs_;
  DetectorReach reach_;
  double constant_ = 0;
};

}  // namespace lepus
