// SPDX-License-Identifier: Apache-2.0
// I0 for scans whose files hold no flats.
#pragma once

#include "import/scanner.h"
#include "io/frames.h"

namespace lepus {

// Takes the 99th percentile of the first view for I0, and says so in a warning.
void take_open_beam_from_view(const FrameFiles& frames, ImportedScan& scan);

}  // namespace lepus
