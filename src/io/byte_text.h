// SPDX-License-Identifier: Apache-2.0
// Numbers in the bytes of a binary header, little-endian as the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace lepus {

static_assert(std::endian::native == std::endian::little, "headers are read and written as the host has its numbers");

// The number at `offset`, which the caller knows to lie inside.
template <class Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<Number>);
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <class Number>
void append_number(std::string& bytes, Number number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// A text of fixed length up to its first zero byte.
inline std::string text_at(std::string_view bytes, std::size_t offset, std::size_t length) {
  const std::string_view part = bytes.substr(offset, length);
  return std::string(part.substr(0, part.find('\0')));
}

}  // namespace lepus
