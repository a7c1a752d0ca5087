// SPDX-License-Identifier: Apache-2.0
// A scan file after its first check: every key is known, has its type and lies in its range; each remembers its line.
// TOML text -> values by "section.key". What the values mean together is decided in read_scan.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scan/keys.h"
#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus {

using KeyValue = std::variant<bool, std::int64_t, double, std::string, std::vector<bool>, std::vector<std::int64_t>,
                              std::vector<double>, std::vector<std::string>>;

class ScanDocument {
public:
  // Throws Error(input) with the file and line of the first thing that is wrong.
  ScanDocument(const std::string& toml, std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  std::filesystem::path folder() const;                        // that relative names start from
  std::filesystem::path path_of(std::string_view name) const;  // of a key that holds one file name

  bool given(std::string_view name) const { return values_.contains(name); }  // "geometry.beam"; defaults do not count
  bool section_given(std::string_view section) const { return section_lines_.contains(section); }

  // The value, or the table's default. The alternative must be the one of the key's type.
  template <class T>
  std::optional<T> find(std::string_view name) const {
    const KeyValue* value = lookup(name);
    if (!value) return std::nullopt;
    return std::get<T>(*value);
  }
  template <class T>
  bool holds(std::string_view name) const {
    const KeyValue* value = lookup(name);
    return value && std::holds_alternative<T>(*value);
  }
  template <class T>
  T get(std::string_view name) const {  // of keys that have a default
    return std::get<T>(*lookup(name));
  }
  template <class T>
  T require(std::string_view name, std::string_view because) const {  // throws Error(input) saying what the key means
    if (!given(name)) missing(name, because);
    return std::get<T>(*lookup(name));
  }

  const KeyValue* lookup(std::string_view name) const;  // the value, or the default, or nullptr
  std::string where(std::string_view name) const;       // "scan.toml:14", or that of its section, or the file
  const std::vector<CorrectionSpec>& corrections() const { return corrections_; }
  const std::vector<CorrectionSpec>& post() const { return post_; }

  [[noreturn]] void fail(std::string_view key, std::string what, std::string why, std::string hint,
                         ErrorKind kind = ErrorKind::input) const;

private:
  struct Parser;
  [[noreturn]] void missing(std::string_view name, std::string_view because) const;

  std::filesystem::path file_;
  std::map<std::string, std::pair<KeyValue, int>, std::less<>> values_;
  std::map<std::string, int, std::less<>> section_lines_;
  std::vector<CorrectionSpec> corrections_, post_;
};

// The defaults of the table, by "section.key".
const std::map<std::string, KeyValue, std::less<>>& default_values();

std::string to_toml(const KeyValue& value);  // resolved.cpp

}  // namespace lepus
