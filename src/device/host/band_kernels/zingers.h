// SPDX-License-Identifier: Apache-2.0
// Zingers on the CPU: threads over sinograms, in place. counts: of replaced values, one for each sinogram.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "project/planes.h"
#include "project/zinger_rules.h"

namespace lepus::pixels {

void replace_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, ThreadPool& threads);
std::int64_t zinger_scratch_bytes(const ZingerRules& rules, std::int64_t columns);  // of one thread

}  // namespace lepus::pixels
