// SPDX-License-Identifier: Apache-2.0
// OLE compound files, read-only: a file system of named streams in one file, which Zeiss (Xradia) keeps its scans in.
// [MS-CFB]: Compound File Binary File Format, versions 3 (sectors of 512 bytes) and 4 (4096). Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/input_file.h"

namespace lepus {

struct OleStream {
  std::string name;  // "ImageInfo/Angles"
  std::int64_t bytes = 0;
  std::uint32_t first_sector = 0;
};

// A part of a stream that lies in one piece in the file.
struct OleExtent {
  std::int64_t offset = 0, bytes = 0;
};

class OleFile {
public:
  explicit OleFile(const std::filesystem::path& path);  // Error(input): no such file, another kind of file, damaged

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<OleStream>& streams() const { return streams_; }  // in the order of the directory's tree
  const OleStream* find(std::string_view name) const;                 // in whatever case; null where there is none
  // Where the bytes of a stream lie, in their order. Error(input) where the file does not hold them all.
  std::vector<OleExtent> extents(const OleStream& stream) const;
  std::string read(const OleStream& stream, std::int64_t limit) const;  // the first `limit` bytes of it at most
  const InputFile& file() const { return file_; }

private:
  std::string read_sector(std::uint32_t sector) const;
  void read_allocation(std::string_view header);
  void read_directory(std::uint32_t first_sector);
  std::vector<std::uint32_t> chain(std::uint32_t first, const std::vector<std::uint32_t>& next) const;
  std::vector<OleExtent> pieces(const std::vector<std::uint32_t>& sectors, std::int64_t bytes,
                                const std::string& name) const;
  [[noreturn]] void damaged(const std::string& why) const;

  InputFile file_;
  std::int64_t sector_bytes_ = 0, sectors_ = 0, small_below_ = 0;
  std::vector<std::uint32_t> next_, next_small_;  // the sector after each: of the file, of the stream of small streams
  OleStream small_;                               // the stream that holds the small streams
  std::vector<OleExtent> small_extents_;
  std::vector<OleStream> streams_;
  std::unordered_map<std::string, std::size_t> by_name_;  // in lower case
};

}  // namespace lepus
