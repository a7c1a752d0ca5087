// SPDX-License-Identifier: Apache-2.0
// From a [[correct]] section to the correction that does it.
#pragma once

#include <memory>

#include "correct/correction.h"
#include "preprocess/normalise.h"
#include "scan/scan.h"

namespace lepus {

// What some corrections are made from beside their parameters and the frames.
struct CorrectionSources {
  const Scan* scan = nullptr;
  const Normalisation* normalisation = nullptr;  // null where frames hold line integrals
};

std::unique_ptr<Correction> make_correction(const CorrectionSpec& spec, const ScanFacts& facts,
                                            const CorrectionSources& sources);

}  // namespace lepus
