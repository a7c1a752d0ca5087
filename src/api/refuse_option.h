// SPDX-License-Identifier: Apache-2.0
// Options of a call that cannot be, in the words of the command that has them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace lepus {

// Throws Error(usage) whose place is "option <name>".
[[noreturn]] void refuse_option(const std::string& name, const std::string& what, const std::string& hint);

// Throws Error(usage) where both names are of one file.
void refuse_same_file(const std::filesystem::path& input, const std::filesystem::path& output);

// Throws Error(usage) where a file that the call cannot do without has no name: "no volume was named".
void require_name(const std::filesystem::path& file, const std::string& what);

// x0, x1, y0, y1, z0, z1 in millimetres.
std::array<double, 6> box_of_option(const std::vector<double>& box_mm, const std::string& option);

}  // namespace lepus
