// SPDX-License-Identifier: Apache-2.0
#include "analysis/bit_volume.h"

#include <algorithm>
#include <atomic>

namespace lepus::analysis {

void BitVolume::each_slice(Context& context, const std::function<bool(std::int64_t z, Word* words, int worker)>& body) {
  WorkerSlices buffers(*this, context.threads.size());
  context.threads.parallel_for(0, size_.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    Word* const words = buffers[worker];
    store_.read(z, 0, slice_words(), words);
    if (body(z, words, worker)) store_.write(z, 0, slice_words(), words);
  });
}

std::int64_t BitVolume::count(Context& context) const {
  std::atomic<std::int64_t> ones{0};
  WorkerSlices buffers(*this, context.threads.size());
  context.threads.parallel_for(0, size_.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    ones += count_bits(slice(z, buffers[worker]), slice_words());
  });
  return ones;
}

}  // namespace lepus::analysis
