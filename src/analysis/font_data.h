// SPDX-License-Identifier: Apache-2.0
// The bytes of share/fonts/Roboto-Regular-subset.ttf, put into the library when it is built.
#pragma once

#include <span>

namespace lepus {

extern const std::span<const unsigned char> font_data;

}  // namespace lepus
