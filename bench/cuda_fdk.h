// SPDX-License-Identifier: Apache-2.0
// What the two parts of lepus_bench_cuda_fdk share.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <lepus/geometry.h>

namespace lepus::bench {

// The problem that other reconstruction packages were measured on: source-axis 750 mm, source-detector 1200 mm.
CircularScan common_scan(std::int64_t columns, std::int64_t rows, std::int64_t views, double pixel_mm);

// Errors of exact, fast and half against double precision in HU, and of the GPU's exact against the CPU.
// Returns 1 where a bar is missed.
int accuracy_rows(nlohmann::json& rows);

}  // namespace lepus::bench
