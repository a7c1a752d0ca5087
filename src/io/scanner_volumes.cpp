// SPDX-License-Identifier: Apache-2.0
// Volumes of scanners in one array after a header: VFF (GE, MicroView), ISQ (Scanco) and REK (Fraunhofer EZRT).
#include <cmath>
#include <cstring>
#include <map>

#include "core/format.h"
#include "io/header_text.h"
#include "io/stored_array.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

// A little-endian number somewhere in a binary header.
template <class Number>
Number field(const std::string& header, std::size_t offset) {
  Number value{};
  std::memcpy(&value, header.data() + offset, sizeof value);
  return value;
}

std::string whole_head(const fs::path& file, std::int64_t bytes) {
  std::string head = InputFile(file).head(bytes);
  if (static_cast<std::int64_t>(head.size()) < bytes)
    throw_bad_header(file, format("the header has {} bytes, and the file {}", bytes, head.size()));
  return head;
}

bool is_length(double value_mm) { return std::isfinite(value_mm) && value_mm > 0 && value_mm < 1e6; }

}  // namespace

// Lines of "key=value;" after "ncaa", up to a form feed; big-endian, x fastest.
ArrayFile read_vff(const fs::path& path) {
  constexpr std::int64_t longest = 1 << 20;
  const std::string head = InputFile(path).head(longest);
  const std::size_t feed = head.find('\f');
  if (feed == std::string::npos) throw_bad_header(path, "the header has no end (a form feed)");
  std::map<std::string, std::string> fields;
  for (std::size_t at = head.find('\n') + 1; at < feed;) {
    const std::size_t end = std::min(head.find('\n', at), feed);
    const std::string_view line = trimmed(std::string_view(head).substr(at, end - at));
    if (const std::size_t sign = line.find('='); sign != std::string_view::npos)
      fields[std::string(trimmed(line.substr(0, sign)))] =
          trimmed(line.substr(sign + 1, line.find(';', sign) - sign - 1));
    at = end + 1;
  }
  StoredArray array;
  const auto size = parse_integers(fields["size"], "size", path);
  if (size.size() < 2 || size.size() > 3) throw_bad_header(path, format("size is '{}'", fields["size"]));
  array.shape.assign(size.rbegin(), size.rend());
  const auto bits = parse_integers(fields["bits"], "bits", path);
  if (bits.size() != 1 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32))
    throw_unsupported_header(path, format("bits is '{}'", fields["bits"]), "lepus reads 8, 16 and 32 bits");
  if (const std::string bands = fields["bands"]; !bands.empty() && bands != "1")
    throw_unsupported_header(path, format("{} bands", bands), "write one band");
  array.type = bits[0] == 8 ? PixelType::u8 : bits[0] == 16 ? PixelType::i16 : PixelType::f32;
  array.big_endian = true;
  array.offset = static_cast<std::int64_t>(feed + (head.compare(feed, 2, "\f\n") == 0 ? 2 : 1));
  ArrayFile found;
  found.format = "VFF";
  const auto element = parse_numbers(fields["elementsize"], "elementsize", path);
  const auto spacing = parse_numbers(fields["spacing"], "spacing", path);
  double step[3] = {1, 1, 1};
  for (std::size_t i = 0; i < size.size(); ++i)
    step[i] = (element.size() == 1 ? element[0] : 1.0) * (spacing.size() == size.size() ? spacing[i] : 1.0);
  found.step_mm = {step[0], step[1], step[2]};
  found.arrays.push_back(std::move(array));
  return found;
}

// A block of 512 bytes of integers; the last says how many more follow it. Attenuation is value / mu_scaling per cm.
ArrayFile read_isq(const fs::path& path) {
  const std::string head = whole_head(path, 512);
  StoredArray array;
  array.shape = {field<std::int32_t>(head, 52), field<std::int32_t>(head, 48), field<std::int32_t>(head, 44)};
  array.type = PixelType::i16;
  array.offset = (std::int64_t{field<std::int32_t>(head, 508)} + 1) * 512;
  ArrayFile found;
  found.format = "ISQ";
  const auto step = [&](std::size_t extent, std::size_t count) {
    const double mm = field<std::int32_t>(head, extent) * 1e-3 / std::max(1, field<std::int32_t>(head, count));
    if (!is_length(mm)) throw_bad_header(path, format("a voxel of {} mm", mm));
    return mm;
  };
  found.step_mm = {step(56, 44), step(60, 48), step(64, 52)};
  if (const std::int32_t scaling = field<std::int32_t>(head, 88); scaling > 0) {
    array.number = StoredNumber::scaled;
    array.scale.slope = 0.1 / scaling;
    found.unit = "1/mm";
  }
  found.arrays.push_back(std::move(array));
  return found;
}

// 2048 bytes, of which the maker publishes nothing: sizes and bits as every reader takes them, the voxel in
// micrometres.
ArrayFile read_rek(const fs::path& path) {
  const std::string head = whole_head(path, 2048);
  const auto size = [&](std::size_t offset) { return std::int64_t{field<std::uint16_t>(head, offset)}; };
  StoredArray array;
  array.shape = {size(6), size(2), size(0)};
  const std::int64_t bits = size(4);
  if (bits != 8 && bits != 16 && bits != 32)
    throw_unsupported_header(path, format("{} bits per voxel", bits), "lepus reads 8, 16 and 32 bits");
  array.type = bits == 8 ? PixelType::u8 : bits == 16 ? PixelType::u16 : PixelType::f32;
  array.offset = 2048;
  ArrayFile found;
  found.format = "REK";
  if (const double mm = field<float>(head, 584) * 1e-3; is_length(mm)) found.step_mm = {mm, mm, mm};
  found.arrays.push_back(std::move(array));
  return found;
}

}  // namespace lepus
