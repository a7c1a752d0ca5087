// SPDX-License-Identifier: Apache-2.0
// Figures of the suite that need a GPU's own interface; what lepus's own layers run there, the parts themselves
// measure.
#pragma once

#include <string>
#include <vector>

#include "bench/suite/parts.h"

namespace lepus::bench {

struct GpuSuite {
  std::string part;  // of part_names, behind whose other figures these stand
  void (*work)(Run& run);
};
std::vector<GpuSuite> gpu_suite();  // those this build has

}  // namespace lepus::bench
