// SPDX-License-Identifier: Apache-2.0
// The passes of the filters on the CPU, threads over rows and tiles: `from` -> rows and planes of `to` that the pass
// names. What the mask finds beyond the edges is written beside a copy of each row, so that the inner loops see none.
#pragma once

#include "core/threads.h"
#include "project/filter_window.h"

namespace lepus::filters {

void run_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads);
std::int64_t host_scratch_bytes(std::int64_t width, const FilterOptions& options);  // of one thread, about

void smooth_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads);
void median_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to, ThreadPool& threads);
void bilateral_on_host(const Pass& pass, const Stack& original, const Stack& from, const Stack& to,
                       ThreadPool& threads);

// Columns [first, last) of row y of plane z, which may lie beyond the edges: out[i] is column first + i. `nothing`
// where the mask finds no pixel.
void gather_row(const Pass& pass, const Stack& from, std::int64_t z, std::int64_t y, std::int64_t first,
                std::int64_t last, float nothing, float* out);

// After the last pass: pixels of columns [first, last) of a row of `to` without a full mask, as they were.
void put_back(const Pass& pass, const Stack& original, const Stack& to, std::int64_t z, std::int64_t y,
              std::int64_t first, std::int64_t last);

}  // namespace lepus::filters
