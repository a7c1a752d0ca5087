// SPDX-License-Identifier: Apache-2.0
// A command that a second program runs: lepus-bench stands beside lepus, or on the path.
#pragma once

#include <string>
#include <vector>

namespace lepus::app {

// Becomes that program, with the same words; returns only by throwing Error(unsupported) where it is not there.
[[noreturn]] void start_program(const std::string& name, const std::vector<std::string>& words);

}  // namespace lepus::app
