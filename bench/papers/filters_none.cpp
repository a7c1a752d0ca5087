// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/filters.h"
#include "run/device_sweep.h"
#include <lepus/error.h>

namespace lepus::bench {

double time_on_device(const PaperRun&, const SinogramStack&, const SinogramStep&, std::vector<float>&) {
  throw Error(ErrorKind::unsupported,
              {.what = "no CUDA device can be used", .where = "backend cuda", .why = why_no_device(), .hint = {}});
}

}  // namespace lepus::bench
