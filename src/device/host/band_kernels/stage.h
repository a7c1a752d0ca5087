// SPDX-License-Identifier: Apache-2.0
// Recorded counts to grey levels or line integrals, and grey levels to line integrals, on the CPU.
#pragma once

#include "core/threads.h"
#include "device/band_kernels.h"

namespace lepus::host {

void to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
              ThreadPool& threads);
void logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines, ThreadPool& threads);

}  // namespace lepus::host
