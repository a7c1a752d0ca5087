// SPDX-License-Identifier: Apache-2.0
// A scan file's circular scan by its parameters, where a calibration starts.
#pragma once

#include "scan/scan.h"

namespace lepus {

// Throws Error(usage) where the scan file does not describe all of its detector, on a circle, by parameters.
CircularScan circular_scan_of(const Scan& scan);

}  // namespace lepus
