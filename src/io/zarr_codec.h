// SPDX-License-Identifier: Apache-2.0
// How the chunks of a Zarr array are packed. Written: blosc with zstd inside, bytes shuffled, in blocks of a few
// slices, so that a thin slab costs no whole chunk. Read: blosc with whatever is inside, zlib, gzip, zstd, or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lepus {

bool have_zarr();  // this build has the libraries

enum class ZarrCodec { none, blosc, zlib, zstd };  // zlib: gzip, too

// Bytes [first, first + count) of a chunk that has `chunk_bytes` of them. Throws Error(input) naming `where` for what
// is damaged, cut short, or holds another number of bytes.
void unpack_chunk(ZarrCodec codec, std::string_view packed, std::int64_t chunk_bytes, std::int64_t first,
                  std::int64_t count, void* out, const std::string& where);

// With blosc. On float volumes with noise higher levels take six times as long for 1 % (zstd's own level is twice this
// one), and smaller blocks lose 7 %.
inline constexpr int blosc_level = 1, blosc_block_bytes = 256 << 10;
std::string pack_chunk(const void* chunk, std::int64_t bytes, std::int64_t pixel_bytes);

}  // namespace lepus
