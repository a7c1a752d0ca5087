// SPDX-License-Identifier: Apache-2.0
// Four smoothing filters on stacks of pictures, along rows, in pictures or through the stack: box, Gaussian, median and
// bilateral (Tomasi and Manduchi, ICCV 1998). What they can be asked for, and what a part of a stack needs.
#pragma once

#include <cstdint>

#include "project/planes.h"

namespace lepus {

enum class FilterKind { box, gaussian, median, bilateral };

// What the mask finds beyond the edge of the picture.
enum class FilterBorder {
  keep,     // nothing: pixels without a full mask stay as they are
  zero,     // zeros
  partial,  // nothing: the mask is cut off and normalised again; an even number of pixels has its lower median
  wrap,     // the other side
  mirror,   // the picture mirrored at its outermost pixel, which is not repeated: 2 1 | 0 1 2
  clamp     // the outermost pixel
};

// 50 of 256 grey levels: bilateral sigma_value for data whose range is 1.
inline constexpr double bilateral_range_share = 50.0 / 256;

// Places in a tile of pixels are counted in 16 bits.
inline constexpr std::int64_t largest_median_radius = 16000;

struct FilterOptions {
  FilterKind kind = FilterKind::median;
  std::int64_t radius = 30;                    // the mask has 2 radius + 1 pixels in every dimension
  double sigma = 10;                           // Gaussian and bilateral: in pixels
  double sigma_value = bilateral_range_share;  // bilateral: in the unit of the values
  int dimensions = 1;                          // 1: along rows; 2: in each picture; 3: also from picture to picture
  FilterBorder border = FilterBorder::keep;
  int iterations = 1;
  bool operator==(const FilterOptions&) const = default;
};

// A part of larger pictures: borders act at the edges of the whole. `in` holds rows `rows` of whole_rows and planes
// `planes` of whole_planes; `out` takes the wanted ones. needed_along says what `in` must hold.
struct FilterCut {
  RowBand rows, wanted_rows;
  std::int64_t whole_rows = 0;
  RowBand planes, wanted_planes;
  std::int64_t whole_planes = 0;
};
FilterCut uncut(const Planes& in);
FilterCut cut_rows(const Planes& in, RowBand rows, std::int64_t whole_rows, RowBand wanted);  // all planes

// Of an axis that the filter works along, what must be there for `wanted` of `whole` to come out right after all
// iterations. The answer for the axes that it does not work along is `wanted` itself.
RowBand needed_along(const FilterOptions& options, RowBand wanted, std::int64_t whole);

// Throws Error(usage) where options and size do not go together: a radius that is not smaller than a side, a mask that
// nowhere fits (keep), a sigma that is not positive.
void check_filter(const FilterOptions& options, std::int64_t width, std::int64_t height, std::int64_t count);

}  // namespace lepus
