// SPDX-License-Identifier: Apache-2.0
#include "core/nesting.h"

#include <algorithm>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_depth(std::string_view text, std::size_t at, const char* language, const std::string& where) {
  const auto lines = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw Error(ErrorKind::input, {.what = format("this {} is nested too deeply", language),
                                 .where = format("{}:{}", where, lines),
                                 .why = format("lepus reads {} levels at most", deepest_nesting),
                                 .hint = "check that this is the right file and that it is whole"});
}

// Just behind a string that opens at `at` and ends with the same quotes, three of them where three begin it. In JSON
// and in TOML's "..." a backslash takes the next character with it.
std::size_t behind_string(std::string_view text, std::size_t at, bool three_quotes) {
  const char quote = text[at];
  const std::string_view three = text.substr(at, 3);
  const bool is_long = three_quotes && three.size() == 3 && three[1] == quote && three[2] == quote;
  const std::string_view end = is_long ? three : three.substr(0, 1);
  for (std::size_t i = at + end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"')
      ++i;
    else if (text.substr(i).starts_with(end))
      return i + end.size();
    else if (text[i] == '\n' && !is_long)
      return i;  // never closed: the parser says so
  }
  return text.size();
}

}  // namespace

void check_json_nesting(std::string_view text, const std::string& where) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = behind_string(text, i, false);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > deepest_nesting) refuse_depth(text, i, "JSON", where);
    ++i;
  }
}

void check_toml_nesting(std::string_view text, const std::string& where) {
  int brackets = 0, dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = behind_string(text, i, true);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.')
      ++dots;
    else if (c == '\n' || c == ',' || c == '=' || c == '[' || c == '{')
      dots = 0;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
    if (brackets + dots > deepest_nesting) refuse_depth(text, i, "TOML", where);
    ++i;
  }
}

}  // namespace lepus
