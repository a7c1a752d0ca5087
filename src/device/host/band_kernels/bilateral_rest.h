// SPDX-License-Identifier: Apache-2.0
// What a bilateral filter along a row takes away, row - filter(row), with the mask cut off at the row's ends: the same
// formula as correct/filters, but two pixels share the weight between them, so that half of the exponentials do.
#pragma once

#include <cstdint>

#include "core/memory.h"

namespace lepus::rings {

class BilateralRest {
public:
  BilateralRest(std::int64_t width, std::int64_t radius, double sigma, double sigma_value);
  static std::int64_t floats(std::int64_t width, std::int64_t radius);  // that it holds
  void apply(const float* row);
  const float* rest() const { return rest_.data(); }  // [0 .. width)

private:
  std::int64_t width_, taps_, margin_, stride_;
  float falloff_;            // of the exponent with the squared difference
  Buffer<float> exponents_;  // to base 2, of the weight at distance k + 1
  Buffer<float> line_;       // the row between two margins
  Buffer<float> weights_;    // between pixels x and x + k + 1: [k][margin + x]; zero in the margin
  Buffer<float> rest_;
};

}  // namespace lepus::rings
