// SPDX-License-Identifier: Apache-2.0
// The GPU's steps in a build without CUDA: there are none to run.
#include "bench/ladder/figures.h"

#include <lepus/error.h>

namespace lepus::ladder {

void run_cuda(const LadderOptions&, const Scene&, Context&, measure::Report&) {
  throw Error(ErrorKind::unsupported, {.what = "the ladder's steps on a GPU cannot run",
                                       .where = {},
                                       .why = "this build has no CUDA",
                                       .hint = "build with nvcc, or give --backend cpu"});
}

}  // namespace lepus::ladder
