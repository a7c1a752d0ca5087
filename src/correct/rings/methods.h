// SPDX-License-Identifier: Apache-2.0
// The methods of rings.h on the CPU, one file each; options are checked.
#pragma once

#include "correct/replaced_share.h"
#include "correct/rings/rings.h"

namespace lepus::rings {

void remove_by_trend(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);
void remove_by_wavelets(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);
void remove_by_sorting(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);  // and combined

// The first step of combined. masks[plane][column]: 1 where a column's change from view to view is unlike its
// neighbours', dead or fluctuating; such columns interpolated between good ones.
void find_broken_columns(const Planes& sinograms, const RingOptions& options, unsigned char* masks,
                         ThreadPool& threads);
void bridge_columns(const Planes& sinograms, const unsigned char* masks, ThreadPool& threads);
// Of a mask: a run's first and last column are good neighbours that were marked along.
ReplacedPixels count_broken(const unsigned char* masks, std::int64_t planes, std::int64_t columns);

std::int64_t trend_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);
std::int64_t wavelets_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);
std::int64_t sorting_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);

// The filters inside the methods. Edges: the mask is cut off (trend), mirrored (along sorted rows).
FilterOptions trend_filter(const RingOptions& options);
FilterOptions sorted_filter(std::int64_t size);

// Sinograms that are worked on together: enough to keep all threads busy, few enough for the caches.
std::int64_t group_of(const Planes& sinograms);
Planes part_of(const Planes& sinograms, std::int64_t first, std::int64_t count);

}  // namespace lepus::rings
