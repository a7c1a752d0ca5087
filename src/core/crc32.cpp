// SPDX-License-Identifier: Apache-2.0
#include "core/crc32.h"

#include <array>

namespace lepus {

std::uint32_t crc32(std::uint32_t before, const void* data, std::int64_t bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t c = ~before;
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::int64_t i = 0; i < bytes; ++i) c = table[(c ^ byte[i]) & 0xFF] ^ (c >> 8);
  return ~c;
}

}  // namespace lepus
