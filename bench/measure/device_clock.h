// SPDX-License-Identifier: Apache-2.0
// The time of work on a GPU's stream, by CUDA events.
#pragma once

#include "device/cuda/device_memory.h"

namespace lepus::measure {

// The best of `repeats` runs, in seconds, after one that loads the kernels and wakes the card.
template <class Work>
double best_device_seconds(int repeats, const cuda::Stream& stream, const Work& work) {
  const cuda::Event from(cuda::Event::Timing::on), to(cuda::Event::Timing::on);
  double best = 0;
  work();
  for (int i = 0; i < repeats; ++i) {
    from.record(stream.get());
    work();
    to.record(stream.get());
    to.synchronize();
    const double taken = 1e-3 * static_cast<double>(cuda::Event::milliseconds(from, to));
    if (i == 0 || taken < best) best = taken;
  }
  return best;
}

}  // namespace lepus::measure
