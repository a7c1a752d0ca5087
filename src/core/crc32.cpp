// SPDX-License-Identifier: Apache-2.0
#include "core/crc32.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace lepus {

static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");

namespace {

constexpr std::uint32_t polynomial = 0xEDB88320;

// Polynomials over two elements, the highest bit for x^0, modulo the checksum's own; a is not zero.
std::uint32_t product_modulo(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1, b = b & 1 ? polynomial ^ (b >> 1) : b >> 1)
    if (a >> 31) sum ^= b;
  return sum;
}

}  // namespace

std::uint32_t crc32(std::uint32_t before, const void* data, std::int64_t bytes) {
  // Eight bytes at a time: table k has the sum of a byte that is followed by k zero bytes.
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
  static const Tables tables = [] {
    Tables made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? polynomial ^ (c >> 1) : c >> 1;
      made[0][i] = c;
    }
    for (std::size_t k = 1; k < made.size(); ++k)
      for (std::size_t i = 0; i < 256; ++i) made[k][i] = made[0][made[k - 1][i] & 0xFF] ^ (made[k - 1][i] >> 8);
    return made;
  }();
  std::uint32_t c = ~before;
  const auto* byte = static_cast<const unsigned char*>(data);
  for (; bytes >= 8; bytes -= 8, byte += 8) {
    std::uint64_t word;
    std::memcpy(&word, byte, 8);
    word ^= c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= tables[7 - k][word >> (8 * k) & 0xFF];
  }
  for (; bytes > 0; --bytes) c = tables[0][(c ^ *byte++) & 0xFF] ^ (c >> 8);
  return ~c;
}

std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::int64_t second_bytes) {
  // The first piece is moved on by as many bytes: times x^(8 bytes), by repeated squaring.
  std::uint32_t power = 1U << 31, square = 1U << (31 - 8);
  for (std::int64_t n = second_bytes; n > 0; n >>= 1, square = product_modulo(square, square))
    if (n & 1) power = product_modulo(square, power);
  return product_modulo(power, first) ^ second;
}

}  // namespace lepus
