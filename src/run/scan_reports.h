// SPDX-License-Identifier: Apache-2.0
// What a run says of its frames when they have all been read: what its user should look at, and what each correction
// did.
#pragma once

#include <string>
#include <vector>

#include "preprocess/row_audit.h"
#include "run/corrected_frames.h"
#include "run/prepass.h"
#include "scan/scan.h"

namespace lepus {

std::vector<std::string> audit_warnings(const Scan& scan, const PrePass& pre, const RowAudit& audit);
// corrected: null where rows were corrected one by one, as they were read.
std::vector<std::string> correction_lines(const PrePass& pre, const CorrectedFrames* corrected);

}  // namespace lepus
