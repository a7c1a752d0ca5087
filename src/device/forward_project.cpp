// SPDX-License-Identifier: Apache-2.0
#include "device/forward_project.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "device/device.h"
#include "device/forward_project_job.h"
#include "project/ray_views.h"

namespace lepus {
namespace {

// Counted on some thousand rays spread over all views.
double about_how_many_samples(const ForwardJob& job) {
  constexpr std::int64_t rays_asked = 20000;
  const auto views = static_cast<std::int64_t>(job.views.size());
  const std::int64_t rays = views * job.pixels(), step = std::max<std::int64_t>(1, rays / rays_asked) | 1;
  double samples = 0, counted = 0;
  for (std::int64_t ray = 0; ray < rays; ray += step, ++counted) {
    const std::int64_t pixel = ray % job.pixels();
    const JosephLine line =
        joseph_line(job.views[static_cast<std::size_t>(ray / job.pixels())], job.grid,
                    static_cast<double>(pixel % job.columns), static_cast<double>(pixel / job.columns));
    samples += line.last - line.first;
  }
  return counted > 0 ? samples / counted * static_cast<double>(rays) : 0;
}

}  // namespace

std::vector<ForwardSlab> forward_slabs(const JosephGrid& grid, std::int64_t most_slices) {
  const int nz = grid.size[2];
  // A slab shares its last slice with the next one.
  const std::int64_t most = std::max<std::int64_t>(most_slices, 2);
  const std::int64_t count = nz <= most ? 1 : (nz - 1 + most - 2) / (most - 1);
  std::vector<ForwardSlab> slabs;
  slabs.reserve(static_cast<std::size_t>(count));
  for (std::int64_t s = 0; s < count; ++s) {
    ForwardSlab slab;
    slab.first = static_cast<int>((nz - 1) * s / count);
    slab.last = static_cast<int>((nz - 1) * (s + 1) / count) + 1;
    slab.cell0 = s == 0 ? -1 : slab.first;  // samples fade over the cell before the first slice
    slab.cell1 = s == count - 1 ? nz : slab.last - 1;
    slabs.push_back(slab);
  }
  return slabs;
}

// Directions are affine in (u, v): their ranges are found at the corners.
std::vector<int> axes_of(const ForwardJob& job) {
  bool used[3] = {false, false, false};
  for (const JosephView& view : job.views) {
    double least[3], most[3];
    for (int k = 0; k < 3; ++k) {
      double low = 1e300, high = -1e300;
      for (int corner = 0; corner < 4; ++corner) {
        const double d = view.direction[k][0] +
                         (corner % 2 ? static_cast<double>(job.columns - 1) : 0) * view.direction[k][1] +
                         (corner / 2 ? static_cast<double>(job.rows - 1) : 0) * view.direction[k][2];
        low = std::min(low, d);
        high = std::max(high, d);
      }
      least[k] = low <= 0 && high >= 0 ? 0 : std::min(std::abs(low), std::abs(high));
      most[k] = std::max(std::abs(low), std::abs(high));
    }
    constexpr double rounding = 1 + 1e-6;
    for (int k = 0; k < 3; ++k)
      used[k] = used[k] || most[k] * rounding >= std::max(least[(k + 1) % 3], least[(k + 2) % 3]);
  }
  std::vector<int> axes;
  for (int k = 0; k < 3; ++k)
    if (used[k]) axes.push_back(k);
  return axes;
}

ForwardJob forward_job(const ScanGeometry& geometry, const VolumeGrid& grid, const float* volume,
                       float* line_integrals) {
  ForwardJob job;
  job.grid = joseph_grid(grid);
  job.columns = geometry.columns;
  job.rows = geometry.rows;
  job.volume = volume;
  job.line_integrals = line_integrals;
  job.views = joseph_views(geometry, grid);
  return job;
}

ForwardReport forward_project(const ScanGeometry& geometry, const VolumeGrid& grid, const float* volume,
                              float* line_integrals, const Compute& compute, ThreadPool& threads) {
  const ForwardJob job = forward_job(geometry, grid, volume, line_integrals);
  const Devices devices = open_devices(compute, threads);
  ForwardReport report;
  const auto start = std::chrono::steady_clock::now();
  devices.front()->forward_project(job, devices, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.samples = about_how_many_samples(job);
  return report;
}

}  // namespace lepus
