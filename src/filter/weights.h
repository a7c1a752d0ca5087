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

#include <lepus/geometry.h>

namespace lepus {

enum class Coverage { full, over_full, short_scan, half_fan, parallel_half_turn, limited };

struct WeightOptions {
  bool redundancy = true;  // false: every ray counts 1/2 (for tests and iterative methods)
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
  // Multiplies rows [row0, row1) of a view, u fastest, by their weights. Thread-safe. The same bits whatever the cut.
  void apply(std::int64_t view, std::int64_t row0, std::int64_t row1, float* rows) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus
