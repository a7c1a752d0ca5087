// SPDX-License-Identifier: Apache-2.0
// A scan file in the making: keys with their values, and behind each a comment that says where the value came from.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scan/document.h"

namespace lepus {

class ScanFileText {
public:
  // "geometry.source_axis_mm", its value, and its origin: "SrcToObject". A key that is set again is replaced.
  void set(const std::string& key, KeyValue value, std::string from);
  // Names of files; in the text they are relative to the scan file where they lie below its folder.
  void set_files(const std::string& key, std::vector<std::filesystem::path> files, std::string from);
  void remove(std::string_view key);
  bool has(std::string_view key) const;
  // More sections, such as "[[correct]]", as they shall stand in the file, with their comments.
  void append(std::string toml) { more_ += std::move(toml); }

  // The scan file as it would stand in `folder`. Files in a series become a pattern where that names the same files.
  std::string text(const std::filesystem::path& folder, const std::string& heading) const;

private:
  struct Entry {
    std::string section, name;
    KeyValue value;
    std::vector<std::filesystem::path> files;
    std::string from;
  };
  Entry& entry(const std::string& key);
  static std::string line(const Entry& entry, const std::filesystem::path& folder);

  std::vector<Entry> entries_;
  std::string more_;
};

}  // namespace lepus
