// SPDX-License-Identifier: Apache-2.0
// The whole number beside a float, by two fast instructions: adding 1.5 x 2^23, rounded down or up, leaves it in the
// lowest bits of the sum. Conversions have an eighth of their rate. For |x| < 2^22.
#pragma once

namespace lepus::cuda {

inline constexpr float whole_shift = 12582912.0f;
inline constexpr int whole_shift_bits = 0x4B400000;

__device__ inline int floor_of(float x) { return __float_as_int(__fadd_rd(x, whole_shift)) - whole_shift_bits; }
__device__ inline int ceil_of(float x) { return __float_as_int(__fadd_ru(x, whole_shift)) - whole_shift_bits; }

}  // namespace lepus::cuda
