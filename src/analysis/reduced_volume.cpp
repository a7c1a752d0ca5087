// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduced_volume.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/memory.h"

namespace lepus::analysis {
namespace {

VolumeGrid coarser(const VolumeGrid& g, std::int64_t factor) {
  const auto fewer = [&](std::int64_t n) { return (n + factor - 1) / factor; };
  const double k = static_cast<double>(factor), middle = (k - 1) / 2;
  return {fewer(g.nx), fewer(g.ny), fewer(g.nz), g.centre(middle, middle, middle), g.step_mm * k};
}

// Adds the finite voxels of one slice to sums and counts of the coarser slice.
void add_slice(const float* slice, const VolumeGrid& g, std::int64_t factor, std::int64_t nx, double* sums,
               std::int32_t* counts) {
  for (std::int64_t y = 0; y < g.ny; ++y)
    for (std::int64_t x = 0; x < g.nx; ++x) {
      const float v = slice[y * g.nx + x];
      if (!std::isfinite(v)) continue;
      sums[y / factor * nx + x / factor] += v;
      ++counts[y / factor * nx + x / factor];
    }
}

// read(z, buffer) -> slice z.
template <class Read>
ReducedVolume reduced(const VolumeGrid& grid, std::int64_t factor, Read&& read, Context* context) {
  ReducedVolume result{coarser(grid, factor), {}};
  const VolumeGrid& g = result.grid;
  result.values.resize(static_cast<std::size_t>(g.voxels()));
  const std::int64_t plane = g.nx * g.ny;
  const int workers = context ? context->threads.size() : 1;
  Buffer<float> slices(grid.nx * grid.ny * workers);
  Buffer<double> sums(plane * workers);
  Buffer<std::int32_t> counts(plane * workers);
  const auto one = [&](std::int64_t z, std::int64_t, int worker) {
    double* const sum = sums.data() + worker * plane;
    std::int32_t* const count = counts.data() + worker * plane;
    std::fill_n(sum, plane, 0.0);
    std::fill_n(count, plane, 0);
    for (std::int64_t k = z * factor; k < std::min(grid.nz, (z + 1) * factor); ++k)
      add_slice(read(k, slices.data() + worker * grid.nx * grid.ny), grid, factor, g.nx, sum, count);
    for (std::int64_t i = 0; i < plane; ++i)
      result.values[static_cast<std::size_t>(z * plane + i)] =
          count[i] > 0 ? static_cast<float>(sum[i] / count[i]) : std::numeric_limits<float>::quiet_NaN();
  };
  if (context)
    context->threads.parallel_for(0, g.nz, 1, one);
  else
    for (std::int64_t z = 0; z < g.nz; ++z) one(z, z + 1, 0);
  return result;
}

}  // namespace

ReducedVolume reduce(const VolumeReader& volume, std::int64_t factor, Context& context) {
  return reduced(
      volume.grid(), factor,
      [&](std::int64_t z, float* buffer) {
        volume.read(z, z + 1, buffer);
        return buffer;
      },
      &context);
}

ReducedVolume halve(const ReducedVolume& volume) {
  const std::int64_t plane = volume.grid.nx * volume.grid.ny;
  return reduced(
      volume.grid, 2, [&](std::int64_t z, float*) { return volume.values.data() + z * plane; }, nullptr);
}

ReducedVolume smooth(const ReducedVolume& volume, Context& context) {
  ReducedVolume result = volume;
  const VolumeGrid& g = volume.grid;
  context.threads.parallel_for(0, g.nz, 1, [&](std::int64_t z, std::int64_t, int) {
    for (std::int64_t y = 0; y < g.ny; ++y)
      for (std::int64_t x = 0; x < g.nx; ++x) {
        double sum = 0, weights = 0;
        for (std::int64_t dz = -1; dz <= 1; ++dz)
          for (std::int64_t dy = -1; dy <= 1; ++dy)
            for (std::int64_t dx = -1; dx <= 1; ++dx) {
              const std::int64_t i = x + dx, j = y + dy, k = z + dz;
              if (i < 0 || j < 0 || k < 0 || i >= g.nx || j >= g.ny || k >= g.nz) continue;
              const float v = volume.at(i, j, k);
              if (!std::isfinite(v)) continue;
              const double weight = (2 - std::abs(dx)) * (2 - std::abs(dy)) * (2 - std::abs(dz));
              sum += weight * v;
              weights += weight;
            }
        result.values[static_cast<std::size_t>((z * g.ny + y) * g.nx + x)] =
            weights > 0 ? static_cast<float>(sum / weights) : std::numeric_limits<float>::quiet_NaN();
      }
  });
  return result;
}

}  // namespace lepus::analysis
