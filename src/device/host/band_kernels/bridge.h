// SPDX-License-Identifier: Apache-2.0
// Bad pixels bridged on the CPU: runs first, then whole rows; rows are counted from the first of `sinograms`.
#pragma once

#include <span>

#include "core/threads.h"
#include "project/bridge.h"
#include "project/planes.h"

namespace lepus::pixels {

void bridge(std::span<const PixelRun> runs, std::span<const RowLine> lines, const Planes& sinograms,
            ThreadPool& threads);

}  // namespace lepus::pixels
