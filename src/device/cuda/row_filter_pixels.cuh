// SPDX-License-Identifier: Apache-2.0
// From raw pixels to weighted line integrals, on the device, with the formulas of project/ray_weight.h.
#pragma once

#include <type_traits>

#include "device/cuda/row_filter_job.h"
#include "project/bridge.h"
#include "project/grey_levels.h"

namespace lepus::cuda {

// What one row needs, made once per block by `prepare_row`.
struct RowContext {
  RayLine line;
  float factor;  // zero: the row does not exist, and another's pixels stand in for it
  int row;
  std::int64_t first_pixel;  // in job.batch.pixels
};

__device__ inline RowContext prepare_row(const RowJob& job, const ViewWeight& view, std::int64_t view_index,
                                         std::int64_t row) {
  RowContext context;
  const bool exists = row < job.batch.row1;
  const std::int64_t used = exists ? row : row - 1;
  const auto v = static_cast<double>(used);
  context.line = ray_line(view, job.shape.middle_column, v);
  context.factor = exists ? static_cast<float>(view.share_rad * row_factor(view, job.shape.beam, v)) : 0.0F;
  context.row = static_cast<int>(used);
  context.first_pixel = view_index * job.batch.view_pixels + (used - job.batch.row0) * job.columns;
  return context;
}

template <class Pixel>
__device__ inline float grey(const RowJob& job, std::int64_t at) {
  return static_cast<float>(static_cast<const Pixel*>(job.batch.pixels)[at]);
}

// f(pixel type) with the type as a null pointer's type.
template <class F>
__device__ inline void with_pixel(PixelType type, F&& f) {
  switch (type) {
    case PixelType::u8:
      return f(static_cast<const std::uint8_t*>(nullptr));
    case PixelType::i8:
      return f(static_cast<const std::int8_t*>(nullptr));
    case PixelType::u16:
      return f(static_cast<const std::uint16_t*>(nullptr));
    case PixelType::i16:
      return f(static_cast<const std::int16_t*>(nullptr));
    case PixelType::u32:
      return f(static_cast<const std::uint32_t*>(nullptr));
    case PixelType::i32:
      return f(static_cast<const std::int32_t*>(nullptr));
    case PixelType::f32:
      return f(static_cast<const float*>(nullptr));
    case PixelType::f64:
      return f(static_cast<const double*>(nullptr));
  }
}
template <class Pixel>
using pixel_of = std::remove_cv_t<std::remove_pointer_t<Pixel>>;

// A good pixel's line integral.
__device__ inline float good_line_integral(const RowJob& job, const RowContext& context, int column) {
  float value = 0;
  with_pixel(job.type, [&](auto pixel) { value = grey<pixel_of<decltype(pixel)>>(job, context.first_pixel + column); });
  const std::int64_t at = static_cast<std::int64_t>(context.row) * job.columns + column;
  return line_of_counts(counts_above_dark(value, job.dark ? job.dark[at] : 0.0F, job.clip),
                        job.log_i0 ? job.log_i0[at] : job.log_i0_everywhere);
}

// A dead pixel's: between the nearest good ones of the row (preprocess/dead_pixels.cpp). Called, not copied, because
// it is rare and used in many places.
static __device__ __noinline__ float bridged_line_integral(const RowJob& job, const RowContext& context, int column) {
  int low = 0, high = job.dead_runs - 1;  // the last run that begins at or before the pixel
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    const DeadRun run = job.dead[middle];
    if (run.row < context.row || (run.row == context.row && run.begin <= column))
      low = middle;
    else
      high = middle - 1;
  }
  const DeadRun run = job.dead[low];
  const float left = good_line_integral(job, context, run.begin > 0 ? run.begin - 1 : run.end);
  const float right = good_line_integral(job, context, run.end < job.columns ? run.end : run.begin - 1);
  return pixels::on_the_line(left, right, column - run.begin + 1, run.end - run.begin + 1);
}

__device__ inline float redundancy_of(const RowJob& job, const ViewWeight& view, const RayLine& line, float u) {
  return view.varies ? ray_redundancy(job.shape, view, job.partners, line, u) : view.redundancy;
}

static __device__ __noinline__ float called_redundancy(const RowJob& job, const ViewWeight& view, const RayLine& line,
                                                       float u) {
  return ray_redundancy(job.shape, view, job.partners, line, u);
}

__device__ inline float weight_of(const RowJob& job, const RowContext& context, float u, float redundancy) {
  const float scale = context.factor * redundancy;
  return job.shape.beam == Beam::parallel ? scale : cosine_weight(context.line, u, scale);
}

// Any one place of the wide row.
__device__ inline float weighted_pixel(const RowJob& job, const ViewWeight& view, const RayLine& middle,
                                       const RowContext& context, int place) {
  const int column = place - job.before;
  if (column < 0 || column >= job.columns) return 0;
  float value = 0;
  if (!job.normalise) {
    with_pixel(job.type,
               [&](auto pixel) { value = grey<pixel_of<decltype(pixel)>>(job, context.first_pixel + column); });
  } else {
    value = good_line_integral(job, context, column);
    if (isnan(value)) value = bridged_line_integral(job, context, column);
  }
  const float u = static_cast<float>(column) - static_cast<float>(job.shape.middle_column);
  return value * weight_of(job, context, u, redundancy_of(job, view, view.upright ? middle : context.line, u));
}

