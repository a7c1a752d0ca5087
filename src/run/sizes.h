// SPDX-License-Identifier: Apache-2.0
// Arithmetic that both planners do.
#pragma once

#include <cstdint>

namespace lepus {

inline constexpr std::int64_t float_bytes = sizeof(float);

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace lepus
