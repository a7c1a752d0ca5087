// SPDX-License-Identifier: Apache-2.0
#include "simulate/random.h"

#include <cmath>

#include <lepus/math.h>

namespace lepus {
namespace {

// ln(k!) by Stirling's series; below 10 from a table. Error under 1e-13 (the next term is 1/(1680 k^7)).
double log_factorial(double k) {
  static constexpr double small[10] = {0.0,
                                       0.0,
                                       0.69314718055994530942,
                                       1.79175946922805500081,
                                       3.17805383034794561965,
                                       4.78749174278204599425,
                                       6.57925121201010099506,
                                       8.52516136106541430017,
                                       10.60460290274525022842,
                                       12.80182748008146961121};
  if (k < 10) return small[static_cast<int>(k)];
  const double inverse = 1 / (k + 1), inverse2 = inverse * inverse;
  return (k + 0.5) * std::log(k + 1) - (k + 1) + 0.91893853320467274178 +
         inverse * (1.0 / 12 - inverse2 * (1.0 / 360 - inverse2 * (1.0 / 1260 - inverse2 / 1680)));
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0], b = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

std::uint32_t Random::bits() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;
  return (static_cast<double>(high * 67108864u + low) + 0.5) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * pi * uniform());
}

std::uint64_t Random::poisson(double mean) {
  if (!(mean > 0)) return 0;
  if (mean < 10) {
    const double u = uniform();
    double p = std::exp(-mean), sum = p;
    std::uint64_t k = 0;
    while (u > sum && k < 200) {  // 200 is never reached: the tail beyond 100 is below 1e-60
      ++k;
      p *= mean / static_cast<double>(k);
      sum += p;
    }
    return k;
  }
  const double root = std::sqrt(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b,
               inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = std::log(mean);
  while (true) {
    const double u = uniform() - 0.5, v = uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return static_cast<std::uint64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= -mean + k * log_mean - log_factorial(k))
      return static_cast<std::uint64_t>(k);
  }
}

}  // namespace lepus
