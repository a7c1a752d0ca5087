// SPDX-License-Identifier: Apache-2.0
// A small, strict reader of XML elements.
#include "geometry/xml_elements.h"

#include <algorithm>
#include <vector>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::string_view white = " \t\r\n";
constexpr std::size_t deepest = 32;

class XmlReader {
public:
  XmlReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void read(const std::function<void(const XmlElement&)>& at_start,
            const std::function<void(const XmlElement&)>& at_end) {
    std::size_t content = 0;  // where the text after the last tag begins
    while ((at_ = text_.find('<', content)) != std::string_view::npos) {
      const std::string_view before = text_.substr(content, at_ - content);
      if (open_.empty() && before.find_first_not_of(white) != std::string_view::npos && !starts_with_mark(before))
        refuse("there is text outside the elements");
      if (skip("<!--", "-->") || skip("<?", "?>") || skip("<!", ">")) {
        content = at_;
        continue;
      }
      const std::size_t end = text_.find('>', at_);
      if (end == std::string_view::npos) refuse("a tag does not end");
      std::string_view tag = text_.substr(at_ + 1, end - at_ - 1);
      if (tag.starts_with('/'))
        close(tag.substr(1), before, at_end);
      else
        start(tag, at_start, at_end);
      content = end + 1;
    }
    if (!open_.empty()) {
      at_ = text_.size();
      refuse(format("<{}> is not closed", open_.back().name));
    }
    if (!any_) refuse("there is no element in it");
    if (text_.substr(content).find_first_not_of(white) != std::string_view::npos) {
      at_ = content;
      refuse("there is text after the last element");
    }
  }

private:
  static bool starts_with_mark(std::string_view before) { return before == "\xEF\xBB\xBF"; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, {.what = "the XML cannot be read",
                                   .where = where(),
                                   .why = why,
                                   .hint = "check that the file is complete and of this format"});
  }
  std::string where() const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    return format("{}, line {}", file_, 1 + std::count(text_.begin(), end, '\n'));
  }
  bool skip(std::string_view from, std::string_view to) {
    if (!text_.substr(at_).starts_with(from)) return false;
    const std::size_t end = text_.find(to, at_ + from.size());
    if (end == std::string_view::npos) refuse(format("{} is not closed", from));
    at_ = end + to.size();
    return true;
  }
  std::string_view parent() const { return open_.empty() ? std::string_view{} : open_.back().name; }

  void start(std::string_view tag, const std::function<void(const XmlElement&)>& at_start,
             const std::function<void(const XmlElement&)>& at_end) {
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const std::size_t name_end = std::min(tag.find_first_of(white), tag.size());
    XmlElement element{tag.substr(0, name_end), tag.substr(name_end), {}, parent(), where()};
    if (element.name.empty() || element.name.find_first_of("<\"'=&") != std::string_view::npos)
      refuse("a tag has no proper name");
    if (open_.empty() && any_) refuse("there is a second outermost element");
    if (open_.size() >= deepest) refuse("elements are nested too deeply");
    any_ = true;
    at_start(element);
    if (empty)
      at_end(element);
    else
      open_.push_back(std::move(element));
  }
  void close(std::string_view tag, std::string_view content, const std::function<void(const XmlElement&)>& at_end) {
    const std::string_view name = tag.substr(0, std::min(tag.find_first_of(white), tag.size()));
    if (open_.empty() || open_.back().name != name)
      refuse(format("</{}> closes what is not open", std::string(name.substr(0, 40))));
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    element.text = content;
    at_end(element);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  bool any_ = false;
  std::vector<XmlElement> open_;
};

}  // namespace

void read_xml(std::string_view text, const std::string& file, const std::function<void(const XmlElement&)>& at_start,
              const std::function<void(const XmlElement&)>& at_end) {
  XmlReader(text, file).read(at_start, at_end);
}

std::vector<XmlAttribute> xml_attributes(std::string_view attributes) {
  std::vector<XmlAttribute> all;
  for (;;) {
    const std::size_t begin = std::min(attributes.find_first_not_of(white), attributes.size());
    const std::size_t equals = attributes.find('=', begin);
    if (equals == std::string_view::npos || equals + 1 == attributes.size()) return all;
    const char quote = attributes[equals + 1];
    const std::size_t end = quote == '"' || quote == '\'' ? attributes.find(quote, equals + 2) : std::string_view::npos;
    if (end == std::string_view::npos) return all;
    all.push_back({attributes.substr(begin, equals - begin), attributes.substr(equals + 2, end - equals - 2)});
    attributes.remove_prefix(end + 1);
  }
}

std::string_view xml_attribute(std::string_view attributes, std::string_view key) {
  for (const XmlAttribute& attribute : xml_attributes(attributes))
    if (attribute.name == key) return attribute.value;
  return {};
}

}  // namespace lepus
