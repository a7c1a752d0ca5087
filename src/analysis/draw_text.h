// SPDX-License-Identifier: Apache-2.0
// Text in pictures: UTF-8 in the font that is part of the library (share/fonts), anti-aliased and kerned. Glyphs are
// not fitted to pixels, so that the same text has the same width and the same look on every machine.
#pragma once

#include <string>

#include "analysis/picture.h"

namespace lepus {

struct TextStyle {
  double size_px = 16;  // of the em; digits and capitals are 0.71 of it high
  Colour colour{20, 20, 20};
};

// Of one line: room for accents above and tails below, the distance from one line to the next.
std::int64_t line_height(const TextStyle& style);

std::int64_t text_width(const std::string& text, const TextStyle& style);

// One line; (x, y) is its top left corner. What lies outside the picture is left out. A box stands for a character that
// the font does not have, a question mark on a dark lozenge for bytes that are not UTF-8.
void draw_text(Picture& picture, const std::string& text, std::int64_t x, std::int64_t y, const TextStyle& style);

// "-1.5e-03" with minus signs, which are as wide as digits, instead of hyphens.
std::string with_minus_signs(const std::string& number);

}  // namespace lepus
