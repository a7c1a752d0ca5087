// SPDX-License-Identifier: Apache-2.0
// Pixels as Varian's .xim and .hnd files pack them: the first row and one pixel more as 32-bit integers, then the
// difference of each pixel from its left + upper - upper left neighbour in one, two or four bytes. A table before them
// has two bits for each: 0, 1, 2 for the three lengths.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/input_file.h"

namespace lepus {

struct PackedImage {
  std::int64_t columns = 0, rows = 0;
  std::int64_t table_offset = 0, table_bytes = 0;  // in the file
  std::int64_t data_offset = 0, data_bytes = 0;    // from the first row on
};

// All that is needed to go on with a row: where its bytes begin, and the pixels before it.
struct PackedRowStart {
  std::int64_t row = 0, byte = 0;  // counted from data_offset
  std::uint32_t corner = 0;        // the last pixel two rows above
  std::vector<std::uint32_t> above;
};

std::int64_t packed_table_bytes(std::int64_t columns, std::int64_t rows);

// Unpacks the rows from `start` (all zero: the first) up to row1. `take` gets the state after each row: its pixels are
// next.above. Error(input) where the file ends before them or the table is none.
void unpack_rows(const InputFile& file, const PackedImage& image, PackedRowStart start, std::int64_t row1,
                 const std::function<void(const PackedRowStart& next)>& take);

// The table and the data of an image, as unpack_rows takes them.
struct PackedBytes {
  std::string table, data;
};
PackedBytes pack_rows(const std::int32_t* pixels, std::int64_t columns, std::int64_t rows);

}  // namespace lepus
