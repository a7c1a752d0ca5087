// SPDX-License-Identifier: Apache-2.0
// The ramp filter's problem, for host and device: 16-bit counts that differ in every pixel -> line integrals -> weights
// -> ramp filter; some rows in double precision from the definition.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/suite/parts.h"
#include "device/row_filter.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "preprocess/normalise.h"

namespace lepus::bench {

class FilterProblem {
public:
  explicit FilterProblem(const Run::Views& views);

  const ScanGeometry geometry;
  const FdkWeights weights;
  const Normalisation normalisation;
  const RampOptions ramp;

  RowFilterSetup setup() const;  // of 16-bit counts; without the order of views
  std::uint16_t count_at(std::int64_t view, std::int64_t row, std::int64_t column) const;
  void fill(std::int64_t view, std::uint16_t* frame) const;
  // rows(view, row) hands out a filtered row; the rms difference from double precision over the largest value.
  double error_of(const std::function<std::vector<float>(std::int64_t view, std::int64_t row)>& rows) const;
  double pixels() const { return static_cast<double>(geometry.columns * geometry.rows * geometry.views()); }
};

// Group, unit and verdict; the rate is in 10^9 pixels a second.
measure::Figure filter_figure(const FilterProblem& problem, double error);

}  // namespace lepus::bench
