// SPDX-License-Identifier: Apache-2.0
// Numbers and checks for text headers.
#include "io/header_text.h"

#include <charconv>
#include <cmath>

#include "core/format.h"
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
