// SPDX-License-Identifier: Apache-2.0
// Words for messages: the nearest known name to what somebody typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lepus {

// The candidate with the smallest edit distance, or "" where none is close (more than a third of the letters differ).
std::string nearest_name(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace lepus
