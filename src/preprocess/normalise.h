// SPDX-License-Identifier: Apache-2.0
// Frames to line integrals: p = ln(I0) - ln(max(I - dark, clip)), I0 = flat - dark per pixel, or one number where there
// are no flats. Counts are clipped at one (float frames, which may be scaled to 0..1, at a millionth of I0 if that is
// less).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"
#include "io/frames.h"
#include "io/count_scales.h"

namespace lepus {

struct Normalisation {
  std::int64_t columns = 0, rows = 0;
  Buffer<float> dark;    // rows x columns; empty: no dark
  Buffer<float> log_i0;  // rows x columns; empty: log_i0_everywhere
  float log_i0_everywhere = 0;
  float clip = 1;
  std::vector<std::int64_t> unusable;  // pixels (row * columns + column) whose flat is not above its dark, ascending
  std::int64_t not_finite = 0;         // of these, where flat or dark is not a number

  // Rows [row0, row1) of counts become line integrals, in place.
  void apply(std::int64_t row0, std::int64_t row1, float* rows_of_counts) const;
  // What a row of counts above the dark is multiplied with to become grey levels, 1 in the open beam: `columns` values.
  void grey_factors(std::int64_t row, float* factors) const;
  // The grey levels that one count (`clip`) makes in a row: nothing below it is measured.
  void lowest_grey(std::int64_t row, float* lowest) const;
  std::int64_t bytes() const { return dark.bytes() + log_i0.bytes(); }
};

// The mean over all frames of a source, in double precision.
Buffer<float> mean_frame(const FrameSource& source);

// From flats (and darks, which may be null). Pixels whose flat is not above the dark are listed in `unusable` and given
// the I0 of the median pixel, so that no NaN arises; the caller decides whether to go on.
Normalisation normalisation_from_flats(const FrameSource& flats, const FrameSource* darks, PixelType type,
                                       const CountScales& scales = {});
// From one I0 for all pixels, in counts of the frames above the dark.
Normalisation normalisation_from_value(double i0, const FrameSource* darks, std::int64_t columns, std::int64_t rows,
                                       PixelType type, const CountScales& scales = {});

}  // namespace lepus
