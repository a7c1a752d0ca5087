// SPDX-License-Identifier: Apache-2.0
// The keys of a scan file (lepus/scan_keys.h): one table from which the reader takes names, types, ranges and defaults,
// the messages take their suggestions, and docs/scan-file.md takes its tables. A new key is one more row in keys.cpp; a
// new correction is one more entry in correction_kinds.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lepus/scan_keys.h>

namespace lepus {

struct ScanSection {
  std::string_view name;  // "frames.raw"
  std::string_view meaning;
};

std::span<const ScanSection> scan_sections();  // in the order of the page and of a resolved scan file
const ScanKey* find_scan_key(std::string_view section, std::string_view name);  // nullptr where there is none

std::vector<std::string> split_words(std::string_view text);

}  // namespace lepus
