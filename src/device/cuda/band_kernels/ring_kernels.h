// SPDX-License-Identifier: Apache-2.0
// The kernels of ring removal, as functions that launch them. All pointers are to device memory; work is given to the
// stream and may be under way at return.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "project/filter_window.h"
#include "project/planes.h"

namespace lepus::rings {

inline unsigned blocks_for(std::int64_t n, std::int64_t each) { return static_cast<unsigned>((n + each - 1) / each); }
// As many as a grid may have in y and z.
inline unsigned capped(std::int64_t n) { return static_cast<unsigned>(n < 65535 ? n : 65535); }

// Of each column, sums over views_per_part views of what the trend's filter takes away and, where stripes are factors,
// of the values: [plane][part][column].
inline constexpr std::int64_t views_per_part = 12;
struct StripeSums {
  double* rest = nullptr;
  double* own = nullptr;     // null: stripes are addends
  float* pattern = nullptr;  // [plane][column]: what is found from them
  std::int64_t parts = 0, width = 0;
  LEPUS_HD std::int64_t at(std::int64_t plane, std::int64_t part, std::int64_t column) const {
    return (plane * parts + part) * width + column;
  }
};
// With a bilateral filter along rows, which needs no memory for what it leaves; false, and nothing done, where its mask
// is too wide for that.
bool launch_sum_bilateral(const Planes& sinograms, const filters::Pass& pass, const StripeSums& sums,
                          cudaStream_t stream);
// With any filter: smooth is what it left.
void launch_sum_difference(const Planes& sinograms, const Planes& smooth, const StripeSums& sums, cudaStream_t stream);
// The mean of the rest taken away (factors: the ratio of the sums multiplied with).
void launch_take_pattern(const Planes& sinograms, const StripeSums& sums, cudaStream_t stream);

// C = A B, or C = C - A B, for every plane: A is m x k without gaps, B k x n and C m x n.
struct DeviceProduct {
  const float* a = nullptr;
  Planes b, c;  // of k and m rows and n columns
  std::int64_t m = 0, k = 0, n = 0;
  bool subtract = false;
};
void launch_product(const DeviceProduct& product, cudaStream_t stream);

// One wavelet step along lines of `stride` floats, `modes` of them per plane: [own, higher) with the high-pass,
// [higher, modes) with the low-pass taps; n is the length of the line before analysis and after synthesis, half that
// between.
struct WaveletStep {
  const float* from = nullptr;
  float* to = nullptr;
  const float* low = nullptr;
  const float* high = nullptr;
  int taps = 0;
  std::int64_t n = 0, half = 0, stride = 0, modes = 0, own = 0, higher = 0, planes = 0;
};
void launch_analyse(const WaveletStep& step, cudaStream_t stream);
void launch_synthesise(const WaveletStep& step, cudaStream_t stream);

// Columns sorted over the views: `sorted` and, [plane][rank][column], the views that the values came from.
void launch_sort_columns(const Planes& sinograms, const Planes& sorted, std::uint32_t* views, std::uint64_t* keys,
                         cudaStream_t stream);
// [plane][column]: the median over the views of how much three views in a row bend.
void launch_flutter(const Planes& sinograms, double* flutter, std::uint64_t* keys, cudaStream_t stream);
// How many keys the two above need in global memory: 0 where a column fits shared memory (16384 views on Hopper).
std::int64_t sort_keys_needed(const Planes& sinograms);

void launch_put_back(const Planes& sinograms, const Planes& smooth, const std::uint32_t* views, cudaStream_t stream);

// flutter -> contrast with the median of the neighbours within `radius`; `around` is scratch of the same size.
void launch_flutter_contrast(const double* flutter, double* around, double* contrast, std::int64_t width,
                             std::int64_t planes, std::int64_t radius, cudaStream_t stream);
void launch_offsets(const Planes& sorted, const Planes& smooth, bool relative, double* offsets, cudaStream_t stream);
// Marks the outliers of every plane's list; `ascending` is scratch of planes x ascending_size(width).
std::int64_t ascending_size(std::int64_t width);
void launch_mark(const double* list, double* ascending, std::int64_t width, std::int64_t planes, double snr,
                 std::int64_t longest, unsigned char* mask, cudaStream_t stream);
void launch_bridge(const Planes& sinograms, const unsigned char* mask, cudaStream_t stream);
void launch_replace(const Planes& sorted, const Planes& smooth, const unsigned char* mask, cudaStream_t stream);

}  // namespace lepus::rings
