// SPDX-License-Identifier: Apache-2.0
// The header of a scanner as fields in the order of the file, each with its path ("Acquisition/Depth (bits)") and the
// text of its value. Whoever takes a value says for what, so that `lepus info` can show what became of every field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lepus/header_field.h>

namespace lepus {

class HeaderFields {
public:
  explicit HeaderFields(std::filesystem::path file) : file_(std::move(file)) {}

  void add(std::string_view name, std::string_view value, int line);
  const std::filesystem::path& file() const { return file_; }
  const std::vector<HeaderField>& fields() const { return fields_; }

  // By their path, in any case; of a field that stands there twice, the first. `use` is noted at the field.
  bool has(std::string_view name) const;
  // The path of the first field of this name, whatever section it stands in; the name itself where there is none.
  std::string path_of(std::string_view name) const;
  std::optional<std::string> text(std::string_view name, std::string_view use);
  std::optional<double> number(std::string_view name, std::string_view use);       // Error(input) where it is none
  std::optional<std::int64_t> count(std::string_view name, std::string_view use);  // a whole number, 0 or more
  double require_number(std::string_view name, std::string_view use);              // Error(input) where it is missing
  double require_length(std::string_view name, std::string_view use);              // the same, and above zero
  std::int64_t require_count(std::string_view name, std::string_view use);         // the same of counts: 1 or more
  std::string where(std::string_view name) const;                                  // "scan.xtekct:12"
  [[noreturn]] void fail(std::string_view name, std::string what, std::string why, std::string hint) const;

private:
  std::size_t index_of(std::string_view name) const;  // fields_.size() where there is none
  [[noreturn]] void missing(std::string_view name) const;

  std::filesystem::path file_;
  std::vector<HeaderField> fields_;
  std::vector<int> lines_;
};

// The whole of a text, without the byte order mark that editors on Windows put before it. Error(input) where the file
// is no text.
std::string read_header_text(const std::filesystem::path& file);
// Lines "name = value" (or "name: value") below "[section]"; the path is "section/name". Lines that are neither are
// left out, those that begin with ; or # too. Error(input) where the file is no text.
HeaderFields read_ini_header(const std::filesystem::path& file);
// The leaves of an XML file: "ScanParameter/ConeBeam/PixelSize", the outermost element left out, and the attributes of
// all elements: "ScanParameter/ConeBeam@type".
HeaderFields read_xml_header(const std::filesystem::path& file);

// Whether the first bytes of a file hold this text; false where it cannot be read.
bool begins_with_text(const std::filesystem::path& file, std::string_view text);

// Those with this ending (in small letters) that hold this text so.
std::vector<std::filesystem::path> headers_with(const std::vector<std::filesystem::path>& files,
                                                std::string_view ending, std::string_view text);

// Latin-1 bytes, as scanners write their micrometres, become UTF-8.
std::string as_utf8(std::string_view text);
// A number in a header: surrounding blanks and a decimal comma are understood. Nothing where it is none or not finite.
std::optional<double> header_number(std::string_view text);
// The last part of a path as any system writes it: "D:\\scans\\a.tif" -> "a.tif".
std::string last_part(std::string_view path);

}  // namespace lepus
