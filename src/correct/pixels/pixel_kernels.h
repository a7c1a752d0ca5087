// SPDX-License-Identifier: Apache-2.0
// What the host may launch on a device, on the workspace's stream. Counts are one number per row of `sinograms`, in
// memory that the device can write.
#pragma once

#include <cstdint>

#include "correct/pixels/bridge.h"
#include "correct/pixels/hot_rules.h"
#include "correct/pixels/zinger_rules.h"
#include "correct/planes.h"
#include "correct/workspace.h"

namespace lepus::pixels {

void launch_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                       cuda::Workspace& workspace);

void launch_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t* counts,
                    cuda::Workspace& workspace);

// Runs and lines of the band: rows counted from the first plane of `sinograms`; both lie in host memory.
void launch_bridges(const PixelRun* runs, std::int64_t run_count, const RowLine* lines, std::int64_t line_count,
                    const Planes& sinograms, cuda::Workspace& workspace);

}  // namespace lepus::pixels
