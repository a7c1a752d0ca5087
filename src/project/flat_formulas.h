// SPDX-License-Identifier: Apache-2.0
// The open beam of a view between two flats, written once for host and device.
#pragma once

#include <cstdint>

#include "project/host_device.h"

namespace lepus {

// Between which two flats a view lies, and how near it is to the second.
struct FlatShare {
  std::int32_t before = 0, after = 0;
  float share = 0;  // of `after`; 0 where both are the same
};

// I0 of a pixel of value `before` in one flat and `after` in the next; written once for host and device.
LEPUS_HD inline float interpolated_flat(float before, float after, float share) {
  return before + share * (after - before);
}

// What a grey level made with `mean` is multiplied with to be one made with `flat`; 1 where the pixel is dead.
LEPUS_HD inline float flat_factor(float mean, float flat) { return mean > 0 && flat > 0 ? mean / flat : 1.0F; }

}  // namespace lepus
