// SPDX-License-Identifier: Apache-2.0
// What a scan file can say: every key with its meaning, type and default, and the kinds of its corrections and steps
// on the volume. The tables are those that the reader of scan files uses; docs/scan-file.md is made of them.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lepus/export.h>

namespace lepus {

enum class ScanKeyType {
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

struct ScanKeyRange {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool open = false;  // `minimum` itself is not allowed
};

// Texts stay as long as the library is loaded.
struct ScanKey {
  std::string_view section, name;
  ScanKeyType type = ScanKeyType::text;
  std::string_view unit;           // "mm", "deg", "px" or ""
  std::string_view default_toml;   // as it would stand in the file; "" where there is none
  std::string_view default_words;  // for the page, where the default depends on the scan: "as pixel_width_mm"
  std::string_view meaning;
  std::string_view choices;  // separated by spaces
  ScanKeyRange range = {};
  int count = 0;
};

// What [[correct]] can hold, and [[post]] in the same form. The keys' section is "correct" or "post".
struct CorrectionKind {
  std::string_view name, meaning;
  std::vector<ScanKey> parameters;
  // What it works on, the default first: "grey-levels", "line-integrals", or both; "either": what it finds where it
  // stands. Nothing is meant by it in [[post]].
  std::string_view works_on = "grey-levels line-integrals";
  // A parameter that counts only where another one is one of these words.
  struct OnlyWith {
    std::string_view parameter, other, is_one_of;
  };
  std::vector<OnlyWith> only_with = {};
};

LEPUS_API std::span<const ScanKey> scan_keys();
LEPUS_API std::span<const CorrectionKind> correction_kinds();
LEPUS_API std::vector<CorrectionKind> post_kinds();  // of [[post]] and of post_process

LEPUS_API std::string type_words(const ScanKey& key);  // "a list of 3 integers"

// The part of docs/scan-file.md that lists every key, as Markdown.
LEPUS_API std::string scan_keys_markdown();

}  // namespace lepus
