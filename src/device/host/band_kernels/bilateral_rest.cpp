// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/bilateral_rest.h"

#include <algorithm>

#include "device/host/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/host/band_kernels/bilateral_rest.cpp"
#include "hwy/foreach_target.h"

#include "device/host/band_kernels/row_kernels-inl.h"
#include "hwy/highway.h"

#ifndef LEPUS_CORRECT_RINGS_REST_ROW
#define LEPUS_CORRECT_RINGS_REST_ROW
namespace lepus::rings {
struct RestRow {
  const float* line;  // pixel x of the row; margins on both sides
  float* weights;     // of x = 0, k = 0
  const float* exponents;
  float* rest;
  std::int64_t width, taps, stride;
  float falloff;
};
}  // namespace lepus::rings
#endif

HWY_BEFORE_NAMESPACE();
namespace lepus::rings {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using filters::HWY_NAMESPACE::exp2_of;
using filters::HWY_NAMESPACE::Floats;
using filters::HWY_NAMESPACE::VF;

// From left to right: the weights towards the right are computed and kept, those towards the left were kept. Two
// vectors at a time hide the latency of the exponential.
void rest_of_row(const RestRow& r) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF steep = hn::Set(d, r.falloff);
  for (std::int64_t x = 0; x < r.width; x += 2 * lanes) {
    const float* at = r.line + x;
    const VF c0 = hn::LoadU(d, at), c1 = hn::LoadU(d, at + lanes);
    // Sums start next to nothing and not at zero: products of the smallest weights are no normal numbers, which cost
    // time.
    VF sum0 = hn::Set(d, 1e-30f), sum1 = sum0, total0 = hn::Set(d, 1.0f), total1 = total0;
    float* kept = r.weights + x;
    for (std::int64_t k = 1; k <= r.taps; ++k, kept += r.stride) {
      const VF exponent = hn::Set(d, r.exponents[k - 1]);
      const VF right0 = hn::Sub(c0, hn::LoadU(d, at + k)), right1 = hn::Sub(c1, hn::LoadU(d, at + k + lanes));
      const VF w0 = exp2_of(hn::NegMulAdd(hn::Mul(right0, right0), steep, exponent));
      const VF w1 = exp2_of(hn::NegMulAdd(hn::Mul(right1, right1), steep, exponent));
      hn::StoreU(w0, d, kept);
      hn::StoreU(w1, d, kept + lanes);
      sum0 = hn::MulAdd(w0, right0, sum0);
      sum1 = hn::MulAdd(w1, right1, sum1);
      total0 = hn::Add(total0, w0);
      total1 = hn::Add(total1, w1);
    }
    // A loop of its own: these loads overlap the stores above, and would wait for them.
    kept = r.weights + x;
    for (std::int64_t k = 1; k <= r.taps; ++k, kept += r.stride) {
      const VF w0 = hn::LoadU(d, kept - k), w1 = hn::LoadU(d, kept - k + lanes);
      sum0 = hn::MulAdd(w0, hn::Sub(c0, hn::LoadU(d, at - k)), sum0);
      sum1 = hn::MulAdd(w1, hn::Sub(c1, hn::LoadU(d, at - k + lanes)), sum1);
      total0 = hn::Add(total0, w0);
      total1 = hn::Add(total1, w1);
    }
    hn::StoreU(hn::Div(sum0, total0), d, r.rest + x);
    hn::StoreU(hn::Div(sum1, total1), d, r.rest + x + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lepus::rings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lepus::rings {
namespace {

constexpr std::int64_t slack = 64;  // floats that two vectors may reach past the end
constexpr double log2_e = 1.4426950408889634;
// Beyond the right end; its squared difference, over sigma_value^2, gives the smallest weight or is infinite and does.
constexpr float nowhere = 1e15F;

std::int64_t whole_lines(std::int64_t n) { return (n + 15) / 16 * 16; }
// An odd number of cache lines: rows of weights do not meet in the same place of a cache.
std::int64_t stride_of(std::int64_t n) { return whole_lines(n) / 16 % 2 == 0 ? whole_lines(n) + 16 : whole_lines(n); }

}  // namespace

HWY_EXPORT(rest_of_row);

std::int64_t BilateralRest::floats(std::int64_t width, std::int64_t radius) {
  const std::int64_t taps = std::min(radius, width - 1), length = stride_of(width + whole_lines(taps) + taps + slack);
  return length * (taps + 1) + width + taps + slack;
}

BilateralRest::BilateralRest(std::int64_t width, std::int64_t radius, double sigma, double sigma_value)
    : width_(width),
      taps_(std::min(radius, width - 1)),
      margin_(whole_lines(taps_)),
      stride_(stride_of(margin_ + width + taps_ + slack)),
      falloff_(static_cast<float>(log2_e / (2 * sigma_value * sigma_value))),
      exponents_(std::max<std::int64_t>(taps_, 1)),
      line_(stride_),
      weights_(stride_ * std::max<std::int64_t>(taps_, 1)),
      rest_(width + slack) {
  for (std::int64_t k = 1; k <= taps_; ++k)
    exponents_[k - 1] = static_cast<float>(-log2_e * static_cast<double>(k * k) / (2 * sigma * sigma));
  std::fill(weights_.begin(), weights_.end(), 0.0F);
  std::fill_n(line_.data(), margin_, 0.0F);
  std::fill(line_.data() + margin_, line_.end(), nowhere);
}

void BilateralRest::apply(const float* row) {
  std::copy_n(row, width_, line_.data() + margin_);
  HWY_DYNAMIC_DISPATCH(rest_of_row)
  ({line_.data() + margin_, weights_.data() + margin_, exponents_.data(), rest_.data(), width_, taps_, stride_,
    falloff_});
}

}  // namespace lepus::rings
#endif
