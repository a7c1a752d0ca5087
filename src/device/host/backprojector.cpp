// SPDX-License-Identifier: Apache-2.0
#include "device/host/backprojector.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <thread>

#include "device/host/kernel.h"
#include "device/host/work.h"
#include "device/host/wedge.h"
#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

std::atomic<const char*> last_target{""};

std::string spoken(const std::string& target) {
  if (target == "AVX3") return "AVX-512";
  if (target == "EMU128" || target == "SCALAR") return "no SIMD";
  return target;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "CPU";
}

class CpuBackprojector : public Backprojector {
public:
  CpuBackprojector(const cpu::Kernels& kernels, const ScanGeometry& geometry, const VolumeGrid& grid,
                   Interpolation interpolation, double cylinder_mm, bool weighted)
      : kernels_(kernels), orbit_(examine_orbit(geometry, grid)) {
    job_.weighted = weighted;
    job_.beam = geometry.beam;
    job_.interpolation = interpolation;
    job_.columns = geometry.columns;
    job_.rows = geometry.rows;
    job_.grid = grid;
    job_.orbit = &orbit_;
    job_.group = interpolation == Interpolation::cubic && orbit_.group == 2 ? 1 : orbit_.group;
    job_.tile = cpu::largest_tile;
    // Voxel columns that stand for their turned ones: a quarter or half of the grid.
    const std::int64_t x = job_.group == 4 ? (grid.nx + 1) / 2 : grid.nx;
    const std::int64_t y = job_.group == 1 ? grid.ny : (grid.ny + 1) / 2;
    tiles_ = cpu::tiles_in_cylinder(grid, {x, y}, cylinder_mm);
    job_.tiles = &tiles_;
  }
  CpuBackprojector(const CpuBackprojector&) = delete;
  CpuBackprojector& operator=(const CpuBackprojector&) = delete;

  std::string description() const override {
    const std::string orbit = !orbit_.upright   ? "general matrices"
                              : job_.group == 1 ? "upright orbit"
                                                : format("upright orbit, {} symmetric views", job_.group);
    return orbit + ", " + spoken(kernels_.target());
  }
  const std::vector<std::int64_t>& view_order() const override { return orbit_.order; }
  std::int64_t view_block() const override { return cpu::block_of_views; }

  void accumulate(const BandSet& wedge, const SlabView& slab, ThreadPool& threads) const override {
    check_wedge(*this, job_.grid, wedge, slab);
    if (slab.z0 == slab.z1 || wedge.bands.empty() || tiles_.empty()) return;
    cpu::Job job = job_;
    job.wedge = &wedge;
    job.slab = slab;
    job.first_chunk = slab.z0 / cpu::chunk;
    job.chunks = (slab.z1 + cpu::chunk - 1) / cpu::chunk - job.first_chunk;
    std::vector<cpu::Scratch> scratch(static_cast<std::size_t>(threads.size()));
    const cpu::Kernel& kernel = orbit_.upright ? kernels_.upright(job.interpolation) : kernels_.general;
    threads.parallel_for(0, job.tasks(), 1, [&](std::int64_t first, std::int64_t last, int worker) {
      auto& own = scratch[static_cast<std::size_t>(worker)];
      if (own.sums.size() == 0) own.sums = Buffer<float>(job.tile * job.tile * cpu::chunk * job.group);
      kernel.run(job, first, last, own);
    });
  }

private:
  cpu::Kernels kernels_;
  Orbit orbit_;
  std::vector<ColumnIndex> tiles_;
  cpu::Job job_;
};

cpu::Kernels kernels_for(const std::string& target) {
  if (target.empty()) return cpu::best_kernels();
  for (const auto& kernels : cpu::all_kernels())
    if (kernels.target() == target) return kernels;
  std::string known;
  for (const auto& name : cpu_targets()) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::usage, {.what = format("SIMD target '{}' does not run here", target),
                                 .where = {},
                                 .why = "this machine and build have " + known,
                                 .hint = {}});
}

}  // namespace

void cpu::note_target(const char* target) { last_target.store(target); }
std::string last_cpu_target() { return last_target.load(); }

std::vector<std::string> cpu_targets() {
  std::vector<std::string> names;
  for (const auto& kernels : cpu::all_kernels()) names.emplace_back(kernels.target());
  return names;
}

std::string describe_cpu(const std::string& target) {
  return format("{}, {}, {} hardware threads", processor_name(), spoken(kernels_for(target).target()),
                std::max(1u, std::thread::hardware_concurrency()));
}

std::unique_ptr<Backprojector> make_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid,
                                                  Interpolation interpolation, const std::string& target,
                                                  double cylinder_mm) {
  return std::make_unique<CpuBackprojector>(kernels_for(target), geometry, grid, interpolation, cylinder_mm, true);
}

std::unique_ptr<Backprojector> make_unweighted_backprojector(const ScanGeometry& geometry, const VolumeGrid& grid) {
  return std::make_unique<CpuBackprojector>(cpu::best_kernels(), geometry, grid, Interpolation::linear,
                                            std::numeric_limits<double>::infinity(), false);
}

}  // namespace lepus
