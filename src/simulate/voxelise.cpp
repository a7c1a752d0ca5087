// SPDX-License-Identifier: Apache-2.0
#include "simulate/voxelise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

struct Work {
  Phantom::Scratch scratch;
  std::vector<double> sums;
};

// Adds value * (number of samples within [begin, end]) to every voxel of the line; sample k lies at (k + 1/2) * pitch.
void add_segment(double begin, double end, double value, double pitch, std::int64_t per_voxel, std::int64_t voxels,
                 double* sums) {
  const double last = static_cast<double>(per_voxel * voxels);
  const auto first_in = static_cast<std::int64_t>(std::clamp(std::ceil(begin / pitch - 0.5), 0.0, last));
  const auto behind = static_cast<std::int64_t>(std::clamp(std::floor(end / pitch - 0.5) + 1, 0.0, last));
  for (std::int64_t k = first_in; k < behind;) {
    const std::int64_t voxel = k / per_voxel, next = std::min(behind, (voxel + 1) * per_voxel);
    sums[voxel] += value * static_cast<double>(next - k);
    k = next;
  }
}

}  // namespace

void voxelise(const Phantom& phantom, const VolumeGrid& grid, std::int64_t z0, std::int64_t z1, int samples_per_axis,
              float* out, ThreadPool& threads) {
  if (samples_per_axis < 1 || samples_per_axis > 64)
    throw Error(ErrorKind::usage, {.what = "samples per voxel out of range",
                                   .where = "truth samples",
                                   .why = format("it is {}", samples_per_axis),
                                   .hint = "give 1 to 64 samples along each axis"});
  if (z0 < 0 || z1 > grid.nz || z0 > z1 || grid.step_mm.x == 0)
    throw Error(ErrorKind::internal, {.what = "slices outside the grid",
                                      .where = "voxelise",
                                      .why = format("[{}, {}) of {}", z0, z1, grid.nz),
                                      .hint = {}});
  const int n = samples_per_axis;
  const double pitch = std::abs(grid.step_mm.x) / n, sign = grid.step_mm.x < 0 ? -1 : 1;
  std::vector<Work> work(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, (z1 - z0) * grid.ny, 8, [&](std::int64_t begin, std::int64_t end, int worker) {
    Work& w = work[static_cast<std::size_t>(worker)];
    w.sums.resize(static_cast<std::size_t>(grid.nx));
    for (std::int64_t line = begin; line < end; ++line) {
      std::fill(w.sums.begin(), w.sums.end(), 0.0);
      const auto y = static_cast<double>(line % grid.ny), z = static_cast<double>(z0 + line / grid.ny);
      for (int sz = 0; sz < n; ++sz)
        for (int sy = 0; sy < n; ++sy) {
          Ray ray;
          ray.origin_mm = grid.centre(-0.5, y + (sy + 0.5) / n - 0.5, z + (sz + 0.5) / n - 0.5);
          ray.direction = {sign, 0, 0};
          for (const Segment& s : phantom.segments(ray, w.scratch))
            add_segment(s.begin, s.end, phantom.value_of(s.shape), pitch, n, grid.nx, w.sums.data());
        }
      const double samples = static_cast<double>(n) * n * n;
      for (std::int64_t x = 0; x < grid.nx; ++x)
        out[line * grid.nx + x] = static_cast<float>(w.sums[static_cast<std::size_t>(x)] / samples);
    }
  });
}

}  // namespace lepus
