// SPDX-License-Identifier: Apache-2.0
// A scan as a caller put it together, before arrays are held against its sizes.
#pragma once

#include <string>

#include <lepus/geometry.h>

namespace lepus {

// Throws Error(usage) where it has no views or pixels, more than can be counted, or an arc that is none. `who` asks:
// "an operator". Matrices are looked at by check_views (geometry/camera.h).
void check_scan(const ScanGeometry& geometry, const std::string& who);

}  // namespace lepus
