// SPDX-License-Identifier: Apache-2.0
// The surface where a volume's values cross a threshold, by points on the edges between neighbouring voxels, linear
// between their values.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "analysis/bit_volume.h"
#include "core/memory.h"
#include "core/context.h"
#include "io/volume_file.h"

namespace lepus::analysis {

struct Crossing {
  Vec3 point_mm;
  std::int64_t edge = 0;  // its number in the volume: the same for any number of threads
};

// What a thread needs for it.
inline std::int64_t crossing_bytes(const VolumeGrid& grid) { return 24 * grid.nx * grid.ny; }

// found(crossing, worker) for every one whose two voxels lie inside, from the context's threads.
template <class Found>
void for_each_crossing(const VolumeReader& volume, const BitVolume& inside, double threshold, Context& context,
                       Found&& found) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t slice = grid.nx * grid.ny, row = inside.row_words();
  const int workers = context.threads.size();
  Buffer<float> slices(2 * slice * workers);
  WorkerSlices here_words(inside, workers), next_words(inside, workers);
  context.progress.begin("surface", grid.nz);
  context.threads.parallel_for(0, grid.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    float* const here = slices.data() + 2 * slice * worker;
    const bool last = z + 1 == grid.nz;
    volume.read(z, last ? z + 1 : z + 2, here);
    const float* const next = here + slice;
    const Word* const in = inside.slice(z, here_words[worker]);
    const Word* const in_next = last ? nullptr : inside.slice(z + 1, next_words[worker]);
    for (std::int64_t y = 0; y < grid.ny; ++y)
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        if (!bit_at(in + y * row, x)) continue;
        const std::int64_t i = y * grid.nx + x;
        const auto between = [&](int axis, float a, float b) {
          if ((a > threshold) == (b > threshold)) return;
          const double t = (threshold - a) / (static_cast<double>(b) - a);
          found(Crossing{grid.centre(static_cast<double>(x) + (axis == 0 ? t : 0),
                                     static_cast<double>(y) + (axis == 1 ? t : 0),
                                     static_cast<double>(z) + (axis == 2 ? t : 0)),
                         3 * (z * slice + i) + axis},
                worker);
        };
        if (x + 1 < grid.nx && bit_at(in + y * row, x + 1)) between(0, here[i], here[i + 1]);
        if (y + 1 < grid.ny && bit_at(in + (y + 1) * row, x)) between(1, here[i], here[i + grid.nx]);
        if (!last && bit_at(in_next + y * row, x)) between(2, here[i], next[i]);
      }
    context.progress.advance(1);
  });
  context.progress.end();
}

// Crossings on a mm² of surface with this normal: |nx| / (dy dz) + ...
inline double crossings_per_mm2(const VolumeGrid& grid, Vec3 normal) {
  const Vec3 step{std::abs(grid.step_mm.x), std::abs(grid.step_mm.y), std::abs(grid.step_mm.z)};
  return std::abs(normal.x) / (step.y * step.z) + std::abs(normal.y) / (step.x * step.z) +
         std::abs(normal.z) / (step.x * step.y);
}

}  // namespace lepus::analysis
