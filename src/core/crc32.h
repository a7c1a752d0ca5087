// SPDX-License-Identifier: Apache-2.0
// The checksum of ZIP and PNG (ISO 3309), for records of a few hundred bytes: one byte at a time.
#pragma once

#include <cstdint>

namespace lepus {

// `before`: of the bytes before these; 0 at the start.
std::uint32_t crc32(std::uint32_t before, const void* data, std::int64_t bytes);

}  // namespace lepus
