// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 and float, by their bits: no compiler of ours has the type on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace lepus {

inline constexpr float largest_half = 65504;

// To the nearest, ties to even; what is larger than the largest becomes infinite, NaN stays NaN. All cases are computed
// and one is chosen, so that loops become vector code.
inline std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  // Below 2^-14, where halves are multiples of 2^-24: the sum's unit in the last place is that, so that it rounds.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  // The exponent's offset is smaller by 112; half of a unit, less a bit where the last kept one is 0, rounds to even. A
  // carry goes on into the exponent, where it belongs.
  const std::uint32_t even = magnitude >> 13 & 1;
  std::uint32_t half = (magnitude - (112U << 23) + 0xfff + even) >> 13;
  half = magnitude < 0x38800000 ? small : half;
  half = magnitude >= 0x47800000 ? 0x7c00 : half;  // 2^16 and more
  half = magnitude > 0x7f800000 ? 0x7e00 : half;
  return static_cast<std::uint16_t>(sign | half);
}

// Many of them; what is larger than the largest becomes the largest. Returns how many were, NaN not counted.
std::int64_t halves_from_floats(const float* values, std::int64_t count, std::uint16_t* halves);

inline float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
}

// A number in a file.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(double value) : bits(half_from_float(static_cast<float>(value))) {}
  explicit operator float() const { return float_from_half(bits); }
  explicit operator double() const { return static_cast<double>(float_from_half(bits)); }
};

}  // namespace lepus
