// SPDX-License-Identifier: Apache-2.0
// Which part of the circle the views cover, and how much of it each stands for. Angles of the views, in radians, in the
// order of acquisition, any spacing -> shares of the arc, and the arcs between gaps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lepus {

// A stretch of the circle without gaps; it reaches half a step beyond its first and its last view. end may exceed the
// period.
struct Arc {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

struct ViewArcs {
  double period = 0;              // 2 pi, or pi where views half a turn apart count as the same
  double step = 0;                // the usual distance of neighbours (median)
  double covered = 0;             // total, more than the period where the scan goes on past it
  bool overlapping = false;       // the scan goes on past its period
  std::vector<double> share;      // per view, in radians; they add up to `covered`, or to the period where that is less
  std::vector<double> margin;     // per view: distance to the nearest end of its arc; infinite where there is none
  std::vector<Arc> arcs;          // between the gaps, begin in [0, period); empty where there are no gaps
  std::vector<std::string> gaps;  // the gaps in words

  bool closed() const { return arcs.empty(); }
  double largest_gap() const;
};

// Gaps up to `bridged_rad` (and those that the spacing explains) are shared out among the neighbours.
ViewArcs view_arcs(const std::vector<double>& angles_rad, double period, double bridged_rad = 0);

}  // namespace lepus
