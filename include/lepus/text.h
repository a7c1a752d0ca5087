// SPDX-License-Identifier: Apache-2.0
// Words for messages: about what somebody typed, about how long something takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <lepus/export.h>

namespace lepus {

// The candidate with the smallest edit distance, or "" where none is close (more than a third of the letters differ).
LEPUS_API std::string nearest_name(std::string_view typed, const std::vector<std::string>& candidates);

// What somebody typed, for a message: its beginning where it is long.
LEPUS_API std::string shown(std::string_view typed);

// What a machine that does other things too may need for work of so many seconds: "0.12 to 0.25 s".
LEPUS_API std::string expected_time(double seconds);

}  // namespace lepus
