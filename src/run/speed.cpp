// SPDX-License-Identifier: Apache-2.0
#include "run/speed.h"

#include <algorithm>
#include <vector>

#include "core/fastest.h"
#include "core/memory.h"
#include "device/host/row_filter.h"
#include "device/projector.h"

namespace lepus {
namespace {

double updates_per_second(const SweepJob& job, Device& device) {
  VolumeGrid piece = job.grid;  // the middle of the volume, small enough to take a tenth of a second
  const auto keep = [](std::int64_t& n, double& origin, double step, std::int64_t most) {
    const std::int64_t cut = (n - std::min(n, most)) / 2;
    origin += static_cast<double>(cut) * step;
    n -= 2 * cut;
  };
  keep(piece.nx, piece.origin_mm.x, piece.step_mm.x, 128);
  keep(piece.ny, piece.origin_mm.y, piece.step_mm.y, 128);
  keep(piece.nz, piece.origin_mm.z, piece.step_mm.z, 64);
  const ScanGeometry& geometry = *job.wide;
  const auto projector = device.make_projector({.geometry = &geometry,
                                                .grid = piece,
                                                .cylinder_mm = job.cylinder_mm,
                                                .interpolation = job.interpolation,
                                                .views_share_texels = true});
  const std::int64_t views = std::min(geometry.views(), projector->view_block());
  const auto queue = device.make_queue();
  const auto store = projector->make_view_store(views, geometry.rows);
  Buffer<float> view(geometry.columns * geometry.rows);
  std::fill(view.begin(), view.end(), 0.5F);
  const RowBand all{0, geometry.rows};
  for (std::int64_t slot = 0; slot < views; ++slot) {
    store->set_window(slot, all, ViewStore::Keep::nothing);
    store->put(view.data(), 0, slot, 1, all, *queue);
  }
  const auto slab = projector->make_slab_store((piece.nz + slab_alignment - 1) / slab_alignment * slab_alignment);
  slab->begin({0, piece.nz}, *queue);
  const double seconds = fastest_seconds([&] {
    projector->back({store.get(), 0, 0, views}, *slab, {0, piece.nz}, *queue);
  });
  return static_cast<double>(piece.voxels() * views) / seconds * slab_overhead(piece.nz);
}

double filtered_pixels_per_second(const SweepJob& job, ThreadPool& threads) {
  const RampFilter ramp(job.wide->columns, job.ramp);
  const std::int64_t rows = std::min(job.wide->rows, host::rows_at_once), blocks = std::int64_t{2} * threads.size();
  const double seconds = fastest_seconds([&] {
    threads.parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
      Buffer<float> data(rows * ramp.columns()), scratch(ramp.scratch_floats());
      for (std::int64_t block = begin; block < end; ++block) {
        std::fill(data.begin(), data.end(), 0.5F);
        job.weights->apply(block % job.wide->views(), 0, rows, data.data());
        for (std::int64_t row = 0; row < rows; ++row) ramp.apply(data.data() + row * ramp.columns(), scratch.data());
      }
    });
  });
  return static_cast<double>(blocks * rows * job.columns) / seconds;
}

}  // namespace

MachineSpeed measured_speed(const SweepJob& job, Device& device, ThreadPool& threads) {
  MachineSpeed speed;
  speed.updates = updates_per_second(job, device);
  speed.filtered_pixels = filtered_pixels_per_second(job, threads);
  return speed;
}

}  // namespace lepus
