// SPDX-License-Identifier: Apache-2.0
#include "scan/number_column.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/format.h"
#include "core/input_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::string_view around = " \t\r\v\f\"'";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(around) - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  if (trimmed(line).empty()) return fields;
  for (const char separator : {'\t', ';', ','}) {
    if (line.find(separator) == std::string_view::npos) continue;
    while (true) {
      const std::size_t end = line.find(separator);
      fields.push_back(trimmed(line.substr(0, end)));
      if (end == std::string_view::npos) return fields;
      line.remove_prefix(end + 1);
    }
  }
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::size_t end = std::min(line.find(' '), line.size());
    fields.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end);
  }
  return fields;
}

std::optional<double> number_in(std::string_view field) {
  double value = 0;
  if (field.starts_with('+')) field.remove_prefix(1);  // from_chars knows no plus sign
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

class ColumnReader {
public:
  ColumnReader(const std::filesystem::path& file, const std::string& column) : file_(file), column_(column) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
    if (error == std::errc() && end == column.data() + column.size() && number > 0) index_ = number - 1;
    by_number_ = index_.has_value();
  }

  void look_at(std::string_view line, int number) {
    const std::size_t comment = line.find('#');
    if (!index_ && comment != std::string_view::npos) find_heading(fields_of(line.substr(comment + 1)));
    const std::vector<std::string_view> fields = fields_of(line.substr(0, comment));
    if (fields.empty()) return;
    if (!index_) return find_heading(fields);
    const auto value = *index_ < fields.size() ? number_in(fields[*index_]) : std::nullopt;
    if (value) return values_.push_back(*value);
    if (by_number_ && values_.empty()) return;  // a heading
    throw Error(ErrorKind::input, {.what = *index_ < fields.size()
                                               ? format("\"{}\" is not a finite number", fields[*index_].substr(0, 40))
                                               : format("the line has {} fields", fields.size()),
                                   .where = format("{}:{}", file_.string(), number),
                                   .why = format("column \"{}\" is read from it", column_),
                                   .hint = "every line below the heading must have the column, with a decimal point"});
  }

  std::vector<double> values() && {
    if (index_ && !values_.empty()) return std::move(values_);
    throw Error(ErrorKind::input,
                {.what = format("the file has no column \"{}\"", column_),
                 .where = file_.string(),
                 .why = headings_.empty() ? "it has no line with a number there" : "its first line has " + headings_,
                 .hint = "give a name from the heading, or a number counted from 1"});
  }

private:
  void find_heading(const std::vector<std::string_view>& fields) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](std::string_view f) { return same_word(f, column_); });
    if (found != fields.end()) index_ = static_cast<std::size_t>(found - fields.begin());
    if (!headings_.empty()) return;
    for (const std::string_view field : fields)
      headings_ += format("{}\"{}\"", headings_.empty() ? "" : ", ", field.substr(0, 40));
  }

  const std::filesystem::path& file_;
  const std::string& column_;
  std::optional<std::size_t> index_;  // none: the heading has not been seen
  bool by_number_ = false;
  std::string headings_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> read_number_column(const std::filesystem::path& file, const std::string& column) {
  const std::string text = read_text_file(file, largest_number_file);
  ColumnReader reader(file, column);
  int number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    reader.look_at(std::string_view(text).substr(start, end - start), ++number);
    start = end + 1;
  }
  return std::move(reader).values();
}

}  // namespace lepus
