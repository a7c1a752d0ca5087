// SPDX-License-Identifier: Apache-2.0
// A reader for the little XML that geometry files use: elements, attributes, numbers as text. No entities, no mixed
// content. Hands out each element as it closes, in the order of the file; garbage is an Error(input) naming the line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lepus {

struct XmlElement {
  std::string_view name;
  std::string_view attributes;  // as written
  std::string_view text;        // between the last tag inside it (or its start) and its end
  std::string_view parent;      // "" for the outermost
  std::string where;            // "file, line 12"
};

void read_xml(std::string_view text, const std::string& file, const std::function<void(const XmlElement&)>& at_start,
              const std::function<void(const XmlElement&)>& at_end);

struct XmlAttribute {
  std::string_view name, value;
};
// All of an element's, up to the first that is not written as key="value" (or with single quotes).
std::vector<XmlAttribute> xml_attributes(std::string_view attributes);
// The value of key="value" (or with single quotes), "" where there is none.
std::string_view xml_attribute(std::string_view attributes, std::string_view key);

}  // namespace lepus
