// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lepus/geometry.h>

namespace lepus::bench {

// About how many samples Joseph's method takes: one in each plane of voxels that a ray meets. Counted on some thousand
// rays spread over all views.
double joseph_samples(const ScanGeometry& geometry, const VolumeGrid& grid);

}  // namespace lepus::bench
