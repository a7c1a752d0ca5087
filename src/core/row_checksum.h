// SPDX-License-Identifier: Apache-2.0
// A checksum of rows that does not depend on the order in which they come: the sum of theirs modulo 2^64.
#pragma once

#include <cstdint>

namespace lepus {

// Mixes the bytes of one row with its place (frame, row); the sum of all rows modulo 2^64 is the checksum of a scan.
std::uint64_t row_checksum(std::int64_t frame, std::int64_t row, const void* bytes, std::int64_t size);

}  // namespace lepus
