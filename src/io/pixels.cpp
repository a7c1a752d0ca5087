// SPDX-License-Identifier: Apache-2.0
// Pixel types, byte order and conversion to float.
#include "io/pixels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/format.h"
#include "core/half_float.h"

namespace lepus {

static_assert(std::endian::native == std::endian::little, "writers and readers take the host for little-endian");

std::int64_t bytes_per_pixel(PixelType type) {
  switch (type) {
    case PixelType::u8:
    case PixelType::i8:
      return 1;
    case PixelType::u16:
    case PixelType::i16:
    case PixelType::f16:
      return 2;
    case PixelType::u32:
    case PixelType::i32:
    case PixelType::f32:
      return 4;
    case PixelType::f64:
      return 8;
  }
  return 0;
}

const char* name_of(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return "uint8";
    case PixelType::i8:
      return "int8";
    case PixelType::u16:
      return "uint16";
    case PixelType::i16:
      return "int16";
    case PixelType::u32:
      return "uint32";
    case PixelType::i32:
      return "int32";
    case PixelType::f16:
      return "float16";
    case PixelType::f32:
      return "float32";
    case PixelType::f64:
      return "float64";
  }
  return "unknown";
}

std::optional<PixelType> pixel_type_named(std::string_view name) {
  for (const PixelType type : {PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16, PixelType::u32,
                               PixelType::i32, PixelType::f16, PixelType::f32, PixelType::f64})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

namespace {

template <class Word>
void swap_words(unsigned char* bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, bytes += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    std::memcpy(bytes, &word, sizeof word);
  }
}

// Through memcpy: the buffer may start at any byte of what was read.
template <class Pixel>
float value_at(const void* pixels, std::int64_t i) {
  Pixel value;
  std::memcpy(&value, static_cast<const unsigned char*>(pixels) + i * static_cast<std::int64_t>(sizeof value),
              sizeof value);
  return static_cast<float>(value);
}

// act(a pixel of that type)
template <class Act>
auto with_pixel(PixelType type, const Act& act) {
  switch (type) {
    case PixelType::u8:
      return act(std::uint8_t{});
    case PixelType::i8:
      return act(std::int8_t{});
    case PixelType::u16:
      return act(std::uint16_t{});
    case PixelType::i16:
      return act(std::int16_t{});
    case PixelType::u32:
      return act(std::uint32_t{});
    case PixelType::i32:
      return act(std::int32_t{});
    case PixelType::f16:
      return act(Half{});
    case PixelType::f32:
      return act(float{});
    case PixelType::f64:
      break;
  }
  return act(double{});
}

// Of 0 to count - 1, those for which is_one says so.
template <class Condition>
std::int64_t count_if(std::int64_t count, const Condition& is_one) {
  std::int64_t found = 0;
  constexpr std::int64_t few = 1 << 20;  // counted in 32 bits, of which a vector has twice as many as of 64
  for (std::int64_t first = 0; first < count; first += few) {
    std::int32_t here = 0;
    for (std::int64_t i = first; i < std::min(count, first + few); ++i) here += is_one(i);
    found += here;
  }
  return found;
}

}  // namespace

void swap_bytes(void* pixels, std::int64_t count, std::int64_t size) {
  auto* bytes = static_cast<unsigned char*>(pixels);
  if (size == 2) swap_words<std::uint16_t>(bytes, count);
  if (size == 4) swap_words<std::uint32_t>(bytes, count);
  if (size == 8) swap_words<std::uint64_t>(bytes, count);
}

void convert_to_float(PixelType type, const void* pixels, std::int64_t count, float* out) {
  with_pixel(type, [&]<class Pixel>(Pixel) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = value_at<Pixel>(pixels, i);
  });
}

std::int64_t count_at_least(PixelType type, const void* pixels, std::int64_t count, float level) {
  return with_pixel(type, [&]<class Pixel>(Pixel) {
    return count_if(count, [=](std::int64_t i) { return value_at<Pixel>(pixels, i) >= level; });
  });
}

std::int64_t count_at_most(PixelType type, const void* pixels, std::int64_t count, const float* levels) {
  return with_pixel(type, [&]<class Pixel>(Pixel) {
    if (!levels) return count_if(count, [=](std::int64_t i) { return value_at<Pixel>(pixels, i) <= 0.0F; });
    return count_if(count, [=](std::int64_t i) { return value_at<Pixel>(pixels, i) <= levels[i]; });
  });
}

std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  std::int64_t product = 1;
  for (const std::int64_t factor : {a, b, c, d}) {
    if (factor < 1 || factor > limit / product) return std::nullopt;
    product *= factor;
  }
  return product;
}

std::string describe(std::int64_t columns, std::int64_t rows, PixelType type) {
  return format("{}x{} {}", columns, rows, name_of(type));
}

}  // namespace lepus
