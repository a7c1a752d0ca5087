// SPDX-License-Identifier: Apache-2.0
#include "app/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

[[noreturn]] void refuse(const Option& option, const std::string& text, const std::string& expected,
                         const std::string& hint = {}) {
  throw Error(ErrorKind::usage, {.what = format("'{}' is not {}", shown(text), expected),
                                 .where = option.positional ? option.name : "option " + option.name,
                                 .why = option.help,
                                 .hint = hint});
}

// How it is written rightly: "--threads 8", "--peak 0.5".
std::string example(const Option& option, const std::string& value) {
  return option.positional ? value : option.name + " " + value;
}

// "0,5" -> "0.5"; "" where that is not what is wrong.
std::string with_point(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find_first_not_of("+-0123456789,") != std::string::npos) return {};
  text[comma] = '.';
  return text.find(',') == std::string::npos ? text : std::string();
}

// The whole text must be the number: "12x" is not 12.
template <class T>
bool parse_number(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class T>
T whole_number(const Option& option, const std::string& text) {
  T value{};
  if (!parse_number(text, value))
    refuse(option, text, "a whole number", format("write it in digits, such as {}", example(option, "8")));
  return value;
}

double real_number(const Option& option, const std::string& text) {
  double value{};
  if (!parse_number(text, value) || !std::isfinite(value)) {
    const std::string point = with_point(text);
    refuse(option, text, "a number",
           point.empty() ? format("write it in digits, such as {}", example(option, "0.5"))
                         : format("numbers have a decimal point: {}", example(option, point)));
  }
  return value;
}

}  // namespace

void refuse_option(const std::string& name, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, {.what = what, .where = "option " + name, .why = {}, .hint = hint});
}

Option& Option::must() {
  required = true;
  default_text.clear();
  return *this;
}
Option& Option::file() {
  operand = Operand::file;
  return *this;
}
Option& Option::folder() {
  operand = Operand::folder;
  return *this;
}
Option& Option::one_of(std::vector<std::string> list) {
  choices = std::move(list);
  return *this;
}
Option& Option::otherwise(std::string text) {
  default_text = std::move(text);
  return *this;
}

Option& Option::noted(std::set<std::string>& given) {
  assign = [&given, name = name, assigned = std::move(assign)](const std::vector<std::string>& texts) {
    given.insert(name);
    assigned(texts);
  };
  return *this;
}

void OptionTable::noted(std::set<std::string>& given) {
  for (Option& option : options_)
    if (!option.positional) option.noted(given);
}

Option& OptionTable::add(const std::string& names, const std::string& placeholder, const std::string& help) {
  Option& option = options_.emplace_back();
  const auto comma = names.find(',');
  option.name = comma == std::string::npos ? names : names.substr(comma + 1);
  if (comma != std::string::npos) option.short_name = names.substr(0, comma);
  option.value = placeholder;
  option.help = help;
  option.positional = !names.starts_with('-');
  option.group = option.positional ? "Arguments" : group_;
  return option;
}

Option& OptionTable::flag(const std::string& names, bool& target, const std::string& help) {
  Option& option = add(names, "", help);
  option.assign = [&target](const std::vector<std::string>&) { target = true; };
  return option;
}

std::vector<std::string> OptionTable::names() const {
  std::vector<std::string> all;
  for (const Option& option : options_) {
    if (option.positional) continue;
    all.push_back(option.name);
    if (!option.short_name.empty()) all.push_back(option.short_name);
  }
  return all;
}

void OptionTable::read(const Option& option, const std::vector<std::string>& texts, std::string& target) {
  const std::string& text = texts.back();
  if (text.empty())
    refuse(option, text, "a value", option.positional ? "give its name" : "leave the option out, or say something");
  // Where a file may stand as well, the choices are only what a shell offers.
  if (!option.choices.empty() && option.operand == Operand::text &&
      std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
    std::string list;
    for (const auto& choice : option.choices) list += (list.empty() ? "" : ", ") + choice;
    const std::string nearest = nearest_name(text, option.choices);
    refuse(option, text, "one of " + list,
           nearest.empty() ? "give one of these" : format("did you mean '{}'?", nearest));
  }
  target = text;
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts, int& target) {
  target = whole_number<int>(option, texts.back());
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts, std::int64_t& target) {
  target = whole_number<std::int64_t>(option, texts.back());
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts, double& target) {
  target = real_number(option, texts.back());
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts,
                       std::optional<std::int64_t>& target) {
  target = whole_number<std::int64_t>(option, texts.back());
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts, std::optional<double>& target) {
  target = real_number(option, texts.back());
}
void OptionTable::read(const Option& option, const std::vector<std::string>& texts, std::vector<double>& target) {
  target.clear();
  const std::string& text = texts.back();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    target.push_back(real_number(option, text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
}
void OptionTable::read(const Option&, const std::vector<std::string>& texts, std::vector<std::string>& target) {
  target = texts;
}

std::string OptionTable::default_of(int target) { return format("{}", target); }
std::string OptionTable::default_of(std::int64_t target) { return format("{}", target); }
std::string OptionTable::default_of(double target) { return format("{}", target); }

}  // namespace lepus::app
