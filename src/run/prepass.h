// SPDX-License-Identifier: Apache-2.0
// What must be known of the whole scan before the sweep: mean flats and darks or I0, the middle row of every view (does
// the scan turn the right way, is the object cut off), dead pixels. Small results, little reading.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/kept_results.h"
#include "run/correction_chain.h"
#include "run/counts.h"
#include "preprocess/normalise.h"
#include "scan/scan.h"

namespace lepus {

struct PrePass {
  std::unique_ptr<FrameSource> frames;           // the selected views and rows
  std::unique_ptr<Normalisation> normalisation;  // null: the frames hold line integrals
  std::unique_ptr<CorrectionChain> chain;        // refers to both
  // Where the chain only bridges dead pixels or is empty, rows need not wait for other views; see run/row_filter.
  std::optional<std::vector<std::int64_t>> only_dead_pixels;
  std::vector<std::string> warnings;
  std::string flats_checksum, darks_checksum;  // "" where there are none
  std::string intensity;                       // where I0 came from, for the report
  CountFigures counts;                         // of no views where nobody looked
};

// kept: what an earlier run found out is taken, and what is found out now stays; null: neither.
PrePass pre_pass(const Scan& scan, Context& context, KeptResults* kept = nullptr);

// The same after a look at the counts (run/counts.h). Throws Error(input) where nothing can be made of them.
PrePass checked_pre_pass(const Scan& scan, Context& context, KeptResults* kept = nullptr);

// Rows of the flat detector in every view, as corrected line integrals: [row][view][column].
std::vector<float> flat_rows(const ScanGeometry& geometry, const PrePass& pre, RowBand flat, Context& context);

}  // namespace lepus
