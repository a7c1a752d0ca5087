// SPDX-License-Identifier: Apache-2.0
#include "scan/edit_scan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <toml++/toml.h>

#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_edit(const std::string& where, std::string why) {
  throw Error(ErrorKind::usage, {.what = "the keys that were found cannot be written into the scan file",
                                 .where = where,
                                 .why = std::move(why),
                                 .hint = "put the printed lines there by hand"});
}

toml::table parsed(const std::string& text, const std::string& where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    refuse_edit(where, std::string(error.description()));
  }
}

// Lines and columns of TOML, from 1; columns count characters of UTF-8, not bytes.
std::size_t offset_of(const std::string& text, toml::source_position at) {
  std::size_t offset = 0;
  for (toml::source_index line = 1; line < at.line; ++line) offset = text.find('\n', offset) + 1;
  for (toml::source_index column = 1; column < at.column; ++column) {
    ++offset;
    while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U) ++offset;
  }
  return offset;
}

std::string line_end(const std::string& text) {
  const std::size_t first = text.find('\n');
  return first != std::string::npos && first > 0 && text[first - 1] == '\r' ? "\r\n" : "\n";
}

// Both less the keys of the section.
bool same_but_for(toml::table a, toml::table b, const std::string& section, const NumbersOfKeys& keys) {
  for (toml::table* whole : {&a, &b})
    if (toml::table* part = whole->get_as<toml::table>(section))
      for (const auto& [key, value] : keys) part->erase(key);
  return a == b;
}

}  // namespace

std::string with_numbers(const std::string& text, const std::string& section, const NumbersOfKeys& keys,
                         const std::string& where) {
  const toml::table before = parsed(text, where);
  const toml::table* table = before.get_as<toml::table>(section);
  if (table == nullptr) refuse_edit(where, format("it has no section [{}]", section));
  struct Change {
    std::size_t begin, end;
    std::string with;
  };
  std::vector<Change> changes;
  std::string added;
  for (const auto& [key, value] : keys) {
    const std::string number = format("{:.9g}", value);
    if (const toml::node* old = table->get(key))
      changes.push_back({offset_of(text, old->source().begin), offset_of(text, old->source().end), number});
    else
      added += format("{} = {}{}", key, number, line_end(text));
  }
  if (!added.empty()) {
    const std::size_t head = offset_of(text, table->source().begin);
    if (table->is_inline() || head >= text.size() || text[head] != '[')
      refuse_edit(where, format("its {} is not a section [{}]", section, section));
    const std::size_t next = std::min(text.find('\n', head), text.size() - 1) + 1;
    changes.push_back({next, next, (text[next - 1] != '\n' ? line_end(text) : "") + added});
  }
  // From the end, so that places before stay.
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) { return x.begin < y.begin; });
  std::string changed = text;
  for (auto c = changes.rbegin(); c != changes.rend(); ++c) changed.replace(c->begin, c->end - c->begin, c->with);

  const toml::table after = parsed(changed, where);
  bool written = same_but_for(before, after, section, keys);
  for (const auto& [key, value] : keys)
    written = written && std::abs(after[section][key].value<double>().value_or(NAN) - value) <= 1e-8 * std::abs(value);
  if (!written) refuse_edit(where, "the changed file would say something else");
  return changed;
}

ScanFileEdit::ScanFileEdit(std::filesystem::path file)
    : file_(std::move(file)), lock_(file_), before_(read_text_file(file_, largest_scan_file)) {}

void ScanFileEdit::write(const std::string& section, const NumbersOfKeys& keys) const {
  if (read_text_file(file_, largest_scan_file) != before_)
    throw Error(ErrorKind::input, {.what = "the scan file was changed during the run",
                                   .where = file_.string(),
                                   .why = "what was found may not belong to what it says now; it was left as it is",
                                   .hint = "run the command again"});
  const std::string changed = with_numbers(before_, section, keys, file_.string());
  const auto permissions = std::filesystem::status(file_).permissions();
  write_file(file_, changed, true);
  std::filesystem::permissions(file_, permissions);
}

}  // namespace lepus
