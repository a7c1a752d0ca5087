// SPDX-License-Identifier: Apache-2.0
// The steps on a GPU in the order of the ladder.
#pragma once

#include <string>
#include <vector>

#include "bench/ladder/cuda/pipelines.h"
#include "bench/ladder/ladder.h"

namespace lepus::ladder {

// Where a step is measured from host to host: its paper's best step at every size, the others where all is measured.
enum class Hosts { nowhere, first_size, every_size };

struct CudaRung {
  const char* name;
  Step step;
  int views_per_launch;  // the volume is read and written once for so many
  bool kernel;           // measured with views and volume on the device
  Hosts host;
};
const std::vector<CudaRung>& cuda_steps();

}  // namespace lepus::ladder
