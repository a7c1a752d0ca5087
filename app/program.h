// SPDX-License-Identifier: Apache-2.0
// From the words of the command line to an exit code: parsing (CLI11), running, errors.
#pragma once

#include <string>
#include <vector>

namespace lepus::app {

int run_program(std::vector<std::string> words);  // without the program's name

}  // namespace lepus::app
