// SPDX-License-Identifier: Apache-2.0
// `lepus bench`: this machine's limits, and how near every part of lepus comes to them. Each result is checked before
// its time counts. docs/bench.md says what each figure means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/context.h"
#include "bench/measure/report.h"

namespace lepus::bench {

struct BenchOptions {
  bool quick = false;               // small problems, a few seconds: whether everything is right, not how fast it is
  std::vector<std::int64_t> sizes;  // edges of the volume; empty: 256 on the CPU; 256, 512, 1024 on a GPU
  std::vector<std::string> only;    // some of part_names; empty: all
  std::string backend = "auto";     // a kind of device, as list_devices() names it; "auto": the CPU and GPUs
  int device = 0;                   // which of that kind
  std::filesystem::path folder;     // where files are written and read back; empty: the system's folder for such
};

// Throws Error(usage) for an unknown part (with the nearest name), backend or size, Error(unsupported) where there is
// no such GPU. Wrong results do not throw: the report says so (Report::correct).
measure::Report run_bench(const BenchOptions& options, Context& context);

// Title, date, version and machine of a report made here and now.
measure::Report new_report(const std::string& title, int threads, int device = 0);

}  // namespace lepus::bench
