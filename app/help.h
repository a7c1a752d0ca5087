// SPDX-License-Identifier: Apache-2.0
// The option tables as text: --help, man pages (roff) and shell completions. Nothing here knows a single option.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"

namespace lepus::app {

using Commands = std::vector<std::unique_ptr<Command>>;

// Throws Error(usage) that suggests the nearest name.
const Command& find_command(const Commands& commands, const std::string& name);

std::string help_text(const Commands& commands);  // of the program
std::string help_text(const Command& command);

std::string man_page(const Commands& commands);
std::string man_page(const Command& command);

std::string bash_completion(const Commands& commands);
std::string zsh_completion(const Commands& commands);
std::string fish_completion(const Commands& commands);

// Shared by the three: "[options] VOLUME", and the help with choices and default.
std::string synopsis(const Command& command);
std::string full_help(const Option& option);
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace lepus::app
