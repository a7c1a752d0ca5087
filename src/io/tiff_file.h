// SPDX-License-Identifier: Apache-2.0
// TIFF files as lists of grey images, through libtiff: classic and BigTIFF, both byte orders, strips and tiles, any
// compression that libtiff has. Errors name the file and carry libtiff's own words; nothing is printed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/frames.h"

namespace lepus {

struct TiffPage {
  std::int64_t columns = 0, rows = 0;
  PixelType type = PixelType::u16;
  bool big_endian = false;
  std::int64_t data_offset = -1;  // where the rows lie one after another in the file; -1: they must be decoded
  std::uint64_t directory = 0;    // where the page's directory is
};

struct TiffContents {
  std::vector<TiffPage> pages;
  std::string description;  // ImageDescription of the first page
};

// Reads every directory and checks that the pixels it speaks of can be in the file.
TiffContents read_tiff_directories(const std::filesystem::path& path);

// Rows [row0, row1) of a page whose data_offset is -1, in host byte order. Opens and closes the file.
void decode_tiff_rows(const std::filesystem::path& path, const TiffPage& page, std::int64_t row0, std::int64_t row1,
                      void* out);

}  // namespace lepus
