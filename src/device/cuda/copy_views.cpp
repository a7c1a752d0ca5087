// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/copy_views.h"

#include <algorithm>

#include "device/cuda/cuda_check.h"

namespace lepus::cuda {

void copy_views(const std::vector<const void*>& views, std::int64_t bytes, unsigned char* to, std::int64_t group,
                cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(views.size());
  const auto at = [&](std::int64_t i) { return static_cast<const unsigned char*>(views[static_cast<std::size_t>(i)]); };
  const auto evenly = [&](std::int64_t turns) {
    for (std::int64_t i = 2 * turns; i < count; ++i)
      if (at(i) - at(i - turns) != at(i - turns) - at(i - 2 * turns) || at(i) - at(i - turns) < bytes) return false;
    return true;
  };
  const std::int64_t turns = evenly(1) ? 1 : evenly(group) ? group : count;
  for (std::int64_t first = 0; first < std::min(turns, count); ++first) {
    const std::int64_t height = (count - first + turns - 1) / turns;
    const std::int64_t pitch = height > 1 ? at(first + turns) - at(first) : bytes;
    check(cudaMemcpy2DAsync(to + first * bytes, static_cast<std::size_t>(turns * bytes), at(first),
                            static_cast<std::size_t>(pitch), static_cast<std::size_t>(bytes),
                            static_cast<std::size_t>(height), cudaMemcpyHostToDevice, stream),
          "send frames to the device");
  }
}

}  // namespace lepus::cuda
