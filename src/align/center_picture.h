// SPDX-License-Identifier: Apache-2.0
// What find_center saw, for a person to judge: the score over the columns, and trial reconstructions on the best column
// and beside it.
#pragma once

#include <vector>

#include "align/center.h"
#include "analysis/picture.h"

namespace lepus {

// Columns and rows of `result` and of `trials` as they are to be written beside them.
Picture center_picture(const CenterResult& result, const std::vector<TrialImage>& trials);

}  // namespace lepus
