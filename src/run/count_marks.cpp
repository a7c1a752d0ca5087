// SPDX-License-Identifier: Apache-2.0
#include "run/count_marks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/format.h"
#include "io/pixels.h"

namespace lepus {
namespace {

constexpr std::size_t maximum_views_read = 8;

bool is_float(PixelType type) { return type == PixelType::f32 || type == PixelType::f64; }

// Sums over groups of rows; means of them are compared.
struct Texture {
  double across = 0, spread = 0;           // |difference of neighbours in a row|, |value - mean|
  double even_spread = 0, odd_spread = 0;  // of every second column
  std::int64_t no_counts = 0, values = 0;  // not finite, or of a size that no detector counts

  void add(const std::vector<float>& values_of_rows, std::int64_t rows, std::int64_t columns) {
    double mean[2] = {0, 0};
    const auto value = [&](std::int64_t row, std::int64_t column) {
      const auto v = static_cast<double>(values_of_rows[static_cast<std::size_t>(row * columns + column)]);
      const double size = std::abs(v);
      const bool counts = std::isfinite(v) && (size == 0 || (size > 1e-20 && size < 1e20));
      no_counts += !counts;
      return counts ? v : 0.0;
    };
    std::vector<double> v(values_of_rows.size());
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        v[static_cast<std::size_t>(row * columns + column)] = value(row, column);
        mean[column % 2] += v[static_cast<std::size_t>(row * columns + column)];
      }
    const std::int64_t evens = rows * ((columns + 1) / 2), odds = rows * (columns / 2);
    const double of_all = (mean[0] + mean[1]) / static_cast<double>(rows * columns);
    mean[0] /= static_cast<double>(std::max<std::int64_t>(1, evens));
    mean[1] /= static_cast<double>(std::max<std::int64_t>(1, odds));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        const auto at = static_cast<std::size_t>(row * columns + column);
        spread += std::abs(v[at] - of_all);
        (column % 2 == 0 ? even_spread : odd_spread) += std::abs(v[at] - mean[column % 2]);
        if (column + 1 < columns) across += std::abs(v[at + 1] - v[at]);
      }
    values += rows * columns;
  }
  // About 0 for a picture, above 1 for noise.
  double roughness() const { return spread > 0 ? across / spread : 0; }
};

struct Textures {
  Texture as_read, swapped;
};

Textures textures(const CountSample& sample, const CancelFlag& cancel) {
  const FrameSource& frames = sample.frames();
  const PixelType type = frames.pixel_type();
  const std::int64_t columns = frames.columns(), size = bytes_per_pixel(type);
  Textures found;
  for (std::size_t i = 0; i < std::min(maximum_views_read, sample.views().size()); ++i)
    for (const RowBand group : sample.groups()) {
      cancel.check();
      const std::int64_t pixels = group.size() * columns;
      std::vector<unsigned char> bytes(static_cast<std::size_t>(pixels * size));
      std::vector<float> values(static_cast<std::size_t>(pixels));
      frames.read_native(sample.views()[i], group.first, group.last, bytes.data());
      convert_to_float(type, bytes.data(), pixels, values.data());
      found.as_read.add(values, group.size(), columns);
      swap_bytes(bytes.data(), pixels, size);
      convert_to_float(type, bytes.data(), pixels, values.data());
      found.swapped.add(values, group.size(), columns);
    }
  return found;
}

// By how many columns a row must be shifted to resemble the row above it: 0 in a picture, whatever it shows, and the
// missing pixels of a row where its length is wrong.
std::int64_t shift_between_rows(const CountSample& sample) {
  const std::int64_t columns = sample.columns(), most = std::min<std::int64_t>(columns / 4, 256);
  std::vector<double> difference(static_cast<std::size_t>(2 * most + 1));
  for (const RowBand group : sample.groups()) {
    std::vector<float> rows(static_cast<std::size_t>(group.size() * columns));
    sample.frames().read(sample.views().front(), group.first, group.last, rows.data());
    for (std::int64_t row = 0; row + 1 < group.size(); ++row)
      for (std::int64_t shift = -most; shift <= most; ++shift)
        for (std::int64_t i = most; i < columns - most; ++i)
          difference[static_cast<std::size_t>(shift + most)] +=
              std::abs(static_cast<double>(rows[static_cast<std::size_t>(row * columns + i)]) -
                       static_cast<double>(rows[static_cast<std::size_t>((row + 1) * columns + i + shift)]));
  }
  const auto best = std::min_element(difference.begin(), difference.end());
  const bool much_better = *best < 0.3 * difference[static_cast<std::size_t>(most)];
  return much_better ? best - difference.begin() - most : 0;
}

}  // namespace

std::optional<std::string> mark_of_wrong_reading(const CountSample& sample, bool raw, const CancelFlag& cancel) {
  const PixelType type = sample.frames().pixel_type();
  if (sample.columns() < 8) return std::nullopt;
  const auto [as_read, swapped] = textures(sample, cancel);
  const auto share_of_no_counts = [](const Texture& t) {
    return static_cast<double>(t.no_counts) / static_cast<double>(t.values);
  };
  const char* const swap =
      "the bytes of the pixels seem to be in the wrong order: swapped they are a picture, as they are "
      "read they are not; set frames.raw.byte_order, or write the files anew";
  if (is_float(type) && share_of_no_counts(as_read) > 0.05) {
    if (share_of_no_counts(swapped) < 0.1 * share_of_no_counts(as_read)) return swap;
    return format(
        "{:.0f} % of the pixels are not finite or have sizes that no detector counts: they are probably not {}; "
        "set frames.raw.type and header_bytes",
        100 * share_of_no_counts(as_read), name_of(type));
  }
  if (is_float(type)) return std::nullopt;
  // A picture's neighbours differ by less than half of its spread; of low dose it is noise both ways, and nobody knows.
  if (bytes_per_pixel(type) > 1 && as_read.roughness() > 0.5 && as_read.roughness() > 2 * swapped.roughness() &&
      swapped.roughness() > 0)
    return swap;
  // One column has a float's exponent, the next its last bits, which may be anything.
  const double less = std::min(as_read.even_spread, as_read.odd_spread),
               more = std::max(as_read.even_spread, as_read.odd_spread);
  if (more > 5 * less && as_read.roughness() > 0.5)
    return format(
        "every second column is of another kind: wider pixels, float32 perhaps, seem to be read as {}; set "
        "frames.raw.type and columns",
        name_of(type));
  if (const std::int64_t shift = raw ? shift_between_rows(sample) : 0; shift != 0)
    return format(
        "each row continues the row above it {} pixels further: the row length seems to be wrong; set "
        "frames.raw.columns and header_bytes",
        shift);
  return std::nullopt;
}

}  // namespace lepus
