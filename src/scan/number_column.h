// SPDX-License-Identifier: Apache-2.0
// One column of a table in a text file, such as the exposures in a scanner's log.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

// `column` is a number counted from 1, or a name that stands in a heading, in any case. Fields are separated by tabs,
// semicolons, commas or blanks, whichever of them a line has first in this order; lines above the heading and lines
// without fields are passed over; # starts a comment, in which the heading may stand. Throws Error(input) naming file
// and line.
std::vector<double> read_number_column(const std::filesystem::path& file, const std::string& column);

}  // namespace lepus
