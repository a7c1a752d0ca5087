// SPDX-License-Identifier: Apache-2.0
// Pictures: 8-bit grey and RGB images -> PNG files.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lepus {

bool png_available();

// rows x columns bytes, row 0 on top. Written beside and renamed; Error(disk) where the file exists (without force).
void write_png_grey(const std::filesystem::path& path, std::int64_t columns, std::int64_t rows,
                    const std::uint8_t* pixels, bool force = false);
// rows x columns x 3 bytes: red, green, blue.
void write_png_rgb(const std::filesystem::path& path, std::int64_t columns, std::int64_t rows,
                   const std::uint8_t* pixels, bool force = false);

}  // namespace lepus
