// SPDX-License-Identifier: Apache-2.0
// The correction "rings": stripes of sinograms taken out, band by band, in place.
#pragma once

#include <memory>

#include "correct/correction.h"

namespace lepus {

std::unique_ptr<Correction> make_rings(const CorrectionSpec& spec, const ScanFacts& facts);

}  // namespace lepus
