// SPDX-License-Identifier: Apache-2.0
// The synthetic views on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/backproject.h"

namespace lepus::bench {

// Fills views[first, first + count) of an order: data[i][row][column] is view order[first + i].
void fill_views(float* data, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t count,
                std::int64_t columns, std::int64_t rows);

// All views of the scan as the kernels of `backprojection` read them.
cuda::ViewTextures synthetic_store(const cuda::Backprojection& backprojection, const ScanGeometry& geometry);

}  // namespace lepus::bench
