// SPDX-License-Identifier: Apache-2.0
// EDF, the ESRF's data format: text headers "{ name = value ; ... }" of a multiple of 512 bytes, each before its image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/frames.h"

namespace lepus {

struct EdfImage {
  std::vector<std::pair<std::string, std::string>> fields;  // as written, in their order
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  bool big_endian = false;
  std::int64_t data_offset = 0;

  std::string text(const std::string& name) const;  // in any case; "" where there is none
};

// Every image of a file. Error(input) where a header is none or the pixels are cut off.
std::vector<EdfImage> read_edf_headers(const std::filesystem::path& path);

// The header of one image, padded; the pixels follow it.
std::string edf_header(std::int64_t columns, std::int64_t rows, PixelType type,
                       const std::vector<std::pair<std::string, std::string>>& more);

}  // namespace lepus
