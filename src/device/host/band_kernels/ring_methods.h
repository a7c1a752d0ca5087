// SPDX-License-Identifier: Apache-2.0
// The methods of ring removal on the CPU, one file each; options are checked.
#pragma once

#include "device/host/band_kernels/rings.h"

namespace lepus::rings {

void remove_by_trend(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);
void remove_by_wavelets(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);
void remove_by_sorting(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);  // and combined

std::int64_t trend_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);
std::int64_t wavelets_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);
std::int64_t sorting_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);

// Sinograms that are worked on together: enough to keep all threads busy, few enough for the caches.
std::int64_t group_of(const Planes& sinograms);

}  // namespace lepus::rings
