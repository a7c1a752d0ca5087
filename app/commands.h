// SPDX-License-Identifier: Apache-2.0
// The commands of the program, in the order in which --help lists them.
#pragma once

#include <memory>
#include <string>

#include "app/help.h"

namespace lepus::app {

std::unique_ptr<Command> simulate_command();
std::unique_ptr<Command> info_command();
std::unique_ptr<Command> import_command();
std::unique_ptr<Command> plan_command();
std::unique_ptr<Command> center_command();
std::unique_ptr<Command> calibrate_command();
std::unique_ptr<Command> reconstruct_command();
std::unique_ptr<Command> project_command();
std::unique_ptr<Command> live_command();
std::unique_ptr<Command> compare_command();
std::unique_ptr<Command> convert_command();
std::unique_ptr<Command> slice_command();
std::unique_ptr<Command> analyze_command();
std::unique_ptr<Command> post_command();
std::unique_ptr<Command> view_command();
std::unique_ptr<Command> preview_command();
std::unique_ptr<Command> scan_keys_command();
std::unique_ptr<Command> completion_command(const Commands& commands);  // the list must outlive the command
std::unique_ptr<Command> man_command(const Commands& commands);

// Fills the list; it must not move afterwards.
void add_commands(Commands& commands);

}  // namespace lepus::app
