// SPDX-License-Identifier: Apache-2.0
// For the tests of phase retrieval on host and device: how far its result is from the definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "correct/beam/phase_reference.h"
#include "correct/beam/test_bands.h"

namespace lepus::test_bands {

// out: [row][view][column], like the scan; a_v, a_u: strengths along columns and rows. NaN where any value is.
inline double worst_phase_difference(const std::vector<float>& out, const TestScan& scan, double a_v, double a_u) {
  double worst = 0;
  for (std::int64_t view = 0; view < scan.views; ++view) {
    const std::vector<double> expected = paganin_reference(scan.frame(view), scan.columns, a_v, a_u);
    for (std::int64_t row = 0; row < scan.rows; ++row)
      for (std::int64_t x = 0; x < scan.columns; ++x) {
        const double difference = out[static_cast<std::size_t>((row * scan.views + view) * scan.columns + x)] -
                                  expected[static_cast<std::size_t>(row * scan.columns + x)];
        if (std::isnan(difference)) return difference;
        worst = std::max(worst, std::abs(difference));
      }
  }
  return worst;
}

}  // namespace lepus::test_bands
