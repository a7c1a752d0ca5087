// SPDX-License-Identifier: Apache-2.0
// What every measured ray is multiplied by before the ramp filter, from the true geometry of each view, so that
//   f(x) = sum over views of  1/w^2 * ramp(weight * p)(u, v)      [1/mm]
// weight = share of the arc * redundancy (1/2, Parker, displaced detector) * cosine and pitch. docs/filters.md derives
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "project/ray_weight.h"
#include <lepus/geometry.h>

namespace lepus {

enum class Coverage { full, over_full, short_scan, half_fan, parallel_half_turn, limited };

struct WeightOptions {
  bool redundancy = true;  // false: every ray counts 1/2 (for tests and iterative methods)
};

// Columns of zeros beside the detector.
struct ColumnPadding {
  std::int64_t left = 0, right = 0;
};

// The parameters of project/ray_weight.h for every view.
struct RayWeights {
  WeightShape shape;
  std::vector<ViewWeight> views;
  std::vector<PartnerArc> partners;  // of all views
};

class FdkWeights {
public:
  explicit FdkWeights(const ScanGeometry& geometry, const WeightOptions& options = {});
  ~FdkWeights();
  FdkWeights(FdkWeights&&) noexcept;
  FdkWeights& operator=(FdkWeights&&) noexcept;

  Coverage coverage() const;
  double arc_rad() const;                                  // total arc that the views cover
  std::vector<std::string> warnings() const;               // limited arc, gaps, ...
  double at(std::int64_t view, double u, double v) const;  // the double-precision reference
  // Two of its factors: how the measurements of one line share its weight (they add up to 1; a full turn: 1/2 each),
  // and the view's share of the arc.
  double redundancy(std::int64_t view, double u, double v) const;
  double share_rad(std::int64_t view) const;
  // A half-fan scan sees part of its field of view from one side only. What the ramp filter spreads beyond the near
  // edge of the detector belongs to the sum there: put this many zeros beside each weighted row, filter rows of
  // left + columns + right, and backproject them with padded(geometry, padding()). Zero in all other scans.
  ColumnPadding padding() const;
  // Multiplies rows [row0, row1) of a view, u fastest, by their weights. Thread-safe. The same bits whatever the cut.
  void apply(std::int64_t view, std::int64_t row0, std::int64_t row1, float* rows) const;

  // What apply computes with, for devices that do the same.
  const RayWeights& rays() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same scan with a wider detector, for the ramp filter and the backprojection (not for the weights).
ScanGeometry padded(const ScanGeometry& geometry, ColumnPadding padding);

}  // namespace lepus
