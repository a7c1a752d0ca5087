// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured: the walls that every benchmark is held against. Each is checked (a copy
// is compared, a sum is known) and becomes a Figure of the group "machine".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/measure/report.h"

namespace lepus::measure {

struct LimitOptions {
  bool quick = false;            // smaller buffers, fewer repeats: a few hundred milliseconds
  std::filesystem::path folder;  // where the disk is measured; empty: it is not
  int device = -1;               // which GPU; -1: none
};

// 0 where a limit was not measured. GB are 10^9 bytes; copies count bytes read and bytes written.
struct Limits {
  double copy_gb_s = 0;                         // of the CPU's memory, all threads
  double multiply_adds = 0;                     // 10^9 fp32 multiply-adds a second, all threads
  std::string simd;                             // the best target that Highway found: "AVX3"
  int simd_lanes = 0;                           // floats in one of its vectors
  double link_up_gb_s = 0, link_down_gb_s = 0;  // page-locked memory to the device and back
  double device_copy_gb_s = 0;
  double texture_samples = 0;       // 10^9 bilinear samples a second, neighbouring lanes close together
  double device_multiply_adds = 0;  // 10^9 fp32 multiply-adds a second
  std::vector<Figure> figures;
};

Limits measure_limits(const LimitOptions& options, Context& context);

}  // namespace lepus::measure
