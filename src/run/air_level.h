// SPDX-License-Identifier: Apache-2.0
// The open beam beside an object: the level at the bright end of a view that many pixels share.
#pragma once

#include <optional>
#include <vector>

namespace lepus {

// Means of small blocks of a view's transmission, and the standard error of a bright one. Air makes a peak at the
// bright end: of its width, 2 % or three standard errors to each side, a good share of the blocks, and few in the same
// width below, the object further down. Where an object fills the view its transmission falls off towards the bright
// end, or is the same all over, and there is none.
std::optional<double> air_level(std::vector<float> block_means, double standard_error);

}  // namespace lepus
