// SPDX-License-Identifier: Apache-2.0
// Options of a call that cannot be, in the words of the command that has them.
#pragma once

#include <filesystem>
#include <string>

namespace lepus {

// Throws Error(usage) whose place is "option <name>".
[[noreturn]] void refuse_option(const std::string& name, const std::string& what, const std::string& hint);

// Throws Error(usage) where both names are of one file.
void refuse_same_file(const std::filesystem::path& input, const std::filesystem::path& output);

}  // namespace lepus
