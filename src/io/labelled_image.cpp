// SPDX-License-Identifier: Apache-2.0
// Header and tail of labelled images. labelled_frames.cpp reads the pixels.
#include "io/labelled_image.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "core/format.h"
#include "core/input_file.h"
#include "core/text.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t longest_part = std::int64_t{1} << 16;  // bytes of a header or a tail
constexpr std::int64_t largest_side = 1'000'000;

[[noreturn]] void refuse(std::string what, std::string where, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = std::move(where), .why = std::move(why), .hint = std::move(hint)});
}

const char* name_of(LabelType type) {
  return type == LabelType::integer ? "integer" : type == LabelType::number ? "number" : "text";
}

const LabelRule* find_rule(const std::vector<LabelRule>& rules, std::string_view name) {
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const LabelRule& r) { return r.name == name; });
  return rule == rules.end() ? nullptr : &*rule;
}

// "name value", "name = value", "name: value".
Label split_label(std::string_view text, int line) {
  const std::size_t end = std::min(text.find_first_of(" \t=:"), text.size());
  std::string_view value = trimmed(text.substr(end));
  if (value.starts_with('=') || value.starts_with(':')) value = trimmed(value.substr(1));
  return {std::string(text.substr(0, end)), std::string(value), line};
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_line_of_numbers(std::string_view words) {
  return whole_number<double>(words.substr(0, words.find_first_of(" \t"))).has_value();
}

// One part of a file, header or tail, against its rules.
class Part {
public:
  Part(const char* what, const std::vector<LabelRule>& rules, const fs::path& file)
      : what_(what), rules_(rules), file_(file) {}

  bool lists(std::string_view line) const { return find_rule(rules_, split_label(line, 0).name) != nullptr; }

  void add(std::string_view text, int line) {
    Label label = split_label(text, line);
    const std::string where = format("{}, line {} of the {}", file_.string(), line, what_);
    const LabelRule* const rule = find_rule(rules_, label.name);
    if (!rule) {
      std::vector<std::string> names;
      for (const LabelRule& known : rules_) names.push_back(known.name);
      const std::string nearest = nearest_name(label.name, names);
      refuse(format("the {} has a line that is not listed", what_), where, format("\"{}\"", shown(text)),
             nearest.empty() ? "list its name with the others" : format("did you mean {}?", nearest));
    }
    if (std::any_of(labels_.begin(), labels_.end(), [&](const Label& l) { return l.name == label.name; }))
      refuse(format("{} stands there twice", label.name), where, format("in one {}", what_), "leave one of them out");
    const auto number = whole_number<double>(label.value);
    const bool good = rule->type == LabelType::text ||
                      (rule->type == LabelType::integer ? whole_number<std::int64_t>(label.value).has_value()
                                                        : number && std::isfinite(*number));
    if (!good)
      refuse(format("{} is no {}", label.name, name_of(rule->type)), where, format("it is \"{}\"", shown(label.value)),
             "correct the file, or the type in the list");
    labels_.push_back(std::move(label));
  }

  std::vector<Label> finished() {
    for (const LabelRule& rule : rules_)
      if (rule.required &&
          std::none_of(labels_.begin(), labels_.end(), [&](const Label& l) { return l.name == rule.name; }))
        refuse(format("the {} does not say {}", what_, rule.name), file_.string(), "it is listed as required",
               "is the file cut off? Where it is whole, list the name without \"required\"");
    return std::move(labels_);
  }

private:
  const char* what_;
  const std::vector<LabelRule>& rules_;
  const fs::path& file_;
  std::vector<Label> labels_;
};

// Returns where the pixels begin.
std::int64_t read_header(std::string_view head, const LabelledLayout& layout, const fs::path& path,
                         LabelledImage& image) {
  Part part("header", layout.header, path);
  std::size_t at = 0;
  for (int line = 1;; ++line) {
    const std::size_t end = head.find('\n', at);
    const std::string_view words = trimmed(head.substr(at, end == std::string_view::npos ? end : end - at));
    const bool marked = !layout.header_end.empty();
    if (marked ? words == layout.header_end : !(words.empty() && layout.text_pixels) && !part.lists(words)) {
      if (!marked && layout.text_pixels && !is_line_of_numbers(words)) part.add(words, line);  // says what is wrong
      image.header = part.finished();
      return static_cast<std::int64_t>(!marked ? at : end == std::string_view::npos ? head.size() : end + 1);
    }
    if (end == std::string_view::npos)
      refuse("the header does not end", path.string(),
             marked ? format("no line says \"{}\"", layout.header_end) : "there are no pixels after it",
             "is the file cut off?");
    if (!words.empty()) part.add(words, line);
    at = end + 1;
  }
}

// Of a text: where the lines after the last line of numbers begin. A first line that is `cut` is one of numbers.
std::size_t begin_of_tail(std::string_view text, bool cut) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t before = text.substr(0, begin - 1).rfind('\n');
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view words = trimmed(text.substr(start, begin - start));
    if ((start == 0 && cut) || is_line_of_numbers(words)) break;
    begin = start;
  }
  return begin;
}

