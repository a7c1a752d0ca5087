// SPDX-License-Identifier: Apache-2.0
// Settings as text, lines "key = value" under "[section]" heads as a resolved scan file has them: which of them differ
// between a run that was not finished and the one that would go on with it.
#pragma once

#include <string>

namespace lepus {

// "geometry.views was 24, is 25; method.low was 0.0, is not given; 3 others differ", or "" where nothing does. Comments
// and the order of the lines do not count.
std::string settings_difference(const std::string& before, const std::string& now);

}  // namespace lepus
