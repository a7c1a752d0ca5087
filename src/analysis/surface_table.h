// SPDX-License-Identifier: Apache-2.0
// Which triangles part the inside from the outside of a cube, for each of the 256 ways in which its corners can lie.
// Derived, not typed in: on every face the crossed edges are joined by a rule that looks at that face alone (where two
// opposite corners are inside, these are kept apart), so that two neighbouring cubes always agree; the lines of the six
// faces close to loops, and each loop is filled. After Lorensen and Cline (1987), whose table leaves holes where
// neighbours disagree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lepus::analysis {

// Corner i is at x = i & 1, y = i >> 1 & 1, z = i >> 2.
struct CubeEdge {
  int corner;  // where it begins
  int axis;    // along which it goes on: 0 is x
};
// 0 to 3 along x, 4 to 7 along y, 8 to 11 along z.
const std::array<CubeEdge, 12>& cube_edges();

// A triangle's corners are edges, or 12: the middle of its loop, for loops that no set of triangles fills without
// drawing a line on a face, where a neighbour may draw the same.
struct SurfaceLoop {
  std::vector<std::uint8_t> edges;                     // in order
  std::vector<std::array<std::uint8_t, 3>> triangles;  // counter-clockwise seen from outside
  bool with_middle = false;
};
inline constexpr std::uint8_t loop_middle = 12;

// By a bit per corner: 1 is inside.
const std::array<std::vector<SurfaceLoop>, 256>& surface_table();

}  // namespace lepus::analysis
