// SPDX-License-Identifier: Apache-2.0
#include "run/speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/memory.h"
#include "run/row_filter.h"

namespace lepus {
namespace {

// Seconds of the fastest run: the first one also warms caches and wakes threads, and short ones are disturbed by
// whatever else the machine does, so that they are repeated for a twentieth of a second.
template <class Work>
double fastest(Work work) {
  double best = 1e30, all = 0;
  for (int run = 0; run < 2 || all < 0.05; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    all += std::max(seconds, 1e-6);
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
  const double seconds = fastest([&] { kernel->accumulate(set, {slab.data(), 0, piece.nz, stride}, threads); });
  return static_cast<double>(piece.voxels() * views) / seconds * slab_overhead(piece.nz);
}

double filtered_pixels_per_second(const SpeedParts& parts, ThreadPool& threads) {
  const ScanGeometry& geometry = *parts.geometry;
  const std::int64_t rows = std::min(geometry.rows, RowFilter::rows_at_once), blocks = std::int64_t{2} * threads.size();
  const double seconds = fastest([&] {
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
