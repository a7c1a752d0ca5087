// SPDX-License-Identifier: Apache-2.0
// The ladder on a GPU, without a type of its interface.
#pragma once

#include <string>
#include <vector>

#include "bench/ladder/ladder.h"
#include "bench/ladder/problem.h"

namespace lepus::ladder {

struct GpuLadder {
  std::string kind;  // "cuda"
  // All sizes into the report.
  void (*run)(const LadderOptions& options, const Scene& scene, Context& context, measure::Report& report);
};
std::vector<GpuLadder> gpu_ladder();  // those this build has

}  // namespace lepus::ladder
