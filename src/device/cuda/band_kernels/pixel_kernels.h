// SPDX-License-Identifier: Apache-2.0
// What the host may launch on a device, in a queue. Counts are one number per row of `sinograms`, in
// memory that the device can write.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "project/bridge.h"
#include "project/hot_rules.h"
#include "project/zinger_rules.h"
#include "project/planes.h"

namespace lepus::pixels {

void launch_hot_pixels(const HotRules& rules, int iterations, const Planes& sinograms, std::int64_t* counts,
                       Queue& queue);

void launch_zingers(const ZingerRules& rules, const Planes& sinograms, std::int64_t* counts, Queue& queue);

// Runs and lines of the band: rows counted from the first plane of `sinograms`; both lie in host memory.
void launch_bridges(const PixelRun* runs, std::int64_t run_count, const RowLine* lines, std::int64_t line_count,
                    const Planes& sinograms, Queue& queue);

}  // namespace lepus::pixels
