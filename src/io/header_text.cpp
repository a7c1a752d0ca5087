// SPDX-License-Identifier: Apache-2.0
// Numbers and checks for text headers.
#include "io/header_text.h"

#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/format.h"
#include "io/file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

template <class Number>
std::vector<Number> parse_list(std::string_view text, const std::string& key, const fs::path& file) {
  std::vector<Number> numbers;
  while (!(text = trimmed(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    // from_chars takes no plus sign, which others write.
    const std::string_view digits = word.size() > 1 && word[0] == '+' ? word.substr(1) : word;
    Number number{};
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc() || end != digits.data() + digits.size())
      throw_bad_header(file, format("'{}' of {} is not a number{}", word, key,
                                    word.find(',') == std::string_view::npos ? "" : ": it takes a decimal point"));
    numbers.push_back(number);
    text.remove_prefix(word.size());
  }
  return numbers;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<double> parse_numbers(std::string_view text, const std::string& key, const fs::path& file) {
  return parse_list<double>(text, key, file);
}

std::vector<std::int64_t> parse_integers(std::string_view text, const std::string& key, const fs::path& file) {
  return parse_list<std::int64_t>(text, key, file);
}

void throw_bad_header(const fs::path& file, const std::string& why) {
  throw Error(ErrorKind::input,
              {.what = "header cannot be used", .where = file.string(), .why = why, .hint = "write the file again"});
}

void throw_unsupported_header(const fs::path& file, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::unsupported,
              {.what = "kind of volume that lepus does not read", .where = file.string(), .why = why, .hint = hint});
}

void check_grid(const VolumeGrid& grid, PixelType type, const fs::path& file) {
  if (!checked_product(grid.nx, grid.ny, grid.nz, bytes_per_pixel(type)))
    throw_bad_header(file, format("{} x {} x {} voxels", grid.nx, grid.ny, grid.nz));
  for (const double step : {grid.step_mm.x, grid.step_mm.y, grid.step_mm.z})
    if (!std::isfinite(step) || step == 0) throw_bad_header(file, format("a voxel size of {} mm", step));
  for (const double origin : {grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z})
    if (!std::isfinite(origin)) throw_bad_header(file, "an origin that is not finite");
}

std::optional<double> millimetres_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"m", 1e3},           {"meter", 1e3},       {"metre", 1e3},      {"dm", 100},         {"decimeter", 100},
      {"cm", 10},           {"centimeter", 10},   {"centimetre", 10},  {"mm", 1},           {"millimeter", 1},
      {"millimetre", 1},    {"um", 1e-3},         {"\xC2\xB5m", 1e-3}, {"\xCE\xBCm", 1e-3}, {"micron", 1e-3},
      {"micrometer", 1e-3}, {"micrometre", 1e-3}, {"nm", 1e-6},        {"nanometer", 1e-6}, {"nanometre", 1e-6},
      {"\xC3\x85", 1e-7},   {"angstrom", 1e-7},   {"pm", 1e-9},        {"picometer", 1e-9}, {"in", 25.4},
      {"inch", 25.4}};
  std::string name = lower_case(unit);
  if (name.size() > 3 && name.back() == 's') name.pop_back();
  const auto found = units.find(name);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

double length_unit_mm(const std::string& unit, const std::string& key, const fs::path& file) {
  static const std::set<std::string> unknown{"", "?", "???", "none", "pixel", "pixels", "voxel", "voxels"};
  if (unknown.contains(lower_case(unit))) return 1;
  if (const auto found = millimetres_in(unit)) return *found;
  throw_unsupported_header(file, format("the unit '{}' of {}", unit.substr(0, 60), key), "write mm, cm, m, um or nm");
}

std::string joined(Vec3 v, const char* separator) { return format("{}{}{}{}{}", v.x, separator, v.y, separator, v.z); }

fs::path beside(const fs::path& header, const std::string& name) {
  const fs::path folder = fs::absolute(header).parent_path().lexically_normal();
  const fs::path file = (folder / name).lexically_normal();
  const fs::path inside = file.lexically_relative(folder);
  if (inside.empty() || inside == "." || *inside.begin() == "..")
    throw Error(ErrorKind::input,
                {.what = "the data file lies outside the folder of its header",
                 .where = header.string(),
                 .why = format("the header names {}", name),
                 .hint = "a header may come from anybody, so that lepus reads only what lies beside it; "
                         "move or link the data file there, and correct the header"});
  return header.parent_path() / inside;
}

}  // namespace lepus
