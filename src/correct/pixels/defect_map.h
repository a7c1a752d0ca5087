// SPDX-License-Identifier: Apache-2.0
// A map of a detector's bad pixels from a file: a picture (PNG or TIFF) as large as the detector, in which all that is
// not zero is bad, or a text file with a pixel "column row" or a rectangle "column0 row0 column1 row1" (both corners
// included) on each line; # starts a comment. Counted from 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace lepus::pixels {

// -> row * columns + column, in the order of the file (text) or of the picture. Throws Error(input) naming file and
// line.
std::vector<std::int64_t> read_defect_map(const std::filesystem::path& file, std::int64_t columns, std::int64_t rows);

}  // namespace lepus::pixels
