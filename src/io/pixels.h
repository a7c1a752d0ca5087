// SPDX-License-Identifier: Apache-2.0
// Pixels as files hold them: nine types in two byte orders -> host order, or float grey levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/frames.h"

namespace lepus {

// Reverses the bytes of each of `count` pixels of `size` bytes, in place.
void swap_bytes(void* pixels, std::int64_t count, std::int64_t size);

// `count` pixels of `type` in host order -> float. `out` may not overlap `pixels`.
void convert_to_float(PixelType type, const void* pixels, std::int64_t count, float* out);

// How many of them are at least `level`, as floats.
std::int64_t count_at_least(PixelType type, const void* pixels, std::int64_t count, float level);

// How many of them are at most their own level; null: zero.
std::int64_t count_at_most(PixelType type, const void* pixels, std::int64_t count, const float* levels);

// "uint16" -> PixelType::u16; nothing for a name that NumPy does not know or that lepus does not read.
std::optional<PixelType> pixel_type_named(std::string_view name);

// a*b*c for sizes that came from a file: nothing where one is not positive or the product passes 2^62.
std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b, std::int64_t c = 1, std::int64_t d = 1);

// "160x135 uint16", for messages.
std::string describe(std::int64_t columns, std::int64_t rows, PixelType type);

}  // namespace lepus
