// SPDX-License-Identifier: Apache-2.0
// Hot pixels on the CPU: threads over sinograms, in place. counts: of replaced columns, one for each sinogram.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "project/hot_rules.h"
#include "project/planes.h"

namespace lepus::pixels {

void replace_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                        ThreadPool& threads);
std::int64_t hot_scratch_bytes(std::int64_t columns);  // of one thread

}  // namespace lepus::pixels
