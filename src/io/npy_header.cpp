// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/format.h"
#include "io/header_text.h"
#include "io/pixels.h"

namespace lepus {
namespace {

using namespace std::string_view_literals;

struct NumpyType {
  std::string_view letters;  // after the byte order
  PixelType type;
  StoredNumber number = StoredNumber::pixel;
};
constexpr auto numpy_types = std::to_array<NumpyType>({
    {"u1", PixelType::u8},
    {"i1", PixelType::i8},
    {"u2", PixelType::u16},
    {"i2", PixelType::i16},
    {"u4", PixelType::u32},
    {"i4", PixelType::i32},
    {"f2", PixelType::f16},
    {"f4", PixelType::f32},
    {"f8", PixelType::f64},
    {"b1", PixelType::u8},
    {"i8", PixelType::f64, StoredNumber::int64},
    {"u8", PixelType::f64, StoredNumber::uint64},
});

// The value of 'key' in the header's dictionary: a text without its quotes, a list without its brackets, or a word.
std::string_view value_of(std::string_view text, std::string_view key, const std::filesystem::path& file) {
  for (const char quote : {'\'', '"'}) {
    const std::string name = format("{}{}{}", quote, key, quote);
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) continue;
    std::string_view rest = trimmed(text.substr(at + name.size()));
    if (!rest.starts_with(':')) break;
    rest = trimmed(rest.substr(1));
    if (rest.empty()) break;
    const char close = rest[0] == '(' ? ')' : rest[0] == '\'' || rest[0] == '"' ? rest[0] : ',';
    const std::size_t first = close == ',' ? 0 : 1, end = rest.find(close, first);
    if (end == std::string_view::npos) break;
    return trimmed(rest.substr(first, end - first));
  }
  throw_bad_header(file, format("the header of the array has no '{}'", key));
}

std::vector<std::int64_t> shape_of(std::string_view text, const std::filesystem::path& file) {
  std::string numbers(text);
  std::replace(numbers.begin(), numbers.end(), ',', ' ');
  std::vector<std::int64_t> shape = parse_integers(numbers, "shape", file);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0; }))
    throw_bad_header(file, format("the shape of the array is ({})", text));
  return shape;
}

}  // namespace

std::string numpy_name(PixelType type) {
  const auto* found = std::find_if(numpy_types.begin(), numpy_types.end(), [&](const NumpyType& t) {
    return t.type == type && t.number == StoredNumber::pixel && t.letters != "b1";
  });
  return (bytes_per_pixel(type) == 1 ? "|" : "<") + std::string(found->letters);
}

std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += format("{}, ", size);
  if (shape.size() == 1) sizes = format("{},", shape[0]);
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string text = format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, sizes);
  // Magic, version and length take 10 bytes; all of it ends with a line at a multiple of 64.
  text.append(63 - (10 + text.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(length & 0xFF));
  header.push_back(static_cast<char>(length >> 8));
  return header + text;
}

StoredArray parse_npy_header(const std::function<std::int64_t(void*, std::int64_t)>& read,
                             const std::filesystem::path& file) {
  std::array<unsigned char, 12> start{};
  const auto more = [&](void* out, std::int64_t bytes) {
    if (read(out, bytes) != bytes) throw_bad_header(file, "the header of the array is cut off");
  };
  more(start.data(), 10);
  if (std::string_view(reinterpret_cast<const char*>(start.data()), 6) != "\x93NUMPY"sv)
    throw_bad_header(file, "it does not begin as NumPy's arrays do");
  std::int64_t length = start[8] | start[9] << 8, before = 10;
  if (start[6] > 1) {  // four bytes for the length instead of two
    more(start.data() + 10, 2);
    length |= std::int64_t{start[10]} << 16 | std::int64_t{start[11]} << 24;
    before = 12;
  }
  constexpr std::int64_t longest = 1 << 20;
  if (start[6] < 1 || start[6] > 3 || length > longest)
    throw_bad_header(file, format("version {} with a header of {} bytes", start[6], length));
  std::string text(static_cast<std::size_t>(length), '\0');
  more(text.data(), length);

  StoredArray array;
  array.offset = before + length;
  array.shape = shape_of(value_of(text, "shape", file), file);
  const std::string_view order = value_of(text, "fortran_order", file);
  if (order != "True" && order != "False") throw_bad_header(file, format("'fortran_order' is {}", order));
  array.first_index_fastest = order == "True" && array.shape.size() > 1;
  if (array.first_index_fastest) std::reverse(array.shape.begin(), array.shape.end());
  const std::string_view type = value_of(text, "descr", file);
  const auto* found = type.size() < 2 ? numpy_types.end()
                                      : std::find_if(numpy_types.begin(), numpy_types.end(),
                                                     [&](const NumpyType& t) { return t.letters == type.substr(1); });
  if (found == numpy_types.end() || "<>|="sv.find(type[0]) == std::string_view::npos) {
    array.problem = format("its type is '{}', and lepus reads plain integers and floats", type);
    return array;
  }
  array.type = found->type;
  array.number = found->number;
  array.big_endian = type[0] == '>';
  return array;
}

}  // namespace lepus
