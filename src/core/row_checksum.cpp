// SPDX-License-Identifier: Apache-2.0
#include "core/row_checksum.h"

#include <cstring>

namespace lepus {
namespace {

// splitmix64's finaliser: every input bit changes about half of the output bits.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t row_checksum(std::int64_t frame, std::int64_t row, const void* bytes, std::int64_t size) {
  std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(frame) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(row) + 1);
  const auto* p = static_cast<const unsigned char*>(bytes);
  for (; size >= 8; size -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 32;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, p, static_cast<std::size_t>(size));
  return mixed(hash ^ rest);
}

}  // namespace lepus
