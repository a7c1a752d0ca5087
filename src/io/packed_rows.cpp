// SPDX-License-Identifier: Apache-2.0
#include "io/packed_rows.h"

#include <utility>

#include "core/format.h"
#include "io/byte_text.h"
#include <lepus/error.h>

namespace lepus {

namespace {

constexpr std::int64_t packed_lengths[] = {1, 2, 4, 0};

[[noreturn]] void throw_damaged_rows(const InputFile& file, std::int64_t row, const std::string& why) {
  throw Error(ErrorKind::input, {.what = "packed pixels are damaged or cut off",
                                 .where = file.path().string(),
                                 .why = format("row {}: {}", row, why),
                                 .hint = "copy the file again"});
}

int code_at(const std::string& table, std::int64_t entry) {
  return static_cast<unsigned char>(table[static_cast<std::size_t>(entry / 4)]) >> (2 * (entry % 4)) & 3;
}

std::uint32_t difference_at(const std::string& data, std::size_t at, int code) {
  const std::int32_t value = code == 0   ? number_at<std::int8_t>(data, at)
                             : code == 1 ? number_at<std::int16_t>(data, at)
                                         : number_at<std::int32_t>(data, at);
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::int64_t packed_table_bytes(std::int64_t columns, std::int64_t rows) { return ((rows - 1) * columns + 3) / 4; }

void unpack_rows(const InputFile& file, const PackedImage& image, PackedRowStart start, std::int64_t row1,
                 const std::function<void(const PackedRowStart& next)>& take) {
  const std::int64_t columns = image.columns;
  const auto read = [&](std::int64_t offset, std::int64_t bytes) {
    std::string part(static_cast<std::size_t>(bytes), '\0');
    file.read(offset, part.data(), bytes);
    return part;
  };
  PackedRowStart now = std::move(start);
  if (now.row == 0 && row1 > 0) {  // as it is
    if (4 * columns > image.data_bytes) throw_damaged_rows(file, 0, "the pixels end before it");
    const std::string first = read(image.data_offset, 4 * columns);
    for (std::int64_t x = 0; x < columns; ++x)
      now.above.push_back(number_at<std::uint32_t>(first, static_cast<std::size_t>(4 * x)));
    now.row = 1;
    now.byte = 4 * columns;
    take(now);
  }
  std::vector<std::uint32_t> row(static_cast<std::size_t>(columns));
  while (now.row < row1) {
    // Entry 0 of the table is the second pixel of row 1: the first one is stored as it is.
    const std::int64_t whole = now.row == 1 ? 1 : 0, entry0 = (now.row - 1) * columns - 1 + whole;
    const std::int64_t count = columns - whole, byte0 = entry0 / 4, byte1 = (entry0 + count + 3) / 4;
    if (count > 0 && byte1 > image.table_bytes)
      throw_damaged_rows(file, now.row, "the table of lengths ends before it");
    const std::string table = read(image.table_offset + byte0, count > 0 ? byte1 - byte0 : 0);
    std::int64_t bytes = 4 * whole;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t length = packed_lengths[code_at(table, entry0 - 4 * byte0 + k)];
      if (length == 0) throw_damaged_rows(file, now.row, "a length that there is not");
      bytes += length;
    }
    if (now.byte + bytes > image.data_bytes) throw_damaged_rows(file, now.row, "the pixels end before it");
    const std::string data = read(image.data_offset + now.byte, bytes);
    std::size_t at = static_cast<std::size_t>(4 * whole);
    std::uint32_t left = whole ? number_at<std::uint32_t>(data, 0) : now.above.back();
    std::uint32_t corner = whole ? now.above.front() : now.corner;
    if (whole) row[0] = left;
    for (std::int64_t x = whole; x < columns; ++x) {
      const int code = code_at(table, entry0 - 4 * byte0 + x - whole);
      const std::uint32_t upper = now.above[static_cast<std::size_t>(x)];
      left += difference_at(data, at, code) + upper - corner;
      corner = upper;
      row[static_cast<std::size_t>(x)] = left;
      at += static_cast<std::size_t>(packed_lengths[code]);
    }
    now.corner = now.above.back();
    now.above.swap(row);
    now.byte += bytes;
    ++now.row;
    take(now);
  }
}

PackedBytes pack_rows(const std::int32_t* pixels, std::int64_t columns, std::int64_t rows) {
  PackedBytes packed;
  packed.table.resize(static_cast<std::size_t>(packed_table_bytes(columns, rows)));
  for (std::int64_t i = 0; i < columns * rows; ++i) {
    const std::int32_t* p = pixels + i;
    if (i <= columns) {
      append_number(packed.data, *p);
      continue;
    }
    const auto word = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
    const auto step = static_cast<std::int32_t>(word(p[0]) - word(p[-1]) - word(p[-columns]) + word(p[-columns - 1]));
    const int code = step == static_cast<std::int8_t>(step) ? 0 : step == static_cast<std::int16_t>(step) ? 1 : 2;
    packed.data.append(reinterpret_cast<const char*>(&step), static_cast<std::size_t>(packed_lengths[code]));
    const std::int64_t entry = i - columns - 1;
    packed.table[static_cast<std::size_t>(entry / 4)] |= static_cast<char>(code << (2 * (entry % 4)));
  }
  return packed;
}

}  // namespace lepus
