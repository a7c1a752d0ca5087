// SPDX-License-Identifier: Apache-2.0
// OLE compound files, written: [MS-CFB] version 4, sectors of 4096 bytes. Large streams have their place before they
// are filled, so that images go straight into the file; everything else is written by finish().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/output_file.h"

namespace lepus {

class OleWriter {
public:
  OleWriter(const std::filesystem::path& path, bool force, std::int64_t bytes_needed)
      : file_(path, force, bytes_needed) {}

  // A whole stream; "ImageInfo/Angles" makes the folder, too.
  void add(std::string name, std::string bytes);
  // A stream of at least 4096 bytes that is filled by write(): its number.
  std::size_t reserve(std::string name, std::int64_t bytes);
  void write(std::size_t stream, std::int64_t offset, const void* data, std::int64_t bytes);
  // Tables and directory; renames into place. Without it nothing stays.
  void finish();

private:
  struct Stream {
    std::string name;
    std::int64_t bytes = 0;
    std::uint32_t first = 0;
    std::string small;  // the bytes of one that is kept until finish()
  };
  std::uint32_t take_sectors(std::int64_t bytes);  // the first of them
  std::uint32_t append_sectors(const std::string& bytes);
  std::string directory(std::uint32_t small_first, std::int64_t small_bytes) const;

  PartialFile file_;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> next_;  // the sector after each
};

}  // namespace lepus
