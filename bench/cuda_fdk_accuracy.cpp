// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/threads.h"
#include "cuda_fdk.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/project.h"
#include <lepus/reconstruct.h>

namespace lepus::bench {
namespace {

constexpr double water = 0.02;  // 1/mm: 0 HU; air is -1000 HU

std::vector<float> shepp_logan_lines(const ScanGeometry& geometry, ThreadPool& threads) {
  const Phantom phantom = shepp_logan(SheppLogan::modified, 90, water);
  const PhantomProjector projector(phantom, geometry, {});
  const std::int64_t pixels = geometry.columns * geometry.rows;
  std::vector<float> lines(static_cast<std::size_t>(pixels * geometry.views()));
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    projector.project(view, lines.data() + view * pixels, threads);
  return lines;
}

std::vector<float> volume_of(const ScanGeometry& geometry, const std::vector<float>& lines, const VolumeGrid& grid,
                             const std::string& backend, Precision precision) {
  std::vector<float> volume(static_cast<std::size_t>(grid.voxels()));
  FdkOptions options;
  options.compute.backend = backend;
  options.compute.precision = precision;
  fdk(geometry, lines, grid, volume, options);
  return volume;
}

// 16 slices about the middle of a 512^3 grid, so that the plain double-precision sum takes seconds.
int against_double(nlohmann::json& rows) {
  ThreadPool threads;
  int missed = 0;
  for (const bool irregular : {false, true}) {
    CircularScan scan = common_scan(1248, 960, 496, 0.32);
    if (irregular) scan.in_plane_rad = 0.002;
    const ScanGeometry geometry = build_scan(scan);
    const std::vector<float> lines = shepp_logan_lines(geometry, threads);
    const VolumeGrid grid = centred_grid(512, 512, 16, {0.5, 0.5, 0.5});
    const std::vector<float> truth = volume_of(geometry, lines, grid, "reference", Precision::exact);
    struct Row {
      const char* name;
      Precision precision;
      double bar;
    };
    for (const Row row :
         {Row{"exact", Precision::exact, 0.01}, Row{"fast", Precision::fast, 0.3}, Row{"half", Precision::half, 0.4}}) {
      const std::vector<float> volume = volume_of(geometry, lines, grid, "cuda", row.precision);
      double sum = 0, largest = 0;
      for (std::size_t i = 0; i < volume.size(); ++i) {
        const double d = (static_cast<double>(volume[i]) - static_cast<double>(truth[i])) * 1000 / water;
        sum += d * d;
        largest = std::max(largest, std::abs(d));
      }
      const double rms = std::sqrt(sum / static_cast<double>(volume.size()));
      const bool good = rms <= row.bar;
      missed += !good;
      std::printf("error of %-5s against double precision, %s: %.4f HU rms, %.3f HU at most (bar %.2f)%s\n", row.name,
                  irregular ? "general matrices" : "circular orbit", rms, largest, row.bar, good ? "" : "  MISSED");
      rows.push_back({{"what", format("error of {} against double precision", row.name)},
                      {"orbit", irregular ? "general" : "circular"},
                      {"rms_hu", rms},
                      {"largest_hu", largest},
                      {"bar_hu", row.bar}});
    }
  }
  return missed;
}

int against_the_cpu(nlohmann::json& rows) {
  ThreadPool threads;
  struct Row {
    std::int64_t nx, ny, nz, views;
    double bar;
  };
  int missed = 0;
  for (const Row row : {Row{128, 124, 120, 246, 3e-5}, Row{512, 496, 480, 984, 1e-4}}) {
    const ScanGeometry geometry = build_scan(common_scan(888, 800, row.views, 0.42));
    const std::vector<float> lines = shepp_logan_lines(geometry, threads);
    const double voxel = 220.0 / static_cast<double>(row.nx);
    const VolumeGrid grid = centred_grid(row.nx, row.ny, row.nz, {voxel, voxel, voxel});
    const std::vector<float> cpu = volume_of(geometry, lines, grid, "cpu", Precision::exact);
    const std::vector<float> gpu = volume_of(geometry, lines, grid, "cuda", Precision::exact);
    double largest = 0, peak = 0;
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      const double d = std::abs(static_cast<double>(cpu[i]) - static_cast<double>(gpu[i]));
      if (!(d <= largest)) largest = d;
      peak = std::max(peak, std::abs(static_cast<double>(cpu[i])));
    }
    const bool good = largest / peak <= row.bar;
    missed += !good;
    std::printf(
        "CPU against CUDA, exact, %lldx%lldx%lld from %lld views: %.5f %% of the largest value (bar %.3f %%)%s\n",
        static_cast<long long>(row.nx), static_cast<long long>(row.ny), static_cast<long long>(row.nz),
        static_cast<long long>(row.views), 100 * largest / peak, 100 * row.bar, good ? "" : "  MISSED");
    rows.push_back(
        {{"what", "CPU exact against CUDA exact"}, {"nx", row.nx}, {"largest", largest / peak}, {"bar", row.bar}});
  }
  return missed;
}

}  // namespace

int accuracy_rows(nlohmann::json& rows) { return against_double(rows) + against_the_cpu(rows) > 0 ? 1 : 0; }

}  // namespace lepus::bench
