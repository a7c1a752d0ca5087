// SPDX-License-Identifier: Apache-2.0
// FITS images: the primary array and image extensions, big-endian, the first axis fastest. FITS standard 4.0.
#include <algorithm>
#include <map>

#include "core/format.h"
#include "io/header_text.h"
#include "io/pixels.h"
#include "io/stored_array.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t fits_block = 2880, card_bytes = 80;

struct FitsHeader {
  std::map<std::string, std::string> cards;  // texts without their quotes
  std::int64_t bytes = 0;

  std::int64_t integer(const std::string& key, std::int64_t otherwise, const fs::path& file) const {
    const auto found = cards.find(key);
    if (found == cards.end()) return otherwise;
    const auto numbers = parse_integers(found->second, key, file);
    if (numbers.size() != 1) throw_bad_header(file, format("{} is '{}'", key, found->second));
    return numbers[0];
  }
  double number(const std::string& key, double otherwise, const fs::path& file) const {
    const auto found = cards.find(key);
    if (found == cards.end()) return otherwise;
    std::string text = found->second;
    std::replace(text.begin(), text.end(), 'D', 'E');  // Fortran's double
    const auto numbers = parse_numbers(text, key, file);
    if (numbers.size() != 1) throw_bad_header(file, format("{} is '{}'", key, found->second));
    return numbers[0];
  }
  std::string text(const std::string& key) const {
    const auto found = cards.find(key);
    return found == cards.end() ? std::string() : found->second;
  }
};

// "'text    ' / comment" or "12 / comment"
std::string value_of_card(std::string_view card) {
  const std::string_view value = trimmed(card.substr(10));
  if (value.starts_with('\'')) return std::string(trimmed(value.substr(1, value.find('\'', 1) - 1)));
  return std::string(trimmed(value.substr(0, value.find('/'))));
}

FitsHeader read_fits_header(const InputFile& file, std::int64_t start) {
  constexpr std::int64_t maximum_blocks = 10000;
  FitsHeader header;
  std::string block(static_cast<std::size_t>(fits_block), '\0');
  for (std::int64_t n = 0; n < maximum_blocks && start + (n + 1) * fits_block <= file.size(); ++n) {
    file.read(start + n * fits_block, block.data(), fits_block);
    for (std::size_t at = 0; at < block.size(); at += static_cast<std::size_t>(card_bytes)) {
      const std::string_view card = std::string_view(block).substr(at, static_cast<std::size_t>(card_bytes));
      const std::string key(trimmed(card.substr(0, 8)));
      if (key == "END") {
        header.bytes = (n + 1) * fits_block;
        return header;
      }
      if (card.substr(8, 2) == "= ") header.cards.emplace(key, value_of_card(card));
    }
  }
  throw_bad_header(file.path(), "a FITS header has no END");
}

void set_type(StoredArray& array, const FitsHeader& header, const fs::path& file) {
  const std::int64_t bits = header.integer("BITPIX", 0, file);
  array.type = bits == 8     ? PixelType::u8
               : bits == 16  ? PixelType::i16
               : bits == 32  ? PixelType::i32
               : bits == -32 ? PixelType::f32
                             : PixelType::f64;
  if (bits == 64) array.number = StoredNumber::int64;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64)
    throw_bad_header(file, format("BITPIX is {}", bits));
  array.scale.slope = header.number("BSCALE", 1, file);
  array.scale.offset = header.number("BZERO", 0, file);
  if (array.scale.is_identity()) return;
  // FITS has no unsigned integers: by its own convention they are signed ones with half the range added.
  const auto is_offset = [&](std::int64_t of_bits, double offset, PixelType type) {
    if (bits != of_bits || array.scale.slope != 1 || array.scale.offset != offset) return false;
    array.type = type;
    array.number = StoredNumber::sign_flipped;
    array.scale.offset = 0;
    return true;
  };
  if (is_offset(8, -128, PixelType::i8) || is_offset(16, 32768, PixelType::u16) ||
      is_offset(32, 2147483648.0, PixelType::u32))
    return;
  if (bits == 64) {
    array.problem = "its 64-bit integers have a scale (BSCALE, BZERO)";
    return;
  }
  if (!array.scale.is_usable()) throw_bad_header(file, "BSCALE and BZERO are no scale");
  array.number = StoredNumber::scaled;
}

}  // namespace

ArrayFile read_fits(const fs::path& path) {
  const InputFile file(path);
  ArrayFile found;
  found.format = "FITS";
  constexpr int maximum_extensions = 1000;
  std::int64_t start = 0;
  for (int n = 0; n < maximum_extensions && start + fits_block <= file.size(); ++n) {
    const FitsHeader header = read_fits_header(file, start);
    StoredArray array;
    const std::int64_t axes = header.integer("NAXIS", 0, path);
    if (axes < 0 || axes > 999) throw_bad_header(path, format("NAXIS is {}", axes));
    std::int64_t count = axes == 0 ? 0 : 1;
    for (std::int64_t axis = axes; axis >= 1; --axis) {
      array.shape.push_back(header.integer(format("NAXIS{}", axis), 0, path));
      if (array.shape.back() < 0) throw_bad_header(path, format("NAXIS{} is negative", axis));
      count = array.shape.back() == 0 ? 0 : count == 0 ? 0 : checked_product(count, array.shape.back()).value_or(-1);
      if (count < 0) throw_bad_header(path, "an array of more than 2^62 numbers");
    }
    set_type(array, header, path);
    array.big_endian = true;
    array.offset = start + header.bytes;
    array.name = header.text("EXTNAME");
    if (array.name.empty()) array.name = n == 0 ? "primary" : std::to_string(n);
    // Beside the array a table has a heap, and random groups are several.
    const std::int64_t heap = header.integer("PCOUNT", 0, path), groups = header.integer("GCOUNT", 1, path);
    if (heap < 0 || groups < 1 || heap > file.size()) throw_bad_header(path, "PCOUNT or GCOUNT is impossible");
    const auto data = count + heap == 0 ? std::optional<std::int64_t>(0)
                                        : checked_product(count + heap, bytes_per_pixel(array.type), groups);
    if (!data || *data > file.size()) throw_bad_header(path, "an array reaches beyond the end of the file");
    const bool image = n == 0 || header.text("XTENSION") == "IMAGE";
    if (image && count > 0) found.arrays.push_back(array);
    if (image && header.text("CUNIT1") == "mm")
      found.step_mm = {header.number("CDELT1", 1, path), header.number("CDELT2", 1, path),
                       header.number("CDELT3", 1, path)};
    if (image && found.unit.empty()) found.unit = header.text("BUNIT");
    start += header.bytes + (*data + fits_block - 1) / fits_block * fits_block;
  }
  return found;
}

}  // namespace lepus
