// SPDX-License-Identifier: Apache-2.0
// A 5 x 7 bitmap font for labels in pictures: printable ASCII; any other character is drawn as a question mark.
#pragma once

#include <cstdint>

namespace lepus {

inline constexpr int glyph_width = 5, glyph_height = 7;

bool glyph_pixel(char character, int column, int row);

}  // namespace lepus
