// SPDX-License-Identifier: Apache-2.0
// What the row filter's kernels are given. All pointers are to device memory.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "device/cuda/row_filter.h"
#include "device/cuda/row_filter_fft.h"

namespace lepus::cuda {

// Dead pixels [begin, end) of one row and the columns beside them that they are interpolated from.
struct DeadRun {
  std::int32_t row, begin, end;
};

struct RowJob {
  RowBatch batch;
  PixelType type;
  int columns, rows, before, wide;
  // Counts to line integrals; log_i0 is not a number where a pixel is dead.
  bool normalise;
  const float *dark, *log_i0;  // null: none, log_i0_everywhere
  float log_i0_everywhere, clip;
  const DeadRun* dead;
  int dead_runs;
  float saturation;
  BadPixels* bad;  // per view
  // Weights.
  WeightShape shape;
  const ViewWeight* views;
  const PartnerArc* partners;
  const float* shares;  // the redundancy of upright views where it varies: [view][column]
  // Ramp filter: for RowFft the response lies as its `turn` wants it and roots1, roots2 are its roots.
  const float *response, *edge;
  int extension;
  const Complex *roots1, *roots2;
};

// One length that the fused kernel does.
struct FusedLength {
  int length, first, second;
  int shared_bytes;  // of a block, with the little that is not the line
  int (*frequency_at)(int);
  void (*launch)(const RowJob&, cudaStream_t);
};

// The same in pieces, for rows of any length: weighted line integrals, zero-padded (or continued) to `length`, one row
// after the other; the product with the response; the columns that are kept.
void launch_prepare(const RowJob& job, std::int64_t view, std::int64_t row0, std::int64_t row1, std::int64_t length,
                    float* lines, cudaStream_t stream);
void launch_respond(const float* response, std::int64_t length, std::int64_t rows, Complex* spectra,
                    cudaStream_t stream);
void launch_keep(const RowJob& job, std::int64_t view, std::int64_t row0, std::int64_t row1, std::int64_t length,
                 const float* lines, cudaStream_t stream);

// Fills job.shares for all views.
void launch_shares(const RowJob& job, std::int64_t views, float* shares, cudaStream_t stream);

// Frames of floating-point pixels: counts what is not finite and replaces it as preprocess/row_audit.h does.
void launch_repair(const RowJob& job, cudaStream_t stream);

}  // namespace lepus::cuda
