// SPDX-License-Identifier: Apache-2.0
// Step 1 on the CPU: the definition, loop by loop. Every view reads and writes the whole volume, every voxel
// multiplies the whole matrix, every tap asks whether it lies in the picture.
#include <cmath>

#include "bench/ladder/cpu/steps.h"
#include "bench/ladder/cpu/tile.h"

namespace lepus::ladder {

void cpu_naive(const Problem& problem, float* volume, ThreadPool& threads) {
  const Scene& scene = *problem.scene;
  const std::int64_t n = problem.size;
  for (std::int64_t view = 0; view < scene.views(); ++view) {
    const Matrix& m = problem.matrices[static_cast<std::size_t>(view)];
    const Picture picture{scene.view(view), scene.geometry.columns, scene.geometry.rows};
    threads.parallel_for(0, n, 1, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t k = first; k < last; ++k)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            const auto x = static_cast<float>(i), y = static_cast<float>(j), z = static_cast<float>(k);
            const float w = m.w[0] * x + m.w[1] * y + m.w[2] * z + m.w[3];
            const float u = (m.u[0] * x + m.u[1] * y + m.u[2] * z + m.u[3]) / w;
            const float v = (m.v[0] * x + m.v[1] * y + m.v[2] * z + m.v[3]) / w;
            volume[(k * n + j) * n + i] += bilinear(picture, u, v) / (w * w);
          }
    });
  }
}

}  // namespace lepus::ladder
