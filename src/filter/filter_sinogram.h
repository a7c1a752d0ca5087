// SPDX-License-Identifier: Apache-2.0
// One detector row of all views, weighted and filtered as FDK does it: what a slice in its plane is made from where a
// search or a fit needs only that.
#pragma once

#include <cstdint>
#include <vector>

#include "core/threads.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include <lepus/geometry.h>

namespace lepus {

struct FilteredSinogram {
  ScanGeometry geometry;     // as wide as the rows
  std::int64_t columns = 0;  // with the padding of half-fan scans
  std::vector<float> rows;   // views x (columns + 2): a zero on both sides
  const float* of_view(std::int64_t view) const { return rows.data() + view * (columns + 2) + 1; }
};

// sinogram: views x geometry.columns line integrals of detector row `row`.
FilteredSinogram filter_sinogram(const ScanGeometry& geometry, const FdkWeights& weights, const RampOptions& ramp,
                                 const float* sinogram, std::int64_t row, ThreadPool& threads);

}  // namespace lepus
