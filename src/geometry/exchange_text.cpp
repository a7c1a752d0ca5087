// SPDX-License-Identifier: Apache-2.0
// Text of geometry files: reading, writing, numbers, notes.
#include "geometry/exchange_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/format.h"
#include "core/input_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }
bool is_separator(char c) { return is_space(c) || c == ',' || c == ';'; }

std::string shortened(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string printable;
  for (const char c : text.substr(0, longest)) printable += c >= ' ' && c < 127 ? c : '?';
  return text.size() > longest ? printable + "..." : printable;
}

}  // namespace

void refuse_text(std::string what, std::string where, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = std::move(where), .why = std::move(why), .hint = std::move(hint)});
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    refuse_text("the geometry file is a folder", path.string(), "a file is needed", "name the file inside it");
  return read_text_file(path, largest_number_file);
}

double parse_number(std::string_view text, const std::string& where) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    refuse_text("a number cannot be read", where, format("found \"{}\"", shortened(text)), "correct the file");
  return value;
}

std::vector<double> parse_numbers(std::string_view text, const std::string& where) {
  std::vector<double> numbers;
  std::size_t at = 0;
  std::int64_t line = 1;
  while (at < text.size()) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (is_separator(text[at])) {
      if (text[at] == '\n') ++line;
      ++at;
    } else {
      const std::size_t start = at;
      while (at < text.size() && !is_separator(text[at]) && text[at] != '#') ++at;
      numbers.push_back(parse_number(text.substr(start, at - start), format("{}, line {}", where, line)));
    }
  }
  return numbers;
}

Notes parse_notes(std::string_view text, std::string_view mark) {
  Notes notes;
  std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return notes;
  at += mark.size();
  const std::size_t end = std::min({text.find('\n', at), text.find("-->", at), text.size()});
  while (at < end) {
    while (at < end && is_space(text[at])) ++at;
    const std::size_t equals = text.find("=\"", at);
    if (equals >= end) break;
    const std::size_t close = text.find('"', equals + 2);
    if (close >= end) break;
    notes[std::string(text.substr(at, equals - at))] = std::string(text.substr(equals + 2, close - equals - 2));
    at = close + 1;
  }
  return notes;
}

FrameLayout frame_layout(const GeometryFileOptions& options, const Notes& notes, const std::string& where) {
  const auto note = [&](const char* key) {
    const auto found = notes.find(key);
    return found == notes.end() ? 0.0 : parse_number(found->second, where + ", note " + key);
  };
  const auto size = [&](std::int64_t given, const char* key) {
    const double noted = note(key), value = given > 0 ? static_cast<double>(given) : noted;
    if (given > 0 && noted > 0 && noted != value)
      refuse_text(
          "the frames have another size than the geometry", where,
          format("it was written for {:g} {}, the frames have {}", noted, key, given),
          "use the geometry of these very frames, neither cut nor binned; what is written of an arc detector is "
          "the flat one that its frames are resampled onto");
    if (!(value >= 1 && value < 1e9))
      throw Error(ErrorKind::usage, {.what = format("the number of detector {} is not known", key),
                                     .where = where,
                                     .why = "the file does not hold it",
                                     .hint = "give the size of the frames"});
    return static_cast<std::int64_t>(value);
  };
  const auto pixel = [&](double given, const char* key) {
    const double noted = note(key);
    if (given > 0 && noted > 0 && !(std::abs(given - noted) <= 1e-6 * noted))
      refuse_text("the pixels have another size than those of the geometry", where,
                  format("it was written for {} = {:.9g}, {:.9g} is given", key, noted, given),
                  "leave the size of the pixels out: the file says it");
    return given > 0 ? given : noted;
  };
  return {size(options.columns, "columns"), size(options.rows, "rows"), pixel(options.pixel_width_mm, "pixel_width_mm"),
          pixel(options.pixel_height_mm, "pixel_height_mm"),
          options.first_row_on_top.value_or(note("first_row_on_top") != 0)};
}

std::string beam_name(Beam beam) { return beam == Beam::cone ? "cone" : beam == Beam::fan ? "fan" : "parallel"; }

Beam parse_beam(const std::string& name, const std::string& where) {
  for (const Beam beam : {Beam::cone, Beam::fan, Beam::parallel})
    if (name == beam_name(beam)) return beam;
  refuse_text("the kind of beam is not known", where, format("found \"{}\"", shortened(name)),
              "use cone, fan or parallel");
}

}  // namespace lepus
