// SPDX-License-Identifier: Apache-2.0
// Counts, grey levels and line integrals of one pixel, written once for host and device. I0 = flat - dark; grey level
// g = (I - dark) / I0, 1 in the open beam; line integral p = -ln g. Counts are clipped from below: at `clip` nothing is
// measured any more.
#pragma once

#include <cmath>

#include "project/host_device.h"

namespace lepus {

// What is not a number stays so on the host; a card's own maximum takes the other operand.
LEPUS_HD inline float at_least(float value, float lowest) {
#ifdef __CUDA_ARCH__
  return fmaxf(value, lowest);
#else
  return value < lowest ? lowest : value;
#endif
}

LEPUS_HD inline float counts_above_dark(float counts, float dark, float clip) { return at_least(counts - dark, clip); }
// What counts above the dark are multiplied with to become grey levels.
LEPUS_HD inline float grey_factor(float log_i0) { return std::exp(-log_i0); }
LEPUS_HD inline float line_of_counts(float above_dark, float log_i0) { return log_i0 - std::log(above_dark); }
// No beam is a thousand million times the open one: values below, such as -999 for pixels that were not measured, would
// overflow, here or in sums of squares. What is not a number stays so everywhere. Also in
// opencl/kernels/band_stages.cl.
inline constexpr float lowest_line = -20.7F;
LEPUS_HD inline float grey_of_line(float line) { return std::exp(-(line < lowest_line ? lowest_line : line)); }
LEPUS_HD inline float line_of_grey(float grey, float lowest) { return -std::log(at_least(grey, lowest)); }

}  // namespace lepus
