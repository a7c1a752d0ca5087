// SPDX-License-Identifier: Apache-2.0
// Pictures: 8-bit grey and RGB images -> PNG files, or their bytes.
#pragma once

#include <cstdint>
#include <string>

namespace lepus {

bool png_available();

// rows x columns bytes, row 0 on top. `name` is for messages.
std::string png_of_grey(std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels, const std::string& name);
// rows x columns x 3 bytes: red, green, blue.
std::string png_of_rgb(std::int64_t columns, std::int64_t rows, const std::uint8_t* pixels, const std::string& name);

}  // namespace lepus
