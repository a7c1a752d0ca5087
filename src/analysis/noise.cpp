// SPDX-License-Identifier: Apache-2.0
#include "analysis/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "analysis/noise_spectrum.h"
#include "analysis/value_slices.h"
#include "analysis/value_sums.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus::analysis {
namespace {

constexpr std::int64_t smallest_edge = 8, largest_edge = 64;
constexpr std::int64_t maximum_blocks_along =
    8;  // more make the curve no smoother to the eye, however large the region

VoxelBox voxels_in(const std::array<double, 6>& box_mm, const VolumeGrid& grid) {
  const std::array<double, 3> origin{grid.origin_mm.x, grid.origin_mm.y, grid.origin_mm.z},
      step{grid.step_mm.x, grid.step_mm.y, grid.step_mm.z};
  const std::array<std::int64_t, 3> n{grid.nx, grid.ny, grid.nz};
  VoxelBox box;
  for (std::size_t i = 0; i < 3; ++i) {
    double a = (box_mm[2 * i] - origin[i]) / step[i], b = (box_mm[2 * i + 1] - origin[i]) / step[i];
    if (a > b) std::swap(a, b);
    const double last = static_cast<double>(n[i]) - 1;
    box.first[i] = static_cast<std::int64_t>(std::ceil(std::clamp(a - 1e-9, 0.0, last + 1)));
    box.last[i] = static_cast<std::int64_t>(std::floor(std::clamp(b + 1e-9, -1.0, last))) + 1;
    if (box.edge(i) < smallest_edge)
      throw Error(ErrorKind::input, {.what = "the region is too small for a spectrum of its noise",
                                     .where = "option --noise-box",
                                     .why = format("it holds {} voxels along {}, {} are needed",
                                                   std::max<std::int64_t>(0, box.edge(i)), "xyz"[i], smallest_edge),
                                     .hint = "give a larger box, in millimetres, within the volume"});
  }
  return box;
}

// Sums of the values in cubes of `edge` voxels that fill the volume from its first voxel on.
struct CellSums {
  std::int64_t edge, nx, ny, nz;
  std::vector<ValueSums> sums;
  ValueSums& at(std::int64_t x, std::int64_t y, std::int64_t z) {
    return sums[static_cast<std::size_t>((z * ny + y) * nx + x)];
  }
};

CellSums sum_cells(const VolumeReader& volume, const BitVolume& inside, const ValueScale& scale, std::int64_t edge,
                   WorkMemory& memory, Context& context) {
  const VolumeSize& size = inside.size();
  CellSums cells{edge, size.nx / edge, size.ny / edge, size.nz / edge, {}};
  const std::int64_t layer = cells.nx * cells.ny;
  const int workers = context.threads.size();
  const WorkMemory::Share share =
      memory.take((layer * cells.nz + layer * workers) * static_cast<std::int64_t>(sizeof(ValueSums)),
                  "the search for a flat region", "give it with --noise-box");
  cells.sums.resize(static_cast<std::size_t>(layer * cells.nz));
  std::vector<std::vector<ValueSums>> own(static_cast<std::size_t>(workers),
                                          std::vector<ValueSums>(static_cast<std::size_t>(layer)));
  WorkerSlices words(inside, workers);
  std::mutex mutex;
  each_value_slice(volume, "noise", memory, context, [&](std::int64_t z, const float* values, int worker) {
    if (z / edge >= cells.nz) return;
    auto& here = own[static_cast<std::size_t>(worker)];
    std::fill(here.begin(), here.end(), ValueSums{});
    const Word* const bits = inside.slice(z, words[worker]);
    for (std::int64_t y = 0; y < cells.ny * edge; ++y)
      each_run(bits + y * inside.row_words(), inside.row_words(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t x = first; x < std::min(last, cells.nx * edge); ++x)
          here[static_cast<std::size_t>(y / edge * cells.nx + x / edge)].add(scale.level(values[y * size.nx + x]));
      });
    const std::lock_guard lock(mutex);
    for (std::int64_t i = 0; i < layer; ++i)
      cells.sums[static_cast<std::size_t>(z / edge * layer + i)].add(here[static_cast<std::size_t>(i)]);
  });
  return cells;
}

// Where blocks of `edge` begin on [first, last): half an edge apart, or further where that makes too many.
std::vector<std::int64_t> block_starts(std::int64_t first, std::int64_t last, std::int64_t edge) {
  const std::int64_t free = last - first - edge;
  const std::int64_t count = std::min(maximum_blocks_along, free / std::max<std::int64_t>(1, edge / 2) + 1);
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < count; ++i) starts.push_back(first + (count > 1 ? i * free / (count - 1) : free / 2));
  return starts;
}

