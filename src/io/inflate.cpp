// SPDX-License-Identifier: Apache-2.0
#include "io/inflate.h"

#include "io/file.h"

#ifndef LEPUS_HAVE_ZLIB

namespace lepus {

struct Inflater::Stream {};
Inflater::Inflater(const InputFile& file, std::int64_t, std::int64_t, bool) {
  throw_missing_library("packed arrays (zlib)", "zlib1g-dev", file.path().string());
}
Inflater::~Inflater() = default;
std::int64_t Inflater::read(void*, std::int64_t) { return 0; }

}  // namespace lepus

#else

#include <algorithm>
#include <vector>

#include <zlib.h>

#include <lepus/error.h>

namespace lepus {

struct Inflater::Stream {
  const InputFile& file;
  std::int64_t next, end;  // of the packed bytes that are not read yet
  std::vector<unsigned char> packed = std::vector<unsigned char>(64 << 10);
  z_stream state{};
  bool finished = false;

  [[noreturn]] void fail(const char* why) const {
    throw Error(ErrorKind::input, {.what = "packed array cannot be unpacked",
                                   .where = file.path().string(),
                                   .why = why,
                                   .hint = "the file is damaged: copy it again or write it anew"});
  }
};

Inflater::Inflater(const InputFile& file, std::int64_t offset, std::int64_t bytes, bool zlib_header)
    : stream_(new Stream{.file = file, .next = offset, .end = offset + bytes}) {
  // Without a header the window is the largest one, written as a negative number.
  if (inflateInit2(&stream_->state, zlib_header ? MAX_WBITS : -MAX_WBITS) != Z_OK) stream_->fail("zlib has no memory");
}

Inflater::~Inflater() { inflateEnd(&stream_->state); }

std::int64_t Inflater::read(void* out, std::int64_t bytes) {
  Stream& s = *stream_;
  std::int64_t done = 0;
  while (done < bytes && !s.finished) {
    if (s.state.avail_in == 0) {
      const std::int64_t more = std::min<std::int64_t>(s.end - s.next, static_cast<std::int64_t>(s.packed.size()));
      if (more == 0) s.fail("the packed bytes end too early");
      s.file.read(s.next, s.packed.data(), more);
      s.next += more;
      s.state.next_in = s.packed.data();
      s.state.avail_in = static_cast<uInt>(more);
    }
    const std::int64_t part = std::min<std::int64_t>(bytes - done, std::int64_t{1} << 30);
    s.state.next_out = static_cast<unsigned char*>(out) + done;
    s.state.avail_out = static_cast<uInt>(part);
    const int result = inflate(&s.state, Z_NO_FLUSH);
    done += part - static_cast<std::int64_t>(s.state.avail_out);
    if (result == Z_STREAM_END)
      s.finished = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
      s.fail(s.state.msg ? s.state.msg : "the packed bytes are not those of deflate");
  }
  return done;
}

}  // namespace lepus

#endif
