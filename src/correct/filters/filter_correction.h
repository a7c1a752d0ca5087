// SPDX-License-Identifier: Apache-2.0
// The correction "filter": box, Gaussian, median or bilateral smoothing of a band of sinograms or frames, in place.
#pragma once

#include <memory>

#include "correct/correction.h"
#include "project/filter_options.h"

namespace lepus {

struct FilterCorrectionOptions {
  // sigma_value: of the bilateral filter, as a share of value_range.
  FilterOptions filter = {};
  enum class Pictures { sinograms, frames };
  Pictures pictures = Pictures::sinograms;  // of a filter of two dimensions
  double value_range = 0;                   // 0: as value_range() says
  bool operator==(const FilterCorrectionOptions&) const = default;
};

// Throws Error(usage) where options and scan do not go together.
std::unique_ptr<Correction> make_filter(const FilterCorrectionOptions& options, const ScanFacts& facts);

// The options of the filter itself; the bilateral filter's sigma_value in the unit of the values.
FilterOptions filter_options(const FilterCorrectionOptions& options, const ScanFacts& facts);

// What values lie between in most of the scan: 1 for grey levels; for line integrals from the middle row of all views,
// without the outermost 0.5 % on either side. Throws Error(usage), as `correction`, where it cannot be known.
double value_range(const char* correction, const ScanFacts& facts);

}  // namespace lepus
