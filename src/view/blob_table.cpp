// SPDX-License-Identifier: Apache-2.0
#include "view/blob_table.h"

#include <charconv>

#include "core/format.h"
#include "core/input_file.h"
#include "core/json.h"
#include <lepus/error.h>

namespace lepus::view {
namespace {

// Fields parted by commas; quotes around a field may hold commas, and "" in them is a quote.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

nlohmann::json field_json(const std::string& field) {
  double number = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (!field.empty() && code == std::errc() && end == field.data() + field.size()) return number;
  return field;
}

}  // namespace

BlobTable::BlobTable(const std::filesystem::path& csv) {
  const std::string text = read_text_file(csv, std::int64_t{256} << 20);
  nlohmann::json object{{"columns", nlohmann::json::array()}, {"rows", nlohmann::json::array()}};
  std::size_t columns = 0, line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const auto fields = fields_of(line);
    if (columns == 0) {
      columns = fields.size();
      object["columns"] = fields;
      continue;
    }
    if (fields.size() != columns)
      throw Error(ErrorKind::input, {.what = "this is no table of blobs",
                                     .where = format("{}, line {}", csv.string(), line_number),
                                     .why = format("it has {} fields, the first line {}", fields.size(), columns),
                                     .hint = "give the blobs.csv that lepus analyze wrote"});
    nlohmann::json row = nlohmann::json::array();
    for (const std::string& field : fields) row.push_back(field_json(field));
    object["rows"].push_back(std::move(row));
    ++rows_;
  }
  if (columns == 0)
    throw Error(ErrorKind::input, {.what = "the table of blobs is empty",
                                   .where = csv.string(),
                                   .why = {},
                                   .hint = "give the blobs.csv that lepus analyze wrote"});
  json_ = json_text(object);
}

}  // namespace lepus::view
