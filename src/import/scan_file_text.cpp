// SPDX-License-Identifier: Apache-2.0
#include "import/scan_file_text.h"

#include <algorithm>

#include "core/format.h"
#include "io/frames.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t numbers_in_a_line = 10;

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

// Angles of 3000 views are read by people too.
template <class T>
std::string list_text(const std::vector<T>& values, std::size_t in_a_line) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i % in_a_line == 0 ? "\n  " : " ";
    text += to_toml(KeyValue(values[i])) + ",";
  }
  return text + "\n]";
}

fs::path name_from(const fs::path& folder, const fs::path& file) {
  const fs::path whole = fs::absolute(file).lexically_normal();
  const fs::path below = whole.lexically_relative(fs::absolute(folder).lexically_normal());
  return below.empty() || *below.begin() == ".." ? whole : below;
}

// "frames/scan_*.tif" where exactly these files match it; else "".
std::string pattern_of(const std::vector<std::string>& names, const fs::path& folder,
                       const std::vector<fs::path>& files) {
  if (names.size() < 3) return {};
  std::size_t start = 0, end = 0;
  const auto all = [&](const auto& same) { return std::ranges::all_of(names, same); };
  while (all([&](const std::string& n) { return start < n.size() && n[start] == names[0][start]; })) ++start;
  while (start > 0 && names[0][start - 1] >= '0' && names[0][start - 1] <= '9') --start;  // whole numbers
  while (all([&](const std::string& n) {
    return start + end < n.size() && n[n.size() - 1 - end] == names[0][names[0].size() - 1 - end];
  }))
    ++end;
  while (end > 0 && names[0][names[0].size() - end] >= '0' && names[0][names[0].size() - end] <= '9') --end;
  const std::string before = names[0].substr(0, start), after = names[0].substr(names[0].size() - end);
  if (has_wildcard(before) || has_wildcard(after)) return {};
  const std::string pattern = before + "*" + after;
  const auto same_file = [](const fs::path& a, const fs::path& b) {
    return fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
  };
  try {
    return std::ranges::equal(expand_pattern(folder, pattern), files, same_file) ? pattern : std::string();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ScanFileText::Entry& ScanFileText::entry(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  const std::string section = key.substr(0, dot), name = key.substr(dot + 1);
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& e) { return e.section == section && e.name == name; });
  if (found != entries_.end()) return *found;
  return entries_.emplace_back(Entry{section, name, {}, {}, {}});
}

void ScanFileText::set(const std::string& key, KeyValue value, std::string from) {
  Entry& e = entry(key);
  e.value = std::move(value);
  e.files.clear();
  e.from = one_line(std::move(from));
}

void ScanFileText::set_files(const std::string& key, std::vector<fs::path> files, std::string from) {
  Entry& e = entry(key);
  e.files = std::move(files);
  e.from = one_line(std::move(from));
}

void ScanFileText::remove(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& e) { return e.section + "." + e.name == key; });
}

bool ScanFileText::has(std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const Entry& e) { return e.section + "." + e.name == key; });
}

std::string ScanFileText::line(const Entry& e, const fs::path& folder) {
  std::string value;
  if (!e.files.empty()) {
    std::vector<std::string> names;
    for (const fs::path& file : e.files) names.push_back(name_from(folder, file).string());
    const std::string pattern = pattern_of(names, folder, e.files);
    value = names.size() == 1 ? to_toml(names[0]) : !pattern.empty() ? to_toml(pattern) : list_text(names, 1);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&e.value);
             numbers && numbers->size() > numbers_in_a_line) {
    value = list_text(*numbers, numbers_in_a_line);
  } else {
    value = to_toml(e.value);
  }
  if (value.find('\n') != std::string::npos) return format("# {}: {}\n{} = {}\n", e.name, e.from, e.name, value);
  return format("{} = {}  # {}\n", e.name, value, e.from);
}

std::string ScanFileText::text(const fs::path& folder, const std::string& heading) const {
  std::string text = "# " + one_line(heading) + "\n";
  for (const ScanSection& section : scan_sections()) {
    std::string lines;
    for (const Entry& e : entries_)
      if (e.section == section.name) lines += line(e, folder);
    if (section.name == "output" && !more_.empty()) text += "\n" + more_;
    if (!lines.empty()) text += format("\n[{}]\n{}", section.name, lines);
  }
  return text;
}

}  // namespace lepus
