// SPDX-License-Identifier: Apache-2.0
// The inner loops of the filters on the CPU, compiled for every SIMD target.
#pragma once

#include <cstdint>
#include <vector>

namespace lepus::filters {

// Vectors are loaded and stored whole: rows that belong to the filters have this many elements more than are asked for.
inline constexpr std::int64_t slack = 128;

struct BilateralRow {
  const float* line = nullptr;  // tap k of pixel x is line[x + k]
  float exponent = 0;           // of the row's distance from the middle: weight 2^exponent
};

struct RowKernels {
  const char* target = "";  // as Highway names it: "AVX3"

  // out[x] = sum over k of weights[k] * rows[k][x] for x in [0, n), in the order of k. Nothing is read or written
  // past n.
  void (*weighted_sum)(const float* const* rows, const float* weights, std::int64_t count, float* out, std::int64_t n);

  // Weighted mean of the rows' taps about centre[x], weight 2^(row.exponent + taps[k] - falloff * difference^2).
  // centre and out have slack, lines too.
  void (*bilateral)(const BilateralRow* rows, std::int64_t count, const float* taps, std::int64_t tap_count,
                    float falloff, const float* centre, float* out, std::int64_t n);

  // counts += enter - leave, n a multiple of 32.
  void (*move_counts)(std::uint16_t* counts, const std::uint16_t* enter, const std::uint16_t* leave, std::int64_t n);

  // Which element of a list of points is the k-th (from 0) with x in [x0, x0 + span] and y in [y0, y0 + span]; there
  // must be one. The lists have slack.
  std::int64_t (*nth_in_window)(const std::uint16_t* x, const std::uint16_t* y, std::uint16_t x0, std::uint16_t y0,
                                std::uint16_t span, std::int64_t k);
};

const RowKernels& row_kernels();            // the best that this machine can run
std::vector<RowKernels> all_row_kernels();  // one set per SIMD target that it can run, the best first

}  // namespace lepus::filters
