// SPDX-License-Identifier: Apache-2.0
// A stripe's share of a column from the column's sums over the views, written once for host and device.
#pragma once

#include "project/host_device.h"

namespace lepus::rings {

// Stripes that are factors: what the column is to be multiplied with. 1 where nothing can be said.
LEPUS_HD inline double gain_repair(double sum, double smooth_sum) {
  return sum > 0 && smooth_sum > 0 ? smooth_sum / sum : 1.0;
}

}  // namespace lepus::rings
