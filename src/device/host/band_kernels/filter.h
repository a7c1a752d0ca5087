// SPDX-License-Identifier: Apache-2.0
// The filters on the CPU. Stack of floats -> stack of the same size; lengths in pixels, values in the data's unit. The
// same bits for any number of threads and however the pictures are cut into bands.
#pragma once

#include <cstdint>

#include "core/threads.h"
#include "project/filter_options.h"

namespace lepus {

// in and out must not overlap.
void filter(const Planes& in, const Planes& out, const FilterOptions& options, ThreadPool& threads);
void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut,
            ThreadPool& threads);

// Host memory that filter() takes beside in and out.
std::int64_t filter_scratch_bytes(const Planes& in, const FilterOptions& options, int threads);

}  // namespace lepus
