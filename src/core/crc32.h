// SPDX-License-Identifier: Apache-2.0
// The checksum of ZIP and PNG (ISO 3309).
#pragma once

#include <cstdint>

namespace lepus {

// `before`: of the bytes before these; 0 at the start.
std::uint32_t crc32(std::uint32_t before, const void* data, std::int64_t bytes);

// Of two pieces, from those of each; the second has that many bytes.
std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::int64_t second_bytes);

}  // namespace lepus
