// SPDX-License-Identifier: Apache-2.0
// Step 2 on the CPU: blocks of 32^3 voxels that stay in the L2 cache while all views pass by, each with the small part
// of the view that the block sees. Along a line u w, v w and w grow by constants, there is one division per voxel
// instead of three, and where the whole block projects into the picture no tap is asked where it lies.
#include "bench/ladder/cpu/blocked.h"

namespace lepus::ladder {

void cpu_blocked(const Problem& problem, float* volume, ThreadPool& threads) {
  add_in_blocks(problem, volume, threads,
                [](const Picture& picture, const VoxelLine& line, std::int64_t count, float* sums) {
                  for (std::int64_t i = 0; i < count; ++i) {
                    const auto step = static_cast<float>(i);
                    const float r = 1 / (line.w + step * line.dw);
                    const float u = (line.u + step * line.du) * r, v = (line.v + step * line.dv) * r;
                    const auto column = static_cast<std::int64_t>(u), row = static_cast<std::int64_t>(v);
                    const float a = u - static_cast<float>(column), b = v - static_cast<float>(row);
                    const float* const tap = picture.pixels + row * picture.columns + column;
                    const float upper = tap[0] + a * (tap[1] - tap[0]);
                    const float lower = tap[picture.columns] + a * (tap[picture.columns + 1] - tap[picture.columns]);
                    sums[i] += (upper + b * (lower - upper)) * (r * r);
                  }
                });
}

}  // namespace lepus::ladder