void read_tail(std::string_view text, const LabelledLayout& layout, const fs::path& path, LabelledImage& image) {
  Part part("tail", layout.tail, path);
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    if (const std::string_view words = trimmed(text.substr(0, end + 1)); !words.empty()) part.add(words, line);
    text.remove_prefix(end + 1);
  }
  image.tail = part.finished();
}

std::int64_t integer_of(const LabelledImage& image, const std::string& name) {
  return whole_number<std::int64_t>(image.find(name)->value).value();
}

}  // namespace

const Label* LabelledImage::find(std::string_view name) const {
  for (const auto* part : {&header, &tail})
    for (const Label& label : *part)
      if (label.name == name) return &label;
  return nullptr;
}

LabelRule parse_label_rule(const std::string& words) {
  std::vector<std::string> parts;
  for (std::string_view rest = trimmed(words); !rest.empty(); rest = trimmed(rest)) {
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  const bool known = parts.size() >= 2 && (parts[1] == "integer" || parts[1] == "number" || parts[1] == "text");
  if (!known || parts.size() > 3 || (parts.size() == 3 && parts[2] != "required") ||
      parts[0].find_first_of("=:") != std::string::npos)
    refuse("a line of the header or tail is not described", {}, format("\"{}\"", shown(words)),
           "write its name, its type (integer, number, text) and perhaps required: \"columns integer required\"");
  return {parts[0],
          parts[1] == "integer"  ? LabelType::integer
          : parts[1] == "number" ? LabelType::number
                                 : LabelType::text,
          parts.size() == 3};
}

std::string words_of(const LabelRule& rule) {
  return format("{} {}{}", rule.name, name_of(rule.type), rule.required ? " required" : "");
}

void check_layout(const LabelledLayout& layout) {
  for (const auto* part : {&layout.header, &layout.tail}) {
    std::set<std::string> names;
    for (const LabelRule& rule : *part)
      if (!names.insert(rule.name).second)
        refuse("a name is listed twice", {}, rule.name, "list every line of the header or the tail once");
  }
  std::vector<std::string> sizes{layout.columns_from, layout.lines_from};
  if (!layout.number_from.empty()) sizes.push_back(layout.number_from);
  for (const std::string& name : sizes) {
    const LabelRule* const rule = find_rule(layout.header, name);
    if (!rule || rule->type != LabelType::integer || !rule->required)
      refuse("the header does not say what it should", {},
             format("\"{}\" is not listed as a required integer", shown(name)),
             format("list it: \"{} integer required\"", name.empty() ? "columns" : name));
  }
}

LabelledImage read_labelled_image(const fs::path& path, const LabelledLayout& layout) {
  const InputFile file(path);
  LabelledImage image;
  const std::string head = file.head(longest_part);
  image.pixels_offset = read_header(head, layout, path, image);
  image.columns = integer_of(image, layout.columns_from);
  image.lines = integer_of(image, layout.lines_from);
  if (!layout.number_from.empty()) image.number = integer_of(image, layout.number_from);
  for (const auto& [name, size] : {std::pair{layout.columns_from, image.columns}, {layout.lines_from, image.lines}})
    if (size < 1 || size > largest_side)
      refuse(format("{} is impossible", name), path.string(), format("it is {}", size), "correct the file");
  const std::int64_t left = file.size() - image.pixels_offset;
  const std::int64_t bytes = image.columns * image.lines * bytes_per_pixel(layout.type);
  if (!layout.text_pixels && left < bytes)
    refuse("the file is cut off", path.string(),
           format("{} need {} bytes after the header, there are {}", describe(image.columns, image.lines, layout.type),
                  bytes, left),
           "copy it again");
  image.tail_offset =
      layout.text_pixels ? std::max(image.pixels_offset, file.size() - longest_part) : image.pixels_offset + bytes;
  if (file.size() - image.tail_offset > longest_part)
    refuse("there is more in the file than its pixels", path.string(),
           format("{} bytes follow {}", file.size() - image.tail_offset,
                  describe(image.columns, image.lines, layout.type)),
           "check the type of the pixels and where the header ends");
  std::string end(static_cast<std::size_t>(file.size() - image.tail_offset), '\0');
  file.read(image.tail_offset, end.data(), static_cast<std::int64_t>(end.size()));
  const std::size_t begin = layout.text_pixels ? begin_of_tail(end, image.tail_offset > image.pixels_offset) : 0;
  image.tail_offset += static_cast<std::int64_t>(begin);
  read_tail(std::string_view(end).substr(begin), layout, path, image);
  return image;
}

std::string label_lines(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) text += format("{} {}\n", label.name, label.value);
  return text;
}

}  // namespace lepus
