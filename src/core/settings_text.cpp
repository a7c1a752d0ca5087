// SPDX-License-Identifier: Apache-2.0
#include "core/settings_text.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "core/format.h"

namespace lepus {
namespace {

using Settings = std::map<std::string, std::string>;

// Sections that come more than once ("[[correct]]") are counted: "correct 2.kind".
Settings settings_in(const std::string& text) {
  Settings settings;
  std::map<std::string, int> heads;
  std::string section, last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line.substr(line.find_first_not_of('['));
      section.erase(section.find_last_not_of(']') + 1);
      if (const int count = ++heads[section]; count > 1) section += format(" {}", count);
      last.clear();
      continue;
    }
    if (const std::size_t equals = line.find(" = "); equals != std::string::npos) {
      last = (section.empty() ? "" : section + ".") + line.substr(0, equals);
      settings[last] = line.substr(equals + 3);
    } else {
      settings[last] += "\n" + line;  // a value that goes on
    }
  }
  return settings;
}

std::string shortened(const std::string& value) {
  constexpr std::size_t longest = 60;
  return value.size() <= longest ? value : value.substr(0, longest) + "...";
}

// Of long values that begin alike, from shortly before the first difference on.
std::string changed(const std::string& name, const std::string& before, const std::string& now) {
  constexpr std::size_t context = 20;
  const std::string old_value = shortened(before), new_value = shortened(now);
  if (old_value != new_value) return format("{} was {}, is {}", name, old_value, new_value);
  const auto [differs, ignored] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  const auto from = static_cast<std::size_t>(differs - before.begin()) - context;
  return format("{} was ...{}, is ...{}", name, shortened(before.substr(from)), shortened(now.substr(from)));
}

}  // namespace

std::string settings_difference(const std::string& before, const std::string& now) {
  constexpr std::size_t named = 3;
  const Settings old_settings = settings_in(before), new_settings = settings_in(now);
  std::vector<std::string> differences;
  for (const auto& [name, value] : old_settings) {
    const auto found = new_settings.find(name);
    if (found == new_settings.end())
      differences.push_back(format("{} was {}, is not given", name, shortened(value)));
    else if (found->second != value)
      differences.push_back(changed(name, value, found->second));
  }
  for (const auto& [name, value] : new_settings)
    if (!old_settings.contains(name)) differences.push_back(format("{} was not given, is {}", name, shortened(value)));
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < named; ++i) text += (i > 0 ? "; " : "") + differences[i];
  if (differences.size() == named + 1) text += "; " + differences.back();
  if (differences.size() > named + 1) text += format("; {} others differ", differences.size() - named);
  return text;
}

}  // namespace lepus
