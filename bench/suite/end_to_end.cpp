// SPDX-License-Identifier: Apache-2.0
// The whole FDK: 16-bit counts in memory to a volume in memory (page-locked where a GPU computes). The ball that was
// scanned must have its density.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/suite/known_scan.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "core/format.h"
#include "bench/measure/clock.h"
#include "run/fdk.h"
#include "run/memory_io.h"

namespace lepus::bench {
namespace {

struct FdkCase {
  std::string name, backend;
  Precision precision;
};

// The slowest of what must happen: each is overlapped with the others.
struct Wall {
  double seconds = 0;
  std::string what;
  void may_be(double s, const std::string& name) {
    if (s > seconds) *this = {s, name};
  }
};

// updates: those that hit the detector.
Wall wall_of(const Run& run, const FdkCase& c, double updates, double pixels, double voxels) {
  Wall wall;
  const measure::Limits& l = run.limits;
  if (c.backend == "opencl") return wall;  // its limits are not known
  if (c.backend == "cpu") {
    wall.may_be(updates * 3e-9 / l.multiply_adds, "multiply-adds of the backprojection");
    return wall;
  }
  wall.may_be(pixels * 2e-9 / l.link_up_gb_s, "link up");
  wall.may_be(voxels * 4e-9 / l.link_down_gb_s, "link down");
  // The exact kernel has one view to a texel, fast two, half four.
  const double views = c.precision == Precision::half ? 4 : c.precision == Precision::fast ? 2 : 1;
  wall.may_be(updates * 1e-9 / (views * l.texture_samples), "texture rate");
  return wall;
}

void whole_fdk(Run& run, std::int64_t size, const Run::Views& v, const std::vector<FdkCase>& cases) {
  ThreadPool& threads = run.context.threads;
  const CircularScan scan = c_arm_scan(v.columns, v.rows, v.views);
  const VolumeGrid grid = cube_of_256_mm(size);
  const KnownBall ball;
  // Two counts lie in a float.
  const auto counts_memory = run.host_floats((v.columns * v.rows * v.views + 1) / 2, cases.front().backend);
  auto* counts = reinterpret_cast<std::uint16_t*>(counts_memory.get());
  fill_ball_counts(scan, ball, counts, threads);
  const CountsInMemory frames(scan, counts);
  const auto volume_memory = run.host_floats(grid.voxels(), cases.front().backend);
  float* volume = volume_memory.get();
  const Normalisation normalisation = ball_normalisation(scan);
  const double seen = share_seen(build_scan(scan), grid, threads);
  for (const FdkCase& c : cases) {
    FdkSetup setup;
    setup.geometry = build_scan(scan);
    setup.grid = grid;
    setup.field_of_view_mask = false;
    setup.frames_in_memory = true;
    const Devices devices = open_devices(run.compute_with(c.backend, c.precision), threads);
    Fdk fdk(setup, devices, threads);
    Progress silent;  // the suite's own progress goes on
    Context quiet{threads, run.context.cancel, silent};
    RowAudit audit(frames, {});
    SweepTimes times;
    const auto reconstruct_once = [&] {
      MemoryVolume sink(grid, volume);
      times = fdk.run({&frames, &audit, &normalisation}, sink, quiet);
    };
    std::memset(volume, 0xff, static_cast<std::size_t>(grid.voxels()) * 4);  // NaN: what is not written shows
    reconstruct_once();
    measure::Figure f;
    f.group = format("end to end {}^3", size);
    f.name = c.name;
    f.unit = "GUPS";
    f.error = std::abs(density_found(volume, grid, ball) - 1);
    f.error_limit = suite_density_limit;
    f.error_of = "density of a ball against its truth, relative";
    f.seconds = measure::best_seconds(run.repeats(), reconstruct_once);
    const double voxels = static_cast<double>(grid.voxels()), updates = voxels * static_cast<double>(v.views);
    f.work = updates / updates_in_gups;
    const Wall wall = wall_of(run, c, seen * updates, static_cast<double>(v.columns * v.rows * v.views), voxels);
    if (wall.seconds > 0) f.limit_rate = f.work / wall.seconds;
    f.limit = wall.what;
    f.note = format("{}; filter {:.4f} s, backprojection {:.4f} s; {}", v.text(), times.filter_s, times.backproject_s,
                    seen_text(seen));
    run.add(f);
  }
}

}  // namespace

void bench_fdk(Run& run) {
  const auto measure_all = [&](const std::vector<std::int64_t>& sizes, bool gpu, const std::vector<FdkCase>& cases) {
    for (const std::int64_t size : sizes) {
      Run::Views v = gpu ? run.gpu_views() : run.cpu_views(size);
      if (!gpu) v.views = 128;  // the ball's density needs them
      run.unless_memory_is_short(format("end to end {}^3, {}", size, cases.front().name),
                                 [&] { whole_fdk(run, size, v, cases); });
    }
  };
  if (run.cpu) measure_all(run.cpu_sizes(), false, {{"CPU", "cpu", Precision::exact}});
  for (const MeasuredDevice& d : run.devices)
    measure_all(run.sizes_of(d), d.gpu,
                {{d.spoken + ", half", d.kind, Precision::half},
                 {d.spoken + ", fast", d.kind, Precision::fast},
                 {d.spoken + ", exact", d.kind, Precision::exact}});
}

}  // namespace lepus::bench
