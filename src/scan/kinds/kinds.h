// SPDX-License-Identifier: Apache-2.0
// The rows of the table of corrections, by family; correction_kinds.cpp puts them together.
#pragma once

#include <vector>

#include "scan/keys.h"

namespace lepus {

std::vector<CorrectionKind> filter_kinds();
std::vector<CorrectionKind> ring_kinds();
std::vector<CorrectionKind> pixel_kinds();
// Of every kind that replaces pixels or columns (correct/replaced_share.h).
ScanKey maximum_share_key();
std::vector<CorrectionKind> beam_kinds();

}  // namespace lepus
