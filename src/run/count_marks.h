// SPDX-License-Identifier: Apache-2.0
// The marks that a wrong reading leaves in recorded pixels: a wrong byte order, another pixel type, a wrong row length.
// A picture is smooth, what it becomes when its bytes are taken for something else is not.
#pragma once

#include <optional>
#include <string>

#include "run/count_sample.h"

namespace lepus {

// What the pixels look like, with its remedy, as a sentence; nothing where they look like a picture. raw: the scan file
// gives the length of a row, which may then be wrong; slanted objects look alike.
std::optional<std::string> mark_of_wrong_reading(const CountSample& sample, bool raw, const CancelFlag& cancel);

}  // namespace lepus
