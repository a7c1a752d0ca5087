// SPDX-License-Identifier: Apache-2.0
// What corrections are made of, on bands of rows of all views in device memory. All need a device with double
// precision: where it lacks that, has_band_kernels says so, and the host works on the band.
#pragma once

#include <cstdint>

#include "device/opencl/queue.h"
#include "geometry/row_band.h"
#include "io/frames.h"
#include "project/row_map.h"

namespace lepus::opencl {

bool has_band_kernels(const Context& context);

// Rows of all views, [row][view][column], of a detector of `columns`.
struct BandOnDevice {
  float* data = nullptr;
  std::int64_t columns = 0, views = 0;
  RowBand rows;
};

// What recorded values become; line_to_grey, as_it_is: they are line integrals already.
enum class BandStage { counts_to_grey, counts_to_line, line_to_grey, as_it_is };
struct BandStaging {
  BandStage to = BandStage::as_it_is;
  const float* dark = nullptr;    // device memory, of the whole detector; null where there is none
  const float* log_i0 = nullptr;  // null: log_i0_everywhere
  float log_i0_everywhere = 0, clip = 1;
};
// Recorded rows of all views, [view][row][column] of any type but f64, become the band.
void to_stage(PixelType type, const void* recorded, const BandOnDevice& band, const BandStaging& staging, Queue& queue);
// p = -ln max(g, lowest); lowest is what staging.clip counts make, or lowest_of_lines where frames were line integrals.
void take_logarithm(const BandOnDevice& band, const BandStaging& staging, float lowest_of_lines, Queue& queue);
// Rows of the band of some views, [view][row][column]: views[i] is the i-th's number, in device memory.
void take_views(const BandOnDevice& band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out,
                Queue& queue);

// The same where rows are made from recorded ones; the map's tables lie in device memory.
void map_views(const BandOnDevice& band, const RowMap& map, RowBand rows, std::int64_t columns,
               const std::int64_t* views, std::int64_t count, float* out, Queue& queue);

// `count` sinograms of height views x width columns.
struct Sinograms {
  float* data = nullptr;
  std::int64_t width = 0, height = 0, row_stride = 0, count = 1, plane_stride = 0;
};

// The rules of hot pixels as kernels/hot_pixels.cl has them; project/hot_rules.h says what they are.
struct HotPixelRules {
  static constexpr int largest_window = 32;
  double one_scale = 1, two_scale = 1, tolerance = 0, least_spread = 0, explained = 1;
  std::int64_t least_views = 0;
  float one[largest_window] = {}, two[largest_window] = {};
  float out_of_both = 1, out_of_one = 1;
  std::int32_t window = 0, gap = 0, classic = 0, three_deviations = 1, below = 0, nearest = 1, furthest = 1;
};
// counts[sinogram]: columns that were replaced, in device memory.
void replace_hot_pixels(const Sinograms& sinograms, const HotPixelRules& rules, int iterations, std::int64_t* counts,
                        Queue& queue);

// The rules of zingers as kernels/zingers.cl has them; project/zinger_rules.h says what they are.
struct ZingerRules {
  double limit = 8;
  std::int32_t neighbours = 0, radius = 2, along = 3;
  float sign = 1;
};
// counts[sinogram]: values that were replaced, in device memory.
void replace_zingers(const Sinograms& sinograms, const ZingerRules& rules, std::int64_t* counts, Queue& queue);

// Stripes by the trend method with a bilateral or a median filter along rows; relative: a stripe is a factor, not an
// addend.
struct TrendRules {
  static constexpr std::int64_t largest_median_radius = 64;  // its mask is searched value by value
  bool median = false;
  std::int64_t radius = 30;
  double sigma = 10, sigma_value = 1;  // pixels; in the unit of the values
  bool relative = false;
  int iterations = 1;
};
void remove_stripes_by_trend(const Sinograms& sinograms, const TrendRules& rules, Queue& queue);

// Stripes by the sorting method: the median over `size` (odd) columns of equal ranks. False, and nothing done, where a
// column of all views does not fit local memory.
bool fits_local_memory(const Context& context, std::int64_t views);
bool remove_stripes_by_sorting(const Sinograms& sinograms, std::int64_t size, int iterations, Queue& queue);

}  // namespace lepus::opencl
