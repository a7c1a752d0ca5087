// SPDX-License-Identifier: Apache-2.0
// Everything that happens to a block of rows between the frame and the backprojection: counts -> line
// integrals -> dead pixels bridged -> flat detector with level rows -> FDK weights -> ramp filter.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "run/row_queue.h"
#include "preprocess/dead_pixels.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include "preprocess/row_resampler.h"

namespace lepus {

// What the row filter needs; pointers that may be null say so.
struct RowFilterParts {
  const FrameSource* frames = nullptr;
  RowAudit* audit = nullptr;                               // null: who made the frames keeps account
  const Normalisation* normalisation = nullptr;            // null: the frames hold line integrals
  const std::vector<std::int64_t>* dead_pixels = nullptr;  // bridged along their row; null: none
  const RowResampler* resampler = nullptr;                 // null: frames have the rows that are filtered
  const FdkWeights* weights = nullptr;
  const RampFilter* ramp = nullptr;
  std::int64_t columns = 0;         // of the flat detector; the ramp filter's rows may be padded
  std::int64_t columns_before = 0;  // how many of the filter's columns come before them
};

class RowFilter {
public:
  static constexpr std::int64_t rows_at_once = 64;  // that are filtered; a block fits the second-level cache

  explicit RowFilter(const RowFilterParts& parts) : parts_(parts) {}

  // Recorded rows that filtered rows are made from.
  RowBand recorded_rows(std::int64_t view, RowBand rows) const;
  std::int64_t scratch_floats() const;  // per thread
  // Counts to line integrals, corrected and resampled, before weights and filter; the result lies in scratch.
  float* line_integrals(const RowBlock& block, float* scratch) const;
  // Filters a block; the result, u fastest, lies in scratch.
  const float* apply(const RowBlock& block, float* scratch) const;

private:
  RowFilterParts parts_;
};

}  // namespace lepus
