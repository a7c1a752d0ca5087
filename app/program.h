// SPDX-License-Identifier: Apache-2.0
// From the words of the command line to an exit code: parsing (CLI11), running, errors.
#pragma once

#include <functional>

#include "app/help.h"

namespace lepus::app {

using AddCommands = std::function<void(Commands&)>;

// What main() does; the arguments are its own.
int run_program(int count, char** arguments, const AddCommands& add_commands);

}  // namespace lepus::app
