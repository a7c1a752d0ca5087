// SPDX-License-Identifier: Apache-2.0
// Which numbers of the random generator belong to what: one stream each, so that switching one fault on leaves the
// noise of the others as it was.
#pragma once

#include <cstdint>

namespace lepus::streams {

inline constexpr std::uint32_t view_noise = 10, flat_noise = 11, dark_noise = 12, gain = 13, offset = 14,
                               hot_pixels = 15, dead_pixels = 16, dead_columns = 17, beam = 18, jitter = 19;

}  // namespace lepus::streams
