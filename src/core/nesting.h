// SPDX-License-Identifier: Apache-2.0
// How deep TOML and JSON are nested, found without recursion and before they are parsed: the parsers' trees are walked
// and freed level by level on the stack, and a file of 100,000 open brackets would end the program.
#pragma once

#include <string>
#include <string_view>

namespace lepus {

inline constexpr int deepest_nesting = 64;  // nothing that lepus reads or writes needs more than ten

// Both throw Error(input): `where` is the file, to which the line is added.
void check_json_nesting(std::string_view text, const std::string& where);
// Brackets and the parts of dotted keys ([a.b.c], a.b.c = 1) count alike.
void check_toml_nesting(std::string_view text, const std::string& where);

}  // namespace lepus
