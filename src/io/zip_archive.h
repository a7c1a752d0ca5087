// SPDX-License-Identifier: Apache-2.0
// ZIP archives as NumPy's .npz are: what lies where in one, and the records of one that is written without packing,
// with 64-bit sizes where they are needed (PKWARE's APPNOTE 6.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/input_file.h"

namespace lepus {

struct ZipEntry {
  std::string name;
  std::uint32_t checksum = 0;
  std::int64_t bytes = 0;  // unpacked
  std::int64_t start = 0;  // of its record in the archive
  // Of those that are read:
  std::int64_t data = 0, packed_bytes = 0;  // where its bytes begin, and how many they are
  bool packed = false;                      // by deflate
};

// Entries that are encrypted or packed otherwise are left out. Error(input) where it is no archive, or a damaged one.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

std::string zip_record(const ZipEntry& entry);  // before the bytes of an entry; its length does not depend on the sum
std::string zip_directory(const std::vector<ZipEntry>& entries, std::int64_t start);  // the end of an archive

}  // namespace lepus
