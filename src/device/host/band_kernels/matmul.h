// SPDX-License-Identifier: Apache-2.0
// A product of small matrices in float on one thread, for every SIMD target.
#pragma once

#include <cstdint>

namespace lepus::rings {

// C = A B, or C = C - A B where `subtract`. A is m x k with element (i, j) at a[i * a_row + j * a_column], B is k x n
// and C m x n with rows b_row and c_row floats apart. An element of C is one sum in the order of k, whatever the sizes.
struct Product {
  const float* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t m = 0, k = 0, n = 0;
  bool subtract = false;
};
void multiply(const Product& product);

// y[i] += factor * x[i] for i in [0, n).
void add_scaled(float factor, const float* x, float* y, std::int64_t n);

}  // namespace lepus::rings
