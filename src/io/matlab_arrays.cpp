// SPDX-License-Identifier: Apache-2.0
// MATLAB's version 5 files (-v6, -v7; also SciPy's and Octave's): which variables there are and where their numbers
// lie. Version 7.3 is HDF5. "MAT-File Format", MathWorks, is the description.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>

#include "core/format.h"
#include "io/header_text.h"
#include "io/inflate.h"
#include "io/pixels.h"
#include "io/stored_array.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t matrix_element = 14, packed_element = 15;
constexpr std::uint32_t complex_flag = 0x0800;

struct MatlabType {
  PixelType type;
  StoredNumber number = StoredNumber::pixel;
};
// By the number of an element's type. MATLAB stores doubles in the smallest type that holds them all.
const std::map<std::uint32_t, MatlabType> matlab_types{{1, {PixelType::i8}},
                                                       {2, {PixelType::u8}},
                                                       {3, {PixelType::i16}},
                                                       {4, {PixelType::u16}},
                                                       {5, {PixelType::i32}},
                                                       {6, {PixelType::u32}},
                                                       {7, {PixelType::f32}},
                                                       {9, {PixelType::f64}},
                                                       {12, {PixelType::f64, StoredNumber::int64}},
                                                       {13, {PixelType::f64, StoredNumber::uint64}}};

const char* words_of_class(std::uint32_t number) {
  constexpr std::array names{"unknown", "a cell array", "a structure", "an object", "text", "a sparse matrix"};
  return number < names.size() ? names[number] : "no array of numbers";
}

// The bytes of one matrix element, as they follow each other in the file or in what is unpacked.
class Elements {
public:
  using Read = std::function<std::int64_t(void*, std::int64_t)>;
  Elements(Read read, bool swapped, const fs::path& file) : read_(std::move(read)), swapped_(swapped), file_(file) {}

  struct Tag {
    std::uint32_t type = 0, bytes = 0;
    bool small = false;  // up to four bytes of data beside the tag
  };
  Tag tag() {
    std::array<std::uint32_t, 2> words{};
    take(words.data(), 4);
    words[0] = in_order(words[0]);
    if (words[0] >> 16) return {words[0] & 0xFFFF, words[0] >> 16, true};
    take(&words[1], 4);
    return {words[0], in_order(words[1]), false};
  }
  // The data of a short element, and what fills it up to a multiple of eight bytes.
  std::string data(const Tag& tag, std::uint32_t limit) {
    if (tag.bytes > (tag.small ? 4 : limit)) throw_bad_header(file_, format("an element of {} bytes", tag.bytes));
    const std::uint32_t whole = tag.small ? 4 : (tag.bytes + 7) / 8 * 8;
    std::string bytes(whole, '\0');
    take(bytes.data(), whole);
    bytes.resize(tag.bytes);
    return bytes;
  }
  std::uint32_t word(const std::string& bytes, std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + 4 * index, 4);
    return in_order(value);
  }
  std::int64_t position() const { return position_; }

private:
  void take(void* out, std::int64_t bytes) {
    if (read_(out, bytes) != bytes) throw_bad_header(file_, "the file ends within a variable");
    position_ += bytes;
  }
  std::uint32_t in_order(std::uint32_t value) const {
    if (swapped_) swap_bytes(&value, 1, 4);
    return value;
  }

  Read read_;
  bool swapped_;
  const fs::path& file_;
  std::int64_t position_ = 0;
};

// After the tag of a matrix: flags, sizes, name, and the tag of the numbers.
StoredArray parse_matrix(Elements& elements, const fs::path& file) {
  constexpr std::uint32_t longest = 4096;
  const std::string flags = elements.data(elements.tag(), longest);
  const std::string sizes = elements.data(elements.tag(), longest);
  StoredArray array;
  array.name = elements.data(elements.tag(), longest);
  if (flags.size() < 8 || sizes.size() < 8 || sizes.size() % 4) throw_bad_header(file, "a variable without a size");
  for (std::size_t i = sizes.size() / 4; i-- > 0;)  // MATLAB's first index is the fastest
    array.shape.push_back(static_cast<std::int32_t>(elements.word(sizes, i)));
  const std::uint32_t word = elements.word(flags, 0), kind = word & 0xFF;
  if (kind < 6 || kind > 15) {
    array.problem = format("it is {}", words_of_class(kind));
    return array;
  }
  if (word & complex_flag) {
    array.problem = "its numbers are complex";
    return array;
  }
  const Elements::Tag tag = elements.tag();
  const auto found = matlab_types.find(tag.type);
  std::int64_t count = 1;
  for (const std::int64_t size : array.shape) count = size < 1 ? 0 : checked_product(count, size).value_or(0);
  if (found == matlab_types.end()) {
    array.problem = format("its numbers have the type {}", tag.type);
  } else if (count == 0) {
    array.problem = "it is empty";
  } else {
    array.type = found->second.type;
    array.number = found->second.number;
    array.offset = elements.position();
    if (checked_product(count, bytes_per_pixel(array.type)) != std::int64_t{tag.bytes})
      throw_bad_header(file, format("the variable {} has {} numbers of {}, and {} bytes", array.name, count,
                                    name_of(array.type), tag.bytes));
  }
  return array;
}

}  // namespace

ArrayFile read_matlab(const fs::path& path) {
  const InputFile file(path);
  constexpr std::int64_t header = 128;
  const std::string head = file.head(header);
  const std::string order = head.size() < 128 ? "" : head.substr(126, 2);
  if (order != "IM" && order != "MI") throw_bad_header(path, "it does not say in which order its bytes are");
  const bool swapped = order == "MI";
  ArrayFile found{.format = "MATLAB 5", .arrays = {}, .unit = {}, .provenance = {}};
  const auto reader_from = [&](std::int64_t& at) {
    return [&file, &at](void* out, std::int64_t bytes) {
      const std::int64_t count = std::min(bytes, file.size() - at);
      file.read(at, out, count);
      at += count;
      return count;
    };
  };
  for (std::int64_t start = header; start < file.size();) {
    std::int64_t at = start;
    Elements elements(reader_from(at), swapped, path);
    const Elements::Tag tag = elements.tag();
    const std::int64_t data = start + 8;
    if (tag.small || tag.bytes > file.size() - data) throw_bad_header(path, "the file ends within a variable");
    if (tag.type == packed_element) {
      Inflater inflater(file, data, tag.bytes, true);
      Elements unpacked([&](void* out, std::int64_t bytes) { return inflater.read(out, bytes); }, swapped, path);
      if (unpacked.tag().type == matrix_element) {
        found.arrays.push_back(parse_matrix(unpacked, path));
        found.arrays.back().packed = StoredArray::Packed{.offset = data, .bytes = tag.bytes, .zlib = true};
      }
    } else if (tag.type == matrix_element) {
      found.arrays.push_back(parse_matrix(elements, path));
      found.arrays.back().offset += start;
    }
    if (!found.arrays.empty()) found.arrays.back().big_endian = swapped;
    start = data + tag.bytes;
  }
  return found;
}

}  // namespace lepus
