// SPDX-License-Identifier: Apache-2.0
// A slab of a scan that can be reconstructed by itself, by any method: slices around the plane that the source is in,
// and the detector rows whose rays do not leave them within the field of view.
#pragma once

#include "scan/scan.h"

namespace lepus {

struct SlabScan {
  Scan scan;                // of these rows and slices alone
  std::int64_t middle = 0;  // the slice that is seen best
};

// Throws Error(geometry) where no part of the volume is met by whole rows, as in helical scans.
SlabScan middle_slab(const Scan& scan);

}  // namespace lepus
