// SPDX-License-Identifier: Apache-2.0
// For the fault tests: filtered backprojection of a sinogram of line integrals, [view][column], parallel beam, a full
// or half turn -> n x n pixels of 1/mm about the axis, `step` mm apart; columns lie `pitch` mm apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/picture.h"
#include "core/memory.h"
#include "core/threads.h"
#include "filter/ramp.h"
#include <lepus/math.h>

namespace lepus {

inline Slice parallel_slice(std::vector<float> sinogram, std::int64_t columns, double pitch, std::int64_t n,
                            double step, ThreadPool& threads, double turn_rad = 2 * pi) {
  const auto views = static_cast<std::int64_t>(sinogram.size()) / columns;
  RampOptions options;
  options.cutoff = std::min(1.0, pitch / step);  // no finer than the pixels
  RampFilter ramp(columns, options);
  Buffer<float> scratch(ramp.scratch_floats());
  for (std::int64_t y = 0; y < views; ++y) ramp.apply(sinogram.data() + y * columns, scratch.data());
  std::vector<float> image(static_cast<std::size_t>(n * n), 0.0F);
  const double middle = 0.5 * static_cast<double>(n - 1), axis = 0.5 * static_cast<double>(columns - 1);
  threads.parallel_for(0, n, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t y = 0; y < views; ++y) {
      const float* row = sinogram.data() + y * columns;
      const double a = turn_rad * static_cast<double>(y) / static_cast<double>(views);
      const double across = std::cos(a) * step / pitch, down = std::sin(a) * step / pitch;
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          const double u = (static_cast<double>(i) - middle) * across + (static_cast<double>(j) - middle) * down + axis;
          const auto c = static_cast<std::int64_t>(std::floor(u));
          if (c < 0 || c + 1 >= columns) continue;
          const auto f = static_cast<float>(u - static_cast<double>(c));
          image[static_cast<std::size_t>(j * n + i)] += (1 - f) * row[c] + f * row[c + 1];
        }
    }
  });
  for (float& value : image) value *= static_cast<float>(pi / static_cast<double>(views) / pitch);
  Slice slice;
  slice.width = slice.height = n;
  slice.pixel_width_mm = slice.pixel_height_mm = step;
  slice.values = std::move(image);
  return slice;
}

// Two slices of n x n side by side.
inline Picture side_by_side(const Slice& left, const Slice& right, GreyWindow window) {
  Picture both(2 * left.width + 8, left.height, {255, 255, 255});
  both.paste(draw_slice(left, window, ColourMap::grey, left.pixel_width_mm), 0, 0);
  both.paste(draw_slice(right, window, ColourMap::grey, left.pixel_width_mm), left.width + 8, 0);
  return both;
}

}  // namespace lepus
