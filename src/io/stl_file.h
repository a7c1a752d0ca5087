// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles in STL files, binary and ASCII, in millimetres. The normals in the file are not read: many
// programs write them wrong; corners run counter-clockwise seen from outside.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

namespace lepus {

using Triangle = std::array<std::array<float, 3>, 3>;  // corners, x y z

// Throws Error(input) where the file is cut off, is no STL, holds no triangle or a coordinate that is not finite.
std::vector<Triangle> read_stl(const std::filesystem::path& path);

}  // namespace lepus
