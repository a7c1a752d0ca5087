// SPDX-License-Identifier: Apache-2.0
// Numbers in a little-endian file -> numbers in memory, and back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace lepus::rabbitct {

// In place; nothing to do on the machines of today.
template <class T>
void to_or_from_little_endian(T* values, std::int64_t count) {
  if constexpr (std::endian::native == std::endian::big)
    for (std::int64_t i = 0; i < count; ++i) {
      auto* bytes = reinterpret_cast<unsigned char*>(values + i);
      std::reverse(bytes, bytes + sizeof(T));
    }
}

template <class T>
T little_endian_at(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  to_or_from_little_endian(&value, 1);
  return value;
}

template <class T>
void append_little_endian(std::string& bytes, T value) {
  to_or_from_little_endian(&value, 1);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace lepus::rabbitct
