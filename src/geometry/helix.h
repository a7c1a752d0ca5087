// SPDX-License-Identifier: Apache-2.0
// A helical scan: source and detector move along the axis while they turn. The middle of the scan is at z = 0.
#pragma once

#include <string>

#include <lepus/geometry.h>

namespace lepus {

// The scan with `pitch_mm` along +z for every counter-clockwise turn, as perturbations of its views.
CircularScan with_helix(CircularScan scan, double pitch_mm);
// Whether the source moves along the axis by more than a tenth of the height that the detector sees there; parallel
// beams: the detector. Less is a scanner that wobbles.
bool is_helical(const ScanGeometry& geometry);
// Whether it also climbs: heights that jitter from view to view, by up to half of what the detector sees, do not.
bool is_helix_to_fdk(const ScanGeometry& geometry);
// Throws Error(unsupported) where it is one, for FDK, whose weights are those of a circle. where: a file, or "".
void refuse_helix(const ScanGeometry& geometry, const std::string& where);

}  // namespace lepus
