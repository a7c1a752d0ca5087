// SPDX-License-Identifier: Apache-2.0
// The size of a value of rows and volumes, signed like all sizes here.
#pragma once

#include <cstdint>

namespace lepus {

inline constexpr std::int64_t float_bytes = sizeof(float);

}  // namespace lepus
