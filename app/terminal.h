// SPDX-License-Identifier: Apache-2.0
// What the program knows about the terminal it talks to.
#pragma once

#include <string>

namespace lepus::app {

enum class Style { plain, bold, red, yellow };

bool stderr_is_terminal();
int terminal_columns();  // width of the terminal on standard error; 80 where there is none
bool terminal_speaks_utf8();

// The text in a colour, where standard error is a terminal and NO_COLOR is not set.
std::string styled(const std::string& text, Style style);

// All of it in one write, so that lines of different threads do not mix. Errors are ignored: there is nobody to tell.
void write_stderr(const std::string& text);

// At start: descriptors 0 to 2 that the caller closed must not be given to the first file we open.
void reserve_standard_descriptors();

// "0.4 s", "12.3 s", "3 min 20 s", "2 h 05 min".
std::string format_seconds(double seconds);

}  // namespace lepus::app
