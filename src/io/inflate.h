// SPDX-License-Identifier: Apache-2.0
// Bytes that were packed by deflate (ZIP, zlib), unpacked from their start, a part at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/input_file.h"

namespace lepus {

class Inflater {
public:
  // Of `bytes` bytes from `offset` on. Error(unsupported) in a build without zlib.
  Inflater(const InputFile& file, std::int64_t offset, std::int64_t bytes, bool zlib_header);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The next bytes, fewer only at the end of the stream. Error(input) where it is damaged or cut off.
  std::int64_t read(void* out, std::int64_t bytes);

private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace lepus
