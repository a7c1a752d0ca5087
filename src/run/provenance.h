// SPDX-License-Identifier: Apache-2.0
// What a volume says of its own making, and what a plan says before it: JSON and a few lines of text.
#pragma once

#include <string>

#include "run/fdk.h"
#include "run/prepass.h"
#include "preprocess/row_audit.h"
#include "scan/scan.h"
#include <lepus/reconstruct.h>

namespace lepus {

// The version, the resolved scan file, the plan (null: FDK did not make it), the checksums of the inputs, the time it
// took.
std::string provenance(const Scan& scan, const PrePass& pre, const Fdk* fdk, const RowAudit& audit,
                       const ReconstructReport& report);

// What a plan says of the scan and its volume, whatever method makes it.
std::string scan_json(const Scan& scan, const FdkWeights& weights, double field_of_view_mm, const CountFigures& counts);
std::string scan_text(const Scan& scan, const FdkWeights& weights, double field_of_view_mm, const CountFigures& counts);

std::string plan_json(const Scan& scan, const Fdk& fdk, const CountFigures& counts);
std::string plan_text(const Scan& scan, const Fdk& fdk, const CountFigures& counts);

}  // namespace lepus
