// SPDX-License-Identifier: Apache-2.0
#include "preprocess/normalise.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "core/io_threads.h"
#include "project/grey_levels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

bool is_floating(PixelType type) { return type == PixelType::f32 || type == PixelType::f64; }

float clip_level(PixelType type, double typical_i0) {
  return is_floating(type) ? static_cast<float>(std::min(1.0, 1e-6 * typical_i0)) : 1.0F;
}

void require_same_size(const FrameSource& darks, std::int64_t columns, std::int64_t rows) {
  if (darks.columns() == columns && darks.rows() == rows) return;
  throw Error(ErrorKind::input,
              {.what = "the darks have another size than the frames",
               .where = darks.name(0),
               .why = format("{}x{} pixels instead of {}x{}", darks.columns(), darks.rows(), columns, rows),
               .hint = "give darks taken with the same detector mode"});
}

}  // namespace

Buffer<float> mean_frame(const FrameSource& source) {
  const std::int64_t columns = source.columns(), rows = source.rows(), frames = source.frames();
  constexpr std::int64_t rows_at_once = 64;
  Buffer<float> mean(rows * columns);
  io_parallel((rows + rows_at_once - 1) / rows_at_once, io_threads(), [&](std::int64_t band) {
    const std::int64_t row0 = band * rows_at_once, row1 = std::min(rows, row0 + rows_at_once);
    const std::int64_t n = (row1 - row0) * columns;
    Buffer<float> block(n);
    std::vector<double> sum(static_cast<std::size_t>(n));
    for (std::int64_t frame = 0; frame < frames; ++frame) {
      source.read(frame, row0, row1, block.data());
      for (std::int64_t i = 0; i < n; ++i) sum[static_cast<std::size_t>(i)] += static_cast<double>(block[i]);
    }
    for (std::int64_t i = 0; i < n; ++i)
      mean[row0 * columns + i] = static_cast<float>(sum[static_cast<std::size_t>(i)] / static_cast<double>(frames));
  });
  return mean;
}

namespace {

Buffer<float> mean_dark(const FrameSource& darks, const CountScales& scales) {
  Buffer<float> mean = mean_frame(darks);
  for (float& dark : mean) dark = scales.dark(dark);
  return mean;
}

}  // namespace

Normalisation normalisation_from_flats(const FrameSource& flats, const FrameSource* darks, PixelType type,
                                       const CountScales& scales) {
  Normalisation result;
  result.columns = flats.columns();
  result.rows = flats.rows();
  if (darks) {
    require_same_size(*darks, flats.columns(), flats.rows());
    result.dark = mean_dark(*darks, scales);
  }
  result.log_i0 = mean_frame(flats);
  const std::int64_t pixels = result.log_i0.size();
  std::vector<float> usable;
  usable.reserve(static_cast<std::size_t>(pixels));
  for (std::int64_t i = 0; i < pixels; ++i) {
    float& i0 = result.log_i0[i];
    i0 = scales.flat(i0);
    if (darks) i0 -= result.dark[i];
    if (std::isfinite(i0) && i0 > 0)
      usable.push_back(i0);
    else
      result.unusable.push_back(i);
    result.not_finite += !std::isfinite(i0);
  }
  if (usable.empty())
    throw Error(ErrorKind::input,
                {.what = "no pixel of the flats is above its dark",
                 .where = flats.name(0),
                 .why = result.not_finite > 0 ? format("{} of {} pixels of the mean flat or dark are not numbers",
                                                       result.not_finite, pixels)
                                              : "the mean flat minus the mean dark is zero or negative everywhere",
                 .hint = result.not_finite > 0 ? "look at the flats and darks: their files are damaged"
                                               : "check that frames.flats and frames.darks are not swapped"});
  const auto middle = usable.begin() + static_cast<std::ptrdiff_t>(usable.size() / 2);
  std::nth_element(usable.begin(), middle, usable.end());
  const float typical = *middle;
  for (const std::int64_t i : result.unusable) result.log_i0[i] = typical;
  for (float& i0 : result.log_i0) i0 = static_cast<float>(std::log(static_cast<double>(i0)));
  result.clip = clip_level(type, static_cast<double>(typical));
  return result;
}

Normalisation normalisation_from_value(double i0, const FrameSource* darks, std::int64_t columns, std::int64_t rows,
                                       PixelType type, const CountScales& scales) {
  if (!(i0 > 0) || !std::isfinite(i0))
    throw Error(ErrorKind::input, {.what = "the intensity without object (I0) is not positive",
                                   .where = "intensity",
                                   .why = format("I0 = {}", i0),
                                   .hint = "set intensity.value, or choose another air region"});
  Normalisation result;
  result.columns = columns;
  result.rows = rows;
  if (darks) {
    require_same_size(*darks, columns, rows);
    result.dark = mean_dark(*darks, scales);
  }
  result.log_i0_everywhere = static_cast<float>(std::log(i0));
  result.clip = clip_level(type, i0);
  return result;
}

void Normalisation::grey_factors(std::int64_t row, float* factors) const {
  const float* l = log_i0.size() ? log_i0.data() + row * columns : nullptr;
  for (std::int64_t i = 0; i < columns; ++i) factors[i] = grey_factor(l ? l[i] : log_i0_everywhere);
}

void Normalisation::lowest_grey(std::int64_t row, float* lowest) const {
  grey_factors(row, lowest);
  for (std::int64_t i = 0; i < columns; ++i) lowest[i] *= clip;
}

void Normalisation::apply(std::int64_t row0, std::int64_t row1, float* data) const {
  const std::int64_t offset = row0 * columns, n = (row1 - row0) * columns;
  const float* d = dark.size() ? dark.data() + offset : nullptr;
  const float* l = log_i0.size() ? log_i0.data() + offset : nullptr;
  for (std::int64_t i = 0; i < n; ++i) {
    const float counts = counts_above_dark(data[i], d ? d[i] : 0.0F, clip);
    data[i] = line_of_counts(counts, l ? l[i] : log_i0_everywhere);
  }
}

}  // namespace lepus
