// SPDX-License-Identifier: Apache-2.0
#include "pipeline/speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/memory.h"
#include "pipeline/row_filter.h"

namespace lepus {
namespace {

// Seconds of the faster of two runs: the first one also warms caches and wakes threads.
template <class Work>
double faster_of_two(Work work) {
  double best = 1e30;
  for (int run = 0; run < 2; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return std::max(best, 1e-9);
}

double updates_per_second(const SpeedParts& parts, ThreadPool& threads) {
  VolumeGrid piece = parts.grid;  // the middle of the volume, small enough to take a tenth of a second
  const auto keep = [](std::int64_t& n, double& origin, double step, std::int64_t most) {
    const std::int64_t cut = (n - std::min(n, most)) / 2;
    origin += static_cast<double>(cut) * step;
    n -= 2 * cut;
  };
  keep(piece.nx, piece.origin_mm.x, piece.step_mm.x, 128);
  keep(piece.ny, piece.origin_mm.y, piece.step_mm.y, 128);
  keep(piece.nz, piece.origin_mm.z, piece.step_mm.z, 64);
  const ScanGeometry& geometry = *parts.padded;
  const auto kernel = parts.backend->make_backprojector(geometry, piece, parts.interpolation);
  const std::int64_t views = std::min(geometry.views(), kernel->view_block());
  Buffer<float> view(geometry.columns * geometry.rows);
  std::fill(view.begin(), view.end(), 0.5F);
  BandSet set{0, geometry.rows,
              std::vector<ViewBand>(static_cast<std::size_t>(views), {view.data(), 0, geometry.rows})};
  const std::int64_t stride = (piece.nz + slab_alignment - 1) / slab_alignment * slab_alignment;
  Buffer<float> slab(piece.nx * piece.ny * stride);
  std::fill(slab.begin(), slab.end(), 0.0F);
  const double seconds = faster_of_two([&] { kernel->accumulate(set, {slab.data(), 0, piece.nz, stride}, threads); });
  return static_cast<double>(piece.voxels() * views) / seconds;
}

double filtered_pixels_per_second(const SpeedParts& parts, ThreadPool& threads) {
  const ScanGeometry& geometry = *parts.geometry;
  const std::int64_t rows = std::min(geometry.rows, RowFilter::rows_at_once), blocks = std::int64_t{2} * threads.size();
  const double seconds = faster_of_two([&] {
    threads.parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
      Buffer<float> data(rows * parts.ramp->columns()), scratch(parts.ramp->scratch_floats());
      for (std::int64_t block = begin; block < end; ++block) {
        std::fill(data.begin(), data.end(), 0.5F);
        parts.weights->apply(block % geometry.views(), 0, rows, data.data());
        for (std::int64_t row = 0; row < rows; ++row)
          parts.ramp->apply(data.data() + row * parts.ramp->columns(), scratch.data());
      }
    });
  });
  return static_cast<double>(blocks * rows * geometry.columns) / seconds;
}

}  // namespace

MachineSpeed measured_speed(const SpeedParts& parts, ThreadPool& threads) {
  MachineSpeed speed;
  speed.updates = updates_per_second(parts, threads);
  speed.filtered_pixels = filtered_pixels_per_second(parts, threads);
  return speed;
}

}  // namespace lepus
