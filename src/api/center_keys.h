// SPDX-License-Identifier: Apache-2.0
// The axis where it was found, in the words of the scan file.
#pragma once

#include "scan/edit_scan.h"
#include "scan/scan.h"
#include <lepus/center.h>

namespace lepus {

// The keys of [geometry] that put the axis there, by name; none where the geometry comes from a file of matrices.
NumbersOfKeys center_keys(const Scan& scan, const CenterResult& axis, CenterKey key);

}  // namespace lepus
