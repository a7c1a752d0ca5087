// SPDX-License-Identifier: Apache-2.0
// The row filter on the host's threads: each takes blocks of rows of one view through all steps, in its own scratch.
#pragma once

#include <memory>

#include "core/memory.h"
#include "device/row_filter.h"

namespace lepus::host {

inline constexpr std::int64_t rows_at_once = 64;  // of a block: it fits the second-level cache

std::unique_ptr<RowFilter> make_row_filter(const RowFilterSetup& setup, int threads);

// The steps of one block.
class BlockFilter {
public:
  explicit BlockFilter(const RowFilterSetup& setup);
  std::int64_t scratch_floats() const;  // of each thread
  // Counts to line integrals, corrected and resampled, before weights and filter; the result lies in scratch.
  float* line_integrals(const RowBlock& block, float* scratch) const;
  // Filtered rows, u fastest, of wide->columns values each, in scratch.
  const float* apply(const RowBlock& block, float* scratch) const;

private:
  RowFilterSetup setup_;
  RampFilter ramp_;
};

}  // namespace lepus::host
