// SPDX-License-Identifier: Apache-2.0
// Words for messages: the nearest known name to what somebody typed, what to do about the system's refusals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lepus {

// The candidate with the smallest edit distance, or "" where none is close (more than a third of the letters differ).
std::string nearest_name(std::string_view typed, const std::vector<std::string>& candidates);

// What somebody typed, for a message: its beginning where it is long.
std::string shown(std::string_view typed);

// What helps where the system could not open, make or write a file (errno); `usual` where its reason says no more.
std::string hint_for_errno(int code, const std::string& usual);

}  // namespace lepus
