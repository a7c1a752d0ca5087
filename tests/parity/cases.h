// SPDX-License-Identifier: Apache-2.0
// The scans and grids on which devices are compared: every orbit, beam and detector that lepus knows, odd sizes, grids
// that are off centre, mirrored or not cubic, magnifications that make neighbouring slices fall onto one row or far
// apart.
#pragma once

#include <string>
#include <vector>

#include <lepus/geometry.h>

namespace lepus::parity {

struct Scan {
  std::string name;
  ScanGeometry geometry;
  VolumeGrid grid;
  std::string kernel;  // that the CPU must choose: the start of its description
};

std::vector<Scan> all_scans();
Scan large_scan();  // for timing

}  // namespace lepus::parity
