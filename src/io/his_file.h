// SPDX-License-Identifier: Apache-2.0
// The header of Elekta's .his files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lepus {

inline constexpr std::int64_t his_header_bytes = 68;
inline constexpr std::string_view his_signature("\0\x70\x44\0", 4);

struct HisHeader {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;  // corners, both included
  std::int64_t frames = 0, type = 0, data_offset = 0;
  std::int64_t columns = 0, rows = 0;
};
HisHeader read_his_header(const std::filesystem::path& path);  // Error(input): another file, cut off

// One image of counts, bright where the beam is open, as such a file.
std::string his_bytes(std::int64_t columns, std::int64_t rows, const std::uint16_t* counts);

}  // namespace lepus
