// SPDX-License-Identifier: Apache-2.0
// For tests: small files as scanners write them, with the pattern of test_support.h in their pixels.
#pragma once

#include "io/byte_text.h"
#include "io/ole_writer.h"
#include "io/test_support.h"

namespace lepus::test {

template <class Number>
std::string bytes_of_number(Number value) {
  std::string bytes;
  append_number(bytes, value);
  return bytes;
}

struct ZeissParts {
  std::int64_t columns = 7, rows = 5, images = 6;
  std::int64_t missing = 0;  // the number of an image that is left out
  int type = 5;
  bool reference = true;
};

inline void write_zeiss(const fs::path& path, const ZeissParts& parts) {
  OleWriter writer(path, true, 0);
  writer.add("ImageInfo/ImageWidth", bytes_of_number(static_cast<std::int32_t>(parts.columns)));
  writer.add("ImageInfo/ImageHeight", bytes_of_number(static_cast<std::int32_t>(parts.rows)));
  writer.add("ImageInfo/DataType", bytes_of_number(parts.type));
  writer.add("ImageInfo/NoOfImages", bytes_of_number(static_cast<std::int32_t>(parts.images)));
  writer.add("ImageInfo/PixelSize", bytes_of_number(2.5f));
  for (std::int64_t i = 1; i <= parts.images; ++i)
    if (i != parts.missing)
      writer.add("ImageData" + std::to_string((i + 99) / 100) + "/Image" + std::to_string(i),
                 parts.type == 10 ? bytes_of(pattern_frame<float>(parts.columns, parts.rows, i - 1))
                                  : bytes_of(pattern_frame<std::uint16_t>(parts.columns, parts.rows, i - 1)));
  if (parts.reference) {
    writer.add("ReferenceData/DataType", bytes_of_number(10));
    writer.add("ReferenceData/Image", bytes_of(pattern_frame<float>(parts.columns, parts.rows, 0)));
  }
  writer.finish();
}

}  // namespace lepus::test
