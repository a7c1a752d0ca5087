// SPDX-License-Identifier: Apache-2.0
// The correction "filter": box, Gaussian, median or bilateral smoothing of a band of sinograms or frames, in place.
#pragma once

#include <memory>

#include "correct/correction.h"
#include "correct/filters/filter.h"

namespace lepus {

std::unique_ptr<Correction> make_filter(const CorrectionSpec& spec, const ScanFacts& facts);

// The options that a [[correct]] section asks for; the bilateral filter's sigma_value in the unit of the values.
FilterOptions filter_options(const CorrectionSpec& spec, const ScanFacts& facts);

// What values lie between in most of the scan: 1 for grey levels; for line integrals from the middle row of all views,
// without the outermost 0.5 % on either side.
double value_range(const CorrectionSpec& spec, const ScanFacts& facts);

}  // namespace lepus
