// SPDX-License-Identifier: Apache-2.0
#include "io/ome_text.h"

#include <string_view>

#include "core/format.h"
#include "io/header_text.h"

namespace lepus {
namespace {

// The value of an attribute in the text of one tag; "" where there is none.
std::string attribute(std::string_view tag, const std::string& name) {
  for (const char quote : {'"', '\''}) {
    const std::string start = format(" {}={}", name, quote);
    const std::size_t at = tag.find(start);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = tag.substr(at + start.size());
    return std::string(rest.substr(0, rest.find(quote)));
  }
  return {};
}

std::int64_t count_of(std::string_view tag, const std::string& name, const std::string& where) {
  const auto numbers = parse_integers(attribute(tag, name), name, where);
  if (numbers.size() != 1 || numbers[0] < 1) throw_bad_header(where, format("{} of the OME-XML is no count", name));
  return numbers[0];
}

double size_mm(std::string_view tag, const std::string& axis, const std::string& where) {
  const std::string key = "PhysicalSize" + axis;
  const auto size = parse_numbers(attribute(tag, key), key, where);
  if (size.empty()) return 1;
  const std::string unit = attribute(tag, key + "Unit");
  const auto mm = unit.empty() || unit == "&#181;m" ? millimetres_in("um") : millimetres_in(unit);
  if (size.size() != 1 || !mm)
    throw_bad_header(where, format("{} of the OME-XML is '{}' {}", key, attribute(tag, key), unit));
  return size[0] * *mm;
}

}  // namespace

bool is_ome(const std::string& description) {
  return description.starts_with("<?xml") && description.find("<OME") != std::string::npos &&
         description.find("<Pixels") != std::string::npos;
}

Vec3 ome_voxel_mm(const std::string& description, std::int64_t pages, const std::string& where) {
  const std::size_t start = description.find("<Pixels");
  const std::string_view tag = std::string_view(description).substr(start, description.find('>', start) - start);
  if (description.find("<Pixels", start + 1) != std::string::npos)
    throw_unsupported_header(where, "several images in one OME-TIFF", "write each into a file of its own");
  const std::int64_t channels = count_of(tag, "SizeC", where), times = count_of(tag, "SizeT", where);
  if (channels != 1 || times != 1)
    throw_unsupported_header(where, format("an OME-TIFF of {} channels and {} times", channels, times),
                             "write one channel of one time");
  if (const std::int64_t slices = count_of(tag, "SizeZ", where); slices != pages)
    throw_unsupported_header(where, format("an OME-TIFF of {} slices, of which {} are in this file", slices, pages),
                             "join its files");
  return {size_mm(tag, "X", where), size_mm(tag, "Y", where), size_mm(tag, "Z", where)};
}

}  // namespace lepus
