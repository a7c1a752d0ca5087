// SPDX-License-Identifier: Apache-2.0
// The keys of a scan file: one table from which the reader takes names, types, ranges and defaults, the messages take
// their suggestions, and docs/scan-file.md takes its tables. A new key is one more row in keys.cpp; a new correction is
// one more entry in correction_kinds.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lepus {

enum class KeyType {
  boolean,
  integer,
  number,
  text,
  choice,              // text that is one of ScanKey::choices
  names,               // a name or pattern, or a list of them
  integers,            // a list of ScanKey::count integers
  numbers,             // a list of numbers, of any length where count is 0
  booleans,            // a list of `count`
  number_or_numbers,   // one number for all axes, or a list of `count`
  choice_or_integers,  // "auto", or a list of `count` integers
};

struct ValueRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;  // `least` itself is not allowed
};

struct ScanKey {
  std::string_view section, name;
  KeyType type = KeyType::text;
  std::string_view unit;           // "mm", "deg", "px" or ""
  std::string_view default_toml;   // as it would stand in the file; "" where there is none
  std::string_view default_words;  // for the page, where the default depends on the scan: "as pixel_width_mm"
  std::string_view meaning;
  std::string_view choices;  // separated by spaces
  ValueRange range = {};
  int count = 0;
};

struct ScanSection {
  std::string_view name;  // "frames.raw"
  std::string_view meaning;
};

std::span<const ScanSection> scan_sections();  // in the order of the page and of a resolved scan file
std::span<const ScanKey> scan_keys();
const ScanKey* find_scan_key(std::string_view section, std::string_view name);  // nullptr where there is none

// What [[correct]] can hold. The keys' section is "correct".
struct CorrectionKind {
  std::string_view name, meaning;
  std::vector<ScanKey> parameters;
  // What it works on, the default first: "grey-levels", "line-integrals", or both; "either": what it finds where it
  // stands.
  std::string_view works_on = "grey-levels line-integrals";
  // A parameter that counts only where another one is one of these words.
  struct OnlyWith {
    std::string_view parameter, other, is_one_of;
  };
  std::vector<OnlyWith> only_with = {};
};
std::span<const CorrectionKind> correction_kinds();

std::vector<std::string> split_words(std::string_view text);
std::string type_words(const ScanKey& key);  // "a list of 3 integers"

// The part of docs/scan-file.md that lists every key, as Markdown.
std::string scan_keys_markdown();

}  // namespace lepus
