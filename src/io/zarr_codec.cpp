// SPDX-License-Identifier: Apache-2.0
#include "io/zarr_codec.h"

#include "core/format.h"
#include <lepus/error.h>

#ifndef LEPUS_HAVE_ZARR

namespace lepus {

bool have_zarr() { return false; }
void unpack_chunk(ZarrCodec, std::string_view, std::int64_t, std::int64_t, std::int64_t, void*, const std::string&) {}
std::string pack_chunk(const void*, std::int64_t, std::int64_t) { return {}; }

}  // namespace lepus

#else

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

namespace lepus {
namespace {

[[noreturn]] void throw_bad_chunk(const std::string& where, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "a chunk of the volume is damaged",
                                 .where = where,
                                 .why = why,
                                 .hint = "copy the volume again, or write it anew"});
}

struct Part {  // of a chunk
  std::int64_t first, count;
  char* out;
};

void unpack_blosc(std::string_view packed, std::int64_t chunk_bytes, const Part& part, const std::string& where) {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(packed.data(), packed.size(), &bytes) < 0)
    throw_bad_chunk(where, "its header does not fit its size");
  if (static_cast<std::int64_t>(bytes) != chunk_bytes)
    throw_bad_chunk(where, format("it holds {} bytes, expected {}", bytes, chunk_bytes));
  std::size_t item = 0;
  int flags = 0;
  blosc_cbuffer_metainfo(packed.data(), &item, &flags);
  const auto step = static_cast<std::int64_t>(std::max<std::size_t>(item, 1));
  const auto want = [&](int unpacked, std::int64_t expected) {
    if (unpacked < 0 || unpacked != expected) throw_bad_chunk(where, "it cannot be unpacked");
  };
  const bool whole = part.first == 0 && part.count == chunk_bytes;
  if (whole) {
    want(blosc_decompress_ctx(packed.data(), part.out, bytes, 1), chunk_bytes);
  } else if (part.first % step == 0 && part.count % step == 0) {
    want(blosc_getitem(packed.data(), static_cast<int>(part.first / step), static_cast<int>(part.count / step),
                       part.out),
         part.count);
  } else {
    std::vector<char> all(bytes);
    want(blosc_decompress_ctx(packed.data(), all.data(), bytes, 1), chunk_bytes);
    std::memcpy(part.out, all.data() + part.first, static_cast<std::size_t>(part.count));
  }
}

// A stream is unpacked from its start up to the end of the part. `next` fills a buffer and says how much it put there,
// 0 at the end.
template <class Next>
void take_part(const Part& part, const std::string& where, const Next& next) {
  std::vector<char> skipped(static_cast<std::size_t>(std::min<std::int64_t>(part.first, 1 << 16)));
  for (std::int64_t done = 0; done < part.first + part.count;) {
    const bool before = done < part.first;
    char* to = before ? skipped.data() : part.out + (done - part.first);
    const std::int64_t space =
        before ? std::min<std::int64_t>(part.first - done, static_cast<std::int64_t>(skipped.size()))
               : part.first + part.count - done;
    const std::int64_t got = next(to, std::min<std::int64_t>(space, 1 << 30));
    if (got <= 0) throw_bad_chunk(where, format("it ends after {} bytes", done));
    done += got;
  }
}

void unpack_zlib(std::string_view packed, const Part& part, const std::string& where) {
  z_stream stream{};
  constexpr int zlib_or_gzip = 15 + 32;
  if (inflateInit2(&stream, zlib_or_gzip) != Z_OK) throw_bad_chunk(where, "zlib cannot begin");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  take_part(part, where, [&](char* to, std::int64_t space) {
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(space);
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw_bad_chunk(where, stream.msg ? stream.msg : "it cannot be unpacked");
    return space - static_cast<std::int64_t>(stream.avail_out);
  });
}

void unpack_zstd(std::string_view packed, const Part& part, const std::string& where) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  take_part(part, where, [&](char* to, std::int64_t space) {
    ZSTD_outBuffer out{to, static_cast<std::size_t>(space), 0};
    // A call may only take a header; it stands still at the end.
    for (std::size_t before = in.size + 1; out.pos == 0 && before != in.pos;) {
      before = in.pos;
      const std::size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(status)) throw_bad_chunk(where, ZSTD_getErrorName(status));
    }
    return static_cast<std::int64_t>(out.pos);
  });
}

}  // namespace

bool have_zarr() { return true; }

void unpack_chunk(ZarrCodec codec, std::string_view packed, std::int64_t chunk_bytes, std::int64_t first,
                  std::int64_t count, void* out, const std::string& where) {
  const Part part{first, count, static_cast<char*>(out)};
  switch (codec) {
    case ZarrCodec::none:
      if (static_cast<std::int64_t>(packed.size()) != chunk_bytes)
        throw_bad_chunk(where, format("it has {} bytes, expected {}", packed.size(), chunk_bytes));
      std::memcpy(out, packed.data() + first, static_cast<std::size_t>(count));
      return;
    case ZarrCodec::blosc:
      return unpack_blosc(packed, chunk_bytes, part, where);
    case ZarrCodec::zlib:
      return unpack_zlib(packed, part, where);
    case ZarrCodec::zstd:
      return unpack_zstd(packed, part, where);
  }
}

std::string pack_chunk(const void* chunk, std::int64_t bytes, std::int64_t pixel_bytes) {
  std::string packed(static_cast<std::size_t>(bytes) + BLOSC_MAX_OVERHEAD, '\0');
  // Nothing global: each thread packs by itself.
  const int size = blosc_compress_ctx(blosc_level, BLOSC_SHUFFLE, static_cast<std::size_t>(pixel_bytes),
                                      static_cast<std::size_t>(bytes), chunk, packed.data(), packed.size(),
                                      BLOSC_ZSTD_COMPNAME, blosc_block_bytes, 1);
  if (size <= 0)
    throw Error(ErrorKind::unsupported, {.what = "blosc cannot pack with zstd",
                                         .where = {},
                                         .why = format("blosc_compress_ctx gives {}", size),
                                         .hint = "install a libblosc that has zstd"});
  packed.resize(static_cast<std::size_t>(size));
  return packed;
}

}  // namespace lepus

#endif
