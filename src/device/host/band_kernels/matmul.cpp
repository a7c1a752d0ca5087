// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/matmul.h"

#include <algorithm>
#include <vector>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/band_kernels/matmul.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lepus::rings {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

// Four rows of C from column x on, two vectors of each: then every load of B serves four rows, and the eight sums hide
// the latency of the multiply-adds. Rows past the last repeat the first and are not stored.
HWY_INLINE void block(const Product& p, std::int64_t row, std::int64_t x) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t left = p.m - row;
  const float* a0 = p.a + row * p.a_row;
  const float* a1 = a0 + (left > 1 ? p.a_row : 0);
  const float* a2 = a0 + (left > 2 ? 2 * p.a_row : 0);
  const float* a3 = a0 + (left > 3 ? 3 * p.a_row : 0);
  auto s00 = hn::Zero(d), s01 = hn::Zero(d), s10 = hn::Zero(d), s11 = hn::Zero(d);
  auto s20 = hn::Zero(d), s21 = hn::Zero(d), s30 = hn::Zero(d), s31 = hn::Zero(d);
  const float* b = p.b + x;
  for (std::int64_t k = 0; k < p.k; ++k, b += p.b_row) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
    const auto f0 = hn::Set(d, a0[k * p.a_column]), f1 = hn::Set(d, a1[k * p.a_column]);
    const auto f2 = hn::Set(d, a2[k * p.a_column]), f3 = hn::Set(d, a3[k * p.a_column]);
    s00 = hn::MulAdd(f0, b0, s00);
    s01 = hn::MulAdd(f0, b1, s01);
    s10 = hn::MulAdd(f1, b0, s10);
    s11 = hn::MulAdd(f1, b1, s11);
    s20 = hn::MulAdd(f2, b0, s20);
    s21 = hn::MulAdd(f2, b1, s21);
    s30 = hn::MulAdd(f3, b0, s30);
    s31 = hn::MulAdd(f3, b1, s31);
  }
  const auto store = [&](std::int64_t r, auto s0, auto s1) HWY_ATTR {
    if (r >= left) return;
    float* c = p.c + (row + r) * p.c_row + x;
    hn::StoreU(p.subtract ? hn::Sub(hn::LoadU(d, c), s0) : s0, d, c);
    hn::StoreU(p.subtract ? hn::Sub(hn::LoadU(d, c + lanes), s1) : s1, d, c + lanes);
  };
  store(0, s00, s01);
  store(1, s10, s11);
  store(2, s20, s21);
  store(3, s30, s31);
}

void product(const Product& p) {
  const auto step = static_cast<std::int64_t>(2 * hn::Lanes(Floats()));
  const std::int64_t whole = p.n / step * step, rest = p.n - whole;
  for (std::int64_t x = 0; x < whole; x += step)
    for (std::int64_t row = 0; row < p.m; row += 4) block(p, row, x);
  if (rest == 0) return;
  // The last columns, in copies that have whole vectors.
  std::vector<float> b(static_cast<std::size_t>(p.k * step), 0.0F), c(static_cast<std::size_t>(p.m * step), 0.0F);
  for (std::int64_t k = 0; k < p.k; ++k) std::copy_n(p.b + k * p.b_row + whole, rest, b.data() + k * step);
  for (std::int64_t row = 0; row < p.m; ++row) std::copy_n(p.c + row * p.c_row + whole, rest, c.data() + row * step);
  Product last = p;
  last.b = b.data();
  last.b_row = step;
  last.c = c.data();
  last.c_row = step;
  for (std::int64_t row = 0; row < p.m; row += 4) block(last, row, 0);
  for (std::int64_t row = 0; row < p.m; ++row) std::copy_n(c.data() + row * step, rest, p.c + row * p.c_row + whole);
}

void scaled(float factor, const float* x, float* y, std::int64_t n) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto f = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::rings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::rings {

HWY_EXPORT(product);
HWY_EXPORT(scaled);

void multiply(const Product& p) { HWY_DYNAMIC_DISPATCH(product)(p); }
void add_scaled(float factor, const float* x, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(scaled)(factor, x, y, n);
}

}  // namespace lepus::rings
#endif
