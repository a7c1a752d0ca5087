// SPDX-License-Identifier: Apache-2.0
#include "import/header_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/format.h"
#include "core/input_file.h"
#include "core/text.h"
#include "geometry/xml_elements.h"
#include "io/file.h"
#include "io/header_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double largest_count = 1e9;

// Length of the UTF-8 character that begins here; 0 where these bytes are none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

}  // namespace

std::string read_header_text(const std::filesystem::path& file) {
  std::string text = read_text_file(file, largest_scan_file);
  if (text.find('\0') != std::string::npos)
    throw Error(ErrorKind::input, {.what = "the header is no text",
                                   .where = file.string(),
                                   .why = "it holds bytes that are zero",
                                   .hint = "copy the file again; a header in UTF-16 must be saved as UTF-8"});
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // the byte order mark of UTF-8
  return text;
}

std::string as_utf8(std::string_view text) {
  std::string good;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length > 0) {
      good += text.substr(0, length);
    } else {  // Latin-1: its characters have the numbers of Unicode
      const auto byte = static_cast<unsigned char>(text[0]);
      good += static_cast<char>(0xc0 | (byte >> 6));
      good += static_cast<char>(0x80 | (byte & 0x3f));
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return good;
}

std::optional<double> header_number(std::string_view text) {
  std::string word(trimmed(text));
  if (word.starts_with('+')) word.erase(0, 1);
  if (std::ranges::count(word, ',') == 1 && word.find('.') == std::string::npos) std::ranges::replace(word, ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string last_part(std::string_view path) {
  while (path.ends_with('/') || path.ends_with('\\')) path.remove_suffix(1);
  const std::size_t cut = path.find_last_of("/\\");
  return std::string(cut == std::string_view::npos ? path : path.substr(cut + 1));
}

bool begins_with_text(const std::filesystem::path& file, std::string_view text) {
  try {
    return InputFile(file).head(64 << 10).find(text) != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::filesystem::path> headers_with(const std::vector<std::filesystem::path>& files,
                                                std::string_view ending, std::string_view text) {
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& file : files)
    if (lower_extension(file) == ending && begins_with_text(file, text)) found.push_back(file);
  return found;
}

void HeaderFields::add(std::string_view name, std::string_view value, int line) {
  fields_.push_back({as_utf8(name), as_utf8(value), {}});
  lines_.push_back(line);
}

std::size_t HeaderFields::index_of(std::string_view name) const {
  const std::string wanted = lower_case(std::string(name));
  std::size_t i = 0;
  while (i < fields_.size() && lower_case(fields_[i].name) != wanted) ++i;
  return i;
}

bool HeaderFields::has(std::string_view name) const { return index_of(name) < fields_.size(); }

std::string HeaderFields::path_of(std::string_view name) const {
  for (const HeaderField& field : fields_)
    if (std::string_view(field.name).substr(field.name.rfind('/') + 1) == name) return field.name;  // npos + 1 is 0
  return std::string(name);
}

std::string HeaderFields::where(std::string_view name) const {
  const std::size_t i = index_of(name);
  return i < lines_.size() && lines_[i] > 0 ? format("{}:{}", file_.string(), lines_[i]) : file_.string();
}

void HeaderFields::fail(std::string_view name, std::string what, std::string why, std::string hint) const {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = where(name), .why = std::move(why), .hint = std::move(hint)});
}

void HeaderFields::missing(std::string_view name) const {
  fail(name, format("the header does not say {}", name), "without it the scan cannot be reconstructed",
       "is the header complete? Where it is, write a scan file by hand: docs/scan-file.md");
}

std::optional<std::string> HeaderFields::text(std::string_view name, std::string_view use) {
  const std::size_t i = index_of(name);
  if (i == fields_.size()) return std::nullopt;
  fields_[i].use = use;
  return fields_[i].value;
}

std::optional<double> HeaderFields::number(std::string_view name, std::string_view use) {
  const auto value = text(name, use);
  if (!value || trimmed(*value).empty()) return std::nullopt;
  const auto number = header_number(*value);
  if (!number)
    fail(name, format("{} is no finite number", name), format("it is \"{}\"", shown(*value)), "correct the header");
  return number;
}

std::optional<std::int64_t> HeaderFields::count(std::string_view name, std::string_view use) {
  const auto value = number(name, use);
  if (!value) return std::nullopt;
  if (!(*value >= 0 && *value <= largest_count && *value == std::floor(*value)))
    fail(name, format("{} is no count", name), format("it is {}", *value), "correct the header");
  return static_cast<std::int64_t>(*value);
}

double HeaderFields::require_number(std::string_view name, std::string_view use) {
  const auto value = number(name, use);
  if (!value) missing(name);
  return *value;
}

double HeaderFields::require_length(std::string_view name, std::string_view use) {
  const double value = require_number(name, use);
  if (!(value > 0)) fail(name, format("{} is not above zero", name), format("it is {}", value), "correct the header");
  return value;
}

std::int64_t HeaderFields::require_count(std::string_view name, std::string_view use) {
  const auto value = count(name, use);
  if (!value) missing(name);
  if (*value == 0) fail(name, format("{} is zero", name), "a scan has at least one", "correct the header");
  return *value;
}

HeaderFields read_ini_header(const std::filesystem::path& file) {
  const std::string text = read_header_text(file);
  HeaderFields header(file);
  std::string section;
  int line = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view words = trimmed(std::string_view(text).substr(start, end - start));
    start = end + 1;
    ++line;
    if (words.empty() || words.front() == ';' || words.front() == '#') continue;
    if (words.front() == '[' && words.back() == ']') {
      section = std::string(trimmed(words.substr(1, words.size() - 2)));
      continue;
    }
    const std::size_t equals = words.find('=');
    const std::size_t cut = equals != std::string_view::npos ? equals : words.find(": ");
    if (cut == std::string_view::npos) continue;
    const std::string name(trimmed(words.substr(0, cut)));
    header.add(section.empty() ? name : format("{}/{}", section, name), trimmed(words.substr(cut + 1)), line);
  }
  return header;
}

HeaderFields read_xml_header(const std::filesystem::path& file) {
  const std::string text = read_header_text(file);
  HeaderFields header(file);
  std::vector<std::string> open;
  std::vector<bool> leaf;
  const auto path = [&] {
    std::string name = open[1];
    for (std::size_t i = 2; i < open.size(); ++i) name += "/" + open[i];
    return name;
  };
  const auto line_of = [](const XmlElement& element) {
    int line = 0;  // "file, line 12"
    if (const std::size_t at = element.where.rfind("line "); at != std::string::npos)
      std::from_chars(element.where.data() + at + 5, element.where.data() + element.where.size(), line);
    return line;
  };
  const auto at_start = [&](const XmlElement& element) {
    if (!leaf.empty()) leaf.back() = false;
    open.emplace_back(element.name);
    leaf.push_back(true);
    for (const XmlAttribute& attribute : xml_attributes(element.attributes))
      if (open.size() > 1) header.add(format("{}@{}", path(), attribute.name), attribute.value, line_of(element));
  };
  const auto at_end = [&](const XmlElement& element) {
    if (leaf.back() && open.size() > 1) {
      header.add(path(), trimmed(element.text), line_of(element));
    }
    open.pop_back();
    leaf.pop_back();
  };
  read_xml(text, file.string(), at_start, at_end);
  return header;
}

}  // namespace lepus