// Any place of the transform's period: the row, what continues it on both sides, zero between.
static __device__ __noinline__ float continued_pixel(const RowJob& job, const ViewWeight& view, const RayLine& middle,
                                                     const RowContext& context, int place, int length) {
  float edge = 1;
  if (place >= job.wide) {
    if (place < job.wide + job.extension) {
      edge = job.edge[place - job.wide];
      place = job.wide - 1;
    } else if (place >= length - job.extension) {
      edge = job.edge[length - 1 - place];
      place = 0;
    } else {
      return 0;
    }
  }
  return edge * weighted_pixel(job, view, middle, context, place);
}

// Small unsigned pixels become floats by their place in the mantissa of 2^23: conversions proper run at a quarter of
// the rate.
template <class Pixel>
__device__ inline float quick_grey(Pixel pixel) {
  if constexpr (std::is_unsigned_v<Pixel> && sizeof(Pixel) <= 2)
    return __int_as_float(0x4B000000 | static_cast<int>(pixel)) - 8388608.0F;
  else
    return static_cast<float>(pixel);
}

// log_i0 - ln(x), x positive: the device's logarithm is good to 2^-22 between 1/2 and 2, so the exponent is taken off
// first. The error stays below that of rounding the result.
__device__ inline float line_integral(float log_i0, float x) {
  const int bits = __float_as_int(x);
  const int exponent = (bits - 0x3F400000) >> 23;  // x = mantissa * 2^exponent, mantissa in [3/4, 3/2)
  const float mantissa = __int_as_float(bits - (exponent << 23));
  const float power = __int_as_float(0x4B400000 + exponent) - 12582912.0F;
  const float rest = fmaf(power, -0.693147181F, log_i0);
  return fmaf(__log2f(mantissa), -0.693147181F, rest);
}

// M places first, first + Stride, ... of two rows at once, all steps of a kind together so that they overlap; choices
// that are the same for a whole block stand outside the loops. Saturated pixels of rows that are counted are added to
// `saturated`.
template <int M, int Stride>
__device__ inline void weighted_pixels(const RowJob& job, const ViewWeight& view, std::int64_t view_number,
                                       const RowContext* context, int first, Complex* values, const bool* counted,
                                       unsigned& saturated) {
  const int first_column = first - job.before;
  float value[2][M];
  bool inside[M];
#pragma unroll
  for (int m = 0; m < M; ++m)
    inside[m] = static_cast<unsigned>(first_column + m * Stride) < static_cast<unsigned>(job.columns);
  with_pixel(job.type, [&](auto pixel) {
    using Pixel = pixel_of<decltype(pixel)>;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Pixel* at = static_cast<const Pixel*>(job.batch.pixels) + context[r].first_pixel + first_column;
#pragma unroll
      for (int m = 0; m < M; ++m) value[r][m] = inside[m] ? quick_grey(at[m * Stride]) : 0.0F;
    }
  });
  if (job.saturation < INFINITY)
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if (counted[r])
#pragma unroll
        for (int m = 0; m < M; ++m) saturated += inside[m] && value[r][m] >= job.saturation;
  if (job.normalise) {
    if (job.dark)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float* at = job.dark + static_cast<std::int64_t>(context[r].row) * job.columns + first_column;
#pragma unroll
        for (int m = 0; m < M; ++m) value[r][m] -= inside[m] ? at[m * Stride] : 0.0F;
      }
    if (job.log_i0) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float* at = job.log_i0 + static_cast<std::int64_t>(context[r].row) * job.columns + first_column;
#pragma unroll
        for (int m = 0; m < M; ++m)
          value[r][m] = line_integral(inside[m] ? at[m * Stride] : 0.0F, fmaxf(value[r][m], job.clip));
      }
    } else {
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int m = 0; m < M; ++m) value[r][m] = line_integral(job.log_i0_everywhere, fmaxf(value[r][m], job.clip));
    }
    if (job.dead_runs > 0)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int m = 0; m < M; ++m)
          if (isnan(value[r][m])) value[r][m] = bridged_line_integral(job, context[r], first_column + m * Stride);
  }
  const float u = static_cast<float>(first_column) - static_cast<float>(job.shape.middle_column);
  float scale[2] = {context[0].factor, context[1].factor};
  if (!view.varies) {
    for (float& s : scale) s *= view.redundancy;
  } else if (view.upright) {
    const float* at = job.shares + view_number * job.columns + first_column;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const float share = inside[m] ? at[m * Stride] : 0.0F;
      value[0][m] *= share;
      value[1][m] *= share;
    }
  } else {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int m = 0; m < M; ++m) value[r][m] *= called_redundancy(job, view, context[r].line, u + m * Stride);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (job.shape.beam == Beam::parallel) {
#pragma unroll
      for (int m = 0; m < M; ++m) value[r][m] *= scale[r];
    } else {
      const RayLine line = context[r].line;
#pragma unroll
      for (int m = 0; m < M; ++m) value[r][m] *= cosine_weight(line, u + m * Stride, scale[r]);
    }
  }
#pragma unroll
  for (int m = 0; m < M; ++m) values[m] = {inside[m] ? value[0][m] : 0.0F, inside[m] ? value[1][m] : 0.0F};
}

}  // namespace lepus::cuda