// visit(value, worker) for every voxel of a box.
template <class Visit>
void each_in_box(const VolumeReader& volume, const VoxelBox& box, WorkMemory& memory, Context& context,
                 const Visit& visit) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t slice = grid.nx * grid.ny;
  const int workers = context.threads.size();
  const WorkMemory::Share share = memory.take(12 * slice * workers, "a slice for each thread", "use fewer --threads");
  Buffer<float> slices(slice * workers);
  context.threads.parallel_for(box.first[2], box.last[2], 1, [&](std::int64_t z, std::int64_t, int worker) {
    float* const values = slices.data() + slice * worker;
    volume.read(z, z + 1, values);
    for (std::int64_t y = box.first[1]; y < box.last[1]; ++y)
      for (std::int64_t x = box.first[0]; x < box.last[0]; ++x) {
        const float v = values[y * grid.nx + x];
        if (!std::isfinite(v))
          throw Error(ErrorKind::input, {.what = "the region for the noise holds voxels that are not finite",
                                         .where = "option --noise-box",
                                         .why = format("voxel ({}, {}, {}) is {}", x, y, z, v),
                                         .hint = "choose another box"});
        visit(v, worker);
      }
  });
}

// Mean and spread of a box, by sums of integers.
void measure_box(const VolumeReader& volume, Survey looked, NoiseResult& result, WorkMemory& memory, Context& context) {
  const int workers = context.threads.size();
  if (!result.found && !looked.is_whole()) {
    RangeFinder range(workers);
    each_in_box(volume, result.box, memory, context, [&](float v, int worker) { range.add(v, worker); });
    looked = range.widened(looked);
  }
  const ValueScale scale(looked);
  std::vector<ValueSums> sums(static_cast<std::size_t>(workers));
  each_in_box(volume, result.box, memory, context,
              [&](float v, int worker) { sums[static_cast<std::size_t>(worker)].add(scale.level(v)); });
  for (std::size_t w = 1; w < sums.size(); ++w) sums[0].add(sums[w]);
  result.mean = sums[0].mean(scale);
  result.spread = sums[0].spread(scale);
}

// The mean of the bins above the threshold less that of the others.
double class_contrast(const Histogram& h, double threshold) {
  std::array<double, 2> weight{}, sum{};
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    const std::size_t side = h.centre(i) > threshold ? 1 : 0;
    weight[side] += static_cast<double>(h.counts[i]);
    sum[side] += static_cast<double>(h.counts[i]) * h.centre(i);
  }
  return sum[1] / weight[1] - sum[0] / weight[0];
}

}  // namespace

VoxelBox find_flat_cube(const VolumeReader& volume, const BitVolume& inside, const Survey& looked, double bright_above,
                        WorkMemory& memory, Context& context) {
  const VolumeSize& size = inside.size();
  const std::int64_t shortest = std::min({size.nx, size.ny, size.nz});
  const std::int64_t half = std::clamp(shortest / 4, smallest_edge, largest_edge) / 2;
  const ValueScale scale(looked);
  CellSums cells = sum_cells(volume, inside, scale, half, memory, context);
  const std::int64_t whole = 8 * half * half * half;
  // Bright ones before others, then the flattest, then the first.
  double best = std::numeric_limits<double>::infinity();
  bool best_bright = false;
  std::array<std::int64_t, 3> at{-1, -1, -1};
  for (std::int64_t z = 0; z + 1 < cells.nz; ++z)
    for (std::int64_t y = 0; y + 1 < cells.ny; ++y)
      for (std::int64_t x = 0; x + 1 < cells.nx; ++x) {
        ValueSums sum;
        for (std::int64_t k = 0; k < 8; ++k) sum.add(cells.at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)));
        if (sum.count() < whole) continue;
        const bool bright = sum.mean(scale) > bright_above;
        const double spread = sum.spread(scale);
        if (bright < best_bright || (bright == best_bright && spread >= best)) continue;
        best = spread;
        best_bright = bright;
        at = {x, y, z};
      }
  if (at[0] < 0)
    throw Error(ErrorKind::input, {.what = "no cube for measuring the noise lies inside the region",
                                   .where = "noise",
                                   .why = format("cubes of {} voxels were looked for in {} x {} x {}", 2 * half,
                                                 size.nx, size.ny, size.nz),
                                   .hint = "give one with --noise-box x0,x1,y0,y1,z0,z1, in millimetres"});
  VoxelBox box;
  for (std::size_t i = 0; i < 3; ++i) {
    box.first[i] = at[i] * half;
    box.last[i] = (at[i] + 2) * half;
  }
  return box;
}

NoiseResult measure_noise(const VolumeReader& volume, const NoiseOptions& options, const BitVolume& inside,
                          const Survey& looked, const Histogram& histogram, WorkMemory& memory, Context& context) {
  NoiseResult result;
  const double threshold = otsu_threshold(histogram);
  result.contrast = class_contrast(histogram, threshold);
  result.found = !options.box_mm;
  result.box = options.box_mm ? voxels_in(*options.box_mm, volume.grid())
                              : find_flat_cube(volume, inside, looked, threshold, memory, context);
  measure_box(volume, looked, result, memory, context);
  const VoxelBox& box = result.box;
  result.edge = std::min({box.edge(0), box.edge(1), box.edge(2), largest_edge});
  std::array<std::vector<std::int64_t>, 3> starts;
  for (std::size_t i = 0; i < 3; ++i) starts[i] = block_starts(box.first[i], box.last[i], result.edge);
  NoiseSpectrum spectrum(result.edge, volume.grid().step_mm);
  spectrum.add(volume, starts, memory, context);
  result.blocks = spectrum.blocks();
  result.per_mm = spectrum.per_mm();
  result.power_mm3 = spectrum.power_mm3();
  return result;
}

}  // namespace lepus::analysis
