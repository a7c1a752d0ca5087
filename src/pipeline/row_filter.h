// SPDX-License-Identifier: Apache-2.0
// Everything that happens to a block of rows between the frame and the backprojection: counts -> corrections -> line
// integrals -> corrections -> flat detector -> FDK weights -> ramp filter.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.h"
#include "filter/ramp.h"
#include "filter/weights.h"
#include "pipeline/row_queue.h"
#include "preprocess/arc_resample.h"
#include "preprocess/correction.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"

namespace lepus {

// What the row filter needs; pointers that may be null say so.
struct RowFilterParts {
  const FrameSource* frames = nullptr;
  RowAudit* audit = nullptr;
  const Normalisation* normalisation = nullptr;  // null: the frames hold line integrals
  const CorrectionChain* corrections = nullptr;  // null: none
  const ArcResampler* arc = nullptr;             // null: the detector is flat
  const FdkWeights* weights = nullptr;
  const RampFilter* ramp = nullptr;
  std::int64_t columns = 0;         // of the flat detector; the ramp filter's rows may be padded
  std::int64_t columns_before = 0;  // how many of the filter's columns come before them
};

class RowFilter {
public:
  static constexpr std::int64_t rows_at_once = 64;  // of the flat detector; a block fits the second-level cache

  explicit RowFilter(const RowFilterParts& parts) : parts_(parts) {}

  // Recorded rows that flat rows are made from.
  RowBand recorded_rows(RowBand rows) const;
  std::int64_t scratch_floats() const;  // per thread
  // Filters a block; the result, rows of the flat detector with u fastest, lies in scratch.
  const float* apply(const RowBlock& block, float* scratch) const;

private:
  void correct(Stage stage, const RowRequest& request, float* rows) const;
  RowFilterParts parts_;
};

}  // namespace lepus
