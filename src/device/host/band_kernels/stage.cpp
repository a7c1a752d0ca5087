// SPDX-License-Identifier: Apache-2.0
#include "device/host/band_kernels/stage.h"

#include <vector>

#include "io/pixels.h"
#include "project/grey_levels.h"

namespace lepus::host {
namespace {

// Calls work(first pixel of a detector row, its values in all views).
template <class RowWork>
void for_rows(const SinogramBand& band, ThreadPool& threads, const RowWork& work) {
  threads.parallel_for(0, band.rows.size(), 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      work((band.rows.first + i) * band.columns, band.data + i * band.views * band.columns);
  });
}

// What a row of counts above the dark is multiplied with to become grey levels.
std::vector<float> grey_factors(const BandStaging& staging, std::int64_t first, std::int64_t columns) {
  std::vector<float> factors(static_cast<std::size_t>(columns));
  for (std::int64_t u = 0; u < columns; ++u)
    factors[static_cast<std::size_t>(u)] =
        grey_factor(staging.log_i0 ? staging.log_i0[first + u] : staging.log_i0_everywhere);
  return factors;
}

}  // namespace

void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
              ThreadPool& threads) {
  const std::int64_t columns = band.columns, row_bytes = columns * bytes_per_pixel(type);
  const std::int64_t views = staging.views > 0 ? staging.views : band.views;
  for_rows(band, threads, [&](std::int64_t first, float* values) {
    const float* dark = staging.dark ? staging.dark + first : nullptr;
    const float* log_i0 = staging.log_i0 ? staging.log_i0 + first : nullptr;
    const std::vector<float> factors =
        staging.to == BandStage::counts_to_grey ? grey_factors(staging, first, columns) : std::vector<float>();
    const auto* from = static_cast<const unsigned char*>(recorded) + (first / columns - band.rows.first) * row_bytes;
    values += staging.first_view * columns;
    for (std::int64_t view = 0; view < views; ++view, values += columns, from += band.rows.size() * row_bytes) {
      convert_to_float(type, from, columns, values);
      if (staging.to == BandStage::as_it_is) continue;
      for (std::int64_t u = 0; u < columns; ++u) {
        if (staging.to == BandStage::line_to_grey) {
          values[u] = grey_of_line(values[u]);
          continue;
        }
        const float counts = counts_above_dark(values[u], dark ? dark[u] : 0.0F, staging.clip);
        values[u] = staging.to == BandStage::counts_to_grey
                        ? counts * factors[static_cast<std::size_t>(u)]
                        : line_of_counts(counts, log_i0 ? log_i0[u] : staging.log_i0_everywhere);
      }
    }
  });
}

void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, ThreadPool& threads) {
  for_rows(band, threads, [&](std::int64_t first, float* values) {
    std::vector<float> lowest(static_cast<std::size_t>(band.columns), lowest_of_lines);
    if (staging.to != BandStage::as_it_is) {
      lowest = grey_factors(staging, first, band.columns);
      for (float& value : lowest) value *= staging.clip;
    }
    for (std::int64_t view = 0; view < band.views; ++view, values += band.columns)
      for (std::int64_t u = 0; u < band.columns; ++u)
        values[u] = line_of_grey(values[u], lowest[static_cast<std::size_t>(u)]);
  });
}

}  // namespace lepus::host
