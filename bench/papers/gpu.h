// SPDX-License-Identifier: Apache-2.0
// The steps on sinograms on a GPU.
#pragma once

#include <string>
#include <vector>

#include "bench/papers/filters.h"
#include "correct/filters/filter.h"
#include "correct/rings/rings.h"

namespace lepus::bench {

struct GpuPapers {
  std::string kind;  // "cuda"
  // Fills a stack in device memory, runs the step and returns the seconds of the best run; the last sinogram as it came
  // out goes to `last`.
  double (*time)(const PaperRun& run, const SinogramStack& stack, const SinogramStep& step, std::vector<float>& last);
  // On planes in device memory.
  void (*filter)(const Planes& in, const Planes& out, const FilterOptions& options, cuda::Workspace& workspace);
  void (*remove_rings)(const Planes& planes, const RingOptions& options, cuda::Workspace& workspace);
};
std::vector<GpuPapers> gpu_papers();  // those this build has

}  // namespace lepus::bench
