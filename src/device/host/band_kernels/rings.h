// SPDX-License-Identifier: Apache-2.0
// Ring removal on the CPU. Stack of sinograms (width: detector columns, height: views), in place; each sinogram by
// itself, the same bits for any number of threads.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "project/ring_options.h"

namespace lepus {

void remove_rings(const Planes& sinograms, const RingOptions& options, ThreadPool& threads);
std::int64_t rings_scratch_bytes(const Planes& sinograms, const RingOptions& options, int threads);

namespace rings {

// The first step of combined. masks[plane][column]: 1 where a column's change from view to view is unlike its
// neighbours', dead or fluctuating; such columns interpolated between good ones.
void find_broken_columns(const Planes& sinograms, const RingOptions& options, unsigned char* masks,
                         ThreadPool& threads);
void bridge_columns(const Planes& sinograms, const unsigned char* masks, ThreadPool& threads);

}  // namespace rings
}  // namespace lepus
