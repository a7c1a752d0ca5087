// SPDX-License-Identifier: Apache-2.0
// Rotations from which a rigid motion is looked for where nothing is known about how a part lies.
#pragma once

#include <cstddef>
#include <vector>

#include <lepus/math.h>

namespace lepus::analysis {

// 26 directions into which z is turned (the faces, edges and corners of a cube), with 12 turns about z before each:
// every orientation is within about 30 degrees of one. The first `upright_orientations` leave z where it is.
constexpr std::size_t upright_orientations = 12;
std::vector<Matrix3> orientations();

}  // namespace lepus::analysis
