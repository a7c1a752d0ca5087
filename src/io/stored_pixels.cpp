// SPDX-License-Identifier: Apache-2.0
#include "io/stored_pixels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format.h"
#include "core/half_float.h"
#include <lepus/error.h>

namespace lepus {

namespace {

template <class Pixel>
std::optional<std::int64_t> store_integers(const ValueScale& scale, const float* voxels, std::int64_t count,
                                           void* stored) {
  constexpr double lowest = std::numeric_limits<Pixel>::min(), highest = std::numeric_limits<Pixel>::max();
  const double steps = 1 / scale.slope;
  auto* pixels = static_cast<Pixel*>(stored);
  bool numbers = true;
  std::int64_t cut_off = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool number = !std::isnan(voxels[i]);
    const double value = number ? static_cast<double>(voxels[i]) : 0;
    const double rounded = std::floor((value - scale.offset) * steps + 0.5);
    pixels[i] = static_cast<Pixel>(std::clamp(rounded, lowest, highest));
    cut_off += rounded < lowest || rounded > highest;
    numbers = numbers && number;
  }
  if (!numbers) return std::nullopt;
  return cut_off;
}

}  // namespace

bool is_volume_type(PixelType type) {
  return type == PixelType::f32 || type == PixelType::f16 || type == PixelType::u8 || type == PixelType::u16 ||
         type == PixelType::i16;
}

std::optional<std::int64_t> store_voxels(PixelType type, const ValueScale& scale, const float* voxels,
                                         std::int64_t count, void* stored) {
  switch (type) {
    case PixelType::u8:
      return store_integers<std::uint8_t>(scale, voxels, count, stored);
    case PixelType::u16:
      return store_integers<std::uint16_t>(scale, voxels, count, stored);
    case PixelType::i16:
      return store_integers<std::int16_t>(scale, voxels, count, stored);
    case PixelType::f16:
      return halves_from_floats(voxels, count, static_cast<std::uint16_t*>(stored));
    default:
      throw Error(ErrorKind::internal, {.what = format("voxels are not stored as {}", name_of(type)),
                                        .where = {},
                                        .why = {},
                                        .hint = "report this"});
  }
}

bool ValueScale::is_usable() const { return std::isfinite(slope) && slope != 0 && std::isfinite(offset); }

void ValueScale::apply(float* values, std::int64_t count) const {
  if (is_identity()) return;
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(slope * static_cast<double>(values[i]) + offset);
}

ValueScale scale_of_range(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
    throw Error(ErrorKind::usage, {.what = format("{} to {} is no range of values", low, high),
                                   .where = {},
                                   .why = {},
                                   .hint = "give the smallest value, then the largest"});
  return {(high - low) / std::numeric_limits<std::uint16_t>::max(), low};
}

}  // namespace lepus
