// SPDX-License-Identifier: Apache-2.0
// For tests: small files as scanners write them, with the pattern of test_support.h in their pixels.
#pragma once

#include "io/byte_text.h"
#include "io/edf_file.h"
#include "io/his_file.h"
#include "io/ole_writer.h"
#include "io/test_support.h"
#include "io/varian_file.h"

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

// Frames 0, 1, ... of a series, one per file.
inline void write_xim(const fs::path& path, std::int64_t columns, std::int64_t rows, std::int64_t frame = 0) {
  const auto pixels = pattern_frame<std::int32_t>(columns, rows, frame);
  write_file(path, xim_bytes(pixels.data(), columns, rows, {{"KVSourceRtn", 12.5}, {"KVNormChamber", 1234}}));
}

// The header of an OBI image, of so many bytes.
inline std::string obi_header(std::int64_t columns, std::int64_t rows, std::size_t bytes) {
  std::string header(bytes, '\0');
  const auto set = [&](std::size_t at, const auto& value) {
    header.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
  };
  set(120, static_cast<std::uint32_t>(columns));
  set(124, static_cast<std::uint32_t>(rows));
  set(168 + 33 * 8, 77.25);   // CTProjectionAngle
  set(168 + 34 * 8, 4321.0);  // CTNormChamber
  return header;
}
inline void write_hnd(const fs::path& path, std::int64_t columns, std::int64_t rows, std::int64_t frame = 0) {
  const auto pixels = pattern_frame<std::int32_t>(columns, rows, frame);
  const PackedBytes packed = pack_rows(pixels.data(), columns, rows);
  write_file(path, obi_header(columns, rows, 1024) + packed.table + packed.data);
}
inline void write_hnc(const fs::path& path, std::int64_t columns, std::int64_t rows, std::int64_t frame = 0) {
  write_file(path, obi_header(columns, rows, 512) + bytes_of(pattern_frame<std::uint16_t>(columns, rows, frame)));
}
// Counts from 1 on: an open pixel's 65536 has no place in 16 bits.
inline void write_his(const fs::path& path, std::int64_t columns, std::int64_t rows, std::int64_t frame = 0) {
  auto counts = pattern_frame<std::uint16_t>(columns, rows, frame);
  for (auto& count : counts) ++count;
  write_file(path, his_bytes(columns, rows, counts.data()));
}
inline void write_edf(const fs::path& path, std::int64_t columns, std::int64_t rows, std::int64_t frames = 1) {
  std::string bytes;
  for (std::int64_t f = 0; f < frames; ++f)
    bytes += edf_header(columns, rows, PixelType::u16, {{"motor_pos", "1.5 -2"}, {"motor_mne", "srot sz"}}) +
             bytes_of(pattern_frame<std::uint16_t>(columns, rows, f));
  write_file(path, bytes);
}

}  // namespace lepus::test
