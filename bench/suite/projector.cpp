// SPDX-License-Identifier: Apache-2.0
// The forward projector: a ball of voxels to line integrals, memory to memory; on a GPU also A and A' of arrays that
// lie there. A is held against its own definition in double precision (a few views), A' against A: <A x, A x> is <x, A'
// A x>.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "device/device.h"
#include "device/ray_projector.h"
#include "device/vector_kernels.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "bench/suite/samples.h"
#include "core/format.h"
#include "bench/measure/clock.h"
#include <lepus/operator.h>

namespace lepus::bench {
namespace {

// Smooth with edges: every plane of voxels differs, and rays that leave the grid show.
void fill_synthetic_volume(const VolumeGrid& grid, float* volume, ThreadPool& threads) {
  threads.parallel_for(0, grid.nz, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t z = first; z < last; ++z)
      for (std::int64_t y = 0; y < grid.ny; ++y)
        for (std::int64_t x = 0; x < grid.nx; ++x) {
          const Vec3 p = grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
          const float wave_of =
              synthetic_pixel(static_cast<unsigned>(z), static_cast<unsigned>(x), static_cast<unsigned>(y));
          volume[(z * grid.ny + y) * grid.nx + x] = norm(p) < 100 ? 0.02f + 0.002f * wave_of : 0.0f;
        }
  });
}

double rms_over_peak(const float* got, const float* expected, std::int64_t n) {
  double squares = 0, peak = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double d = static_cast<double>(got[i]) - static_cast<double>(expected[i]);
    squares += d * d;
    peak = std::max(peak, std::abs(static_cast<double>(expected[i])));
  }
  return peak > 0 ? std::sqrt(squares / static_cast<double>(n)) / peak : std::numeric_limits<double>::infinity();
}

// Three times the largest that was measured. Single-precision weights: 6e-8 to 1.1e-7 on a CPU, 8e-8 to 1.5e-7 on a
// GPU. The texture unit's weights of 8 bits: 2.2e-5 at 128^3, 5.6e-6 at 512^3, where a ray averages over more samples.
constexpr double single_limit = 5e-7, texture_weights_limit = 7e-5;

struct ProjectorCase {
  std::string name;
  Compute options;
  double error_limit;
};

// A and A' in the device's own memory, by its own clock.
void project_on_device(Run& run, const ScanGeometry& geometry, const VolumeGrid& grid, const float* volume,
                       const ProjectorCase& c, measure::Figure f, const std::function<double(const float*)>& error_of) {
  const Devices devices = open_devices(c.options, run.context.threads);
  Device& device = *devices.front();
  const auto queue = device.make_queue();
  const auto projector = device.make_ray_projector({&geometry, grid, RayModel::joseph, c.options.precision});
  const std::int64_t voxels = grid.voxels(), values = geometry.views() * geometry.rows * geometry.columns;
  const Block memory[3] = {device.allocate(4 * voxels), device.allocate(4 * voxels), device.allocate(4 * values)};
  const auto floats = [&](int which) { return reinterpret_cast<float*>(memory[which].get()); };
  float *const x = floats(0), *const back = floats(1), *const lines = floats(2);
  device.copy(x, volume, 4 * voxels, *queue);
  const auto best = [&](const std::function<void()>& work) {
    const auto from = device.make_event(Timing::on), to = device.make_event(Timing::on);
    double seconds = 0;
    for (int i = 0; i <= std::max(1, run.repeats() / 2); ++i) {
      from->mark(*queue);
      work();
      to->mark(*queue);
      to->wait();
      const double taken = to->seconds_since(*from);
      if (i == 1 || (i > 1 && taken < seconds)) seconds = taken;  // the first run allocates
    }
    return seconds;
  };
  const RowBand rows{0, geometry.rows};
  const SlabRange slices{0, grid.nz};
  f.name = c.name + ", A in device memory";
  f.seconds = best([&] { projector->forward({x, slices}, {lines, 0, geometry.views(), rows}, *queue); });
  f.error = error_of(lines);
  f.note = projector->description();
  run.add(f);
  f.name = c.name + ", A' in device memory";
  f.seconds = best([&] {
    device.clear(back, 4 * voxels, *queue);
    projector->adjoint({lines, 0, geometry.views(), rows}, {back, slices}, *queue);
  });
  VectorKernels& kernels = device.vector_kernels();
  const double forward = kernels.dot(lines, lines, values, *queue), adjoint = kernels.dot(x, back, voxels, *queue);
  f.error = std::abs(forward - adjoint) / forward;
  f.error_limit = c.options.precision == Precision::exact ? 1e-6 : 1e-3;
  f.error_of = "<A x, A x> less <x, A' A x>, over the first";
  run.add(f);
}

void project(Run& run, std::int64_t size, const Run::Views& v, const std::vector<ProjectorCase>& cases) {
  ThreadPool& threads = run.context.threads;
  const VolumeGrid grid = cube_of_256_mm(size);
  const CircularScan scan = c_arm_scan(v.columns, v.rows, v.views);
  const ScanGeometry geometry = build_scan(scan);
  const std::int64_t view_pixels = v.columns * v.rows;
  const std::string& kind = cases.front().options.backend;
  const auto volume_memory = run.host_floats(grid.voxels(), kind);
  float* volume = volume_memory.get();
  fill_synthetic_volume(grid, volume, threads);
  const auto lines_memory = run.host_floats(v.views * view_pixels, kind);
  float* lines = lines_memory.get();
  // The definition, for two views at angles that run along different axes.
  const std::vector<std::int64_t> checked{v.views / 16, v.views * 5 / 16};
  std::vector<float> expected(static_cast<std::size_t>(view_pixels) * checked.size());
  CircularScan few = scan;
  few.angles_rad.clear();
  for (const std::int64_t view : checked) few.angles_rad.push_back(scan.angles_rad[static_cast<std::size_t>(view)]);
  Operator(build_scan(few), grid, {.compute = {.backend = "reference", .threads = threads.size()}})
      .forward({volume, static_cast<std::size_t>(grid.voxels())}, expected);
  const double samples = joseph_samples(geometry, grid);
  for (const ProjectorCase& c : cases) {
    const Devices devices = open_devices(c.options, threads);
    const auto queue = devices.front()->make_queue();
    const auto bring = [&](const float* from, std::vector<float>& to) {
      devices.front()->copy(to.data(), from, static_cast<std::int64_t>(to.size() * sizeof(float)), *queue);
      queue->wait();
    };
    Compute options = c.options;
    options.threads = threads.size();
    const Operator a(geometry, grid, {.compute = options});
    const auto forward = [&] {
      a.forward({volume, static_cast<std::size_t>(grid.voxels())},
                {lines, static_cast<std::size_t>(v.views * view_pixels)});
    };
    forward();
    const auto error_of = [&](const float* found) {  // wherever it lies
      std::vector<float> view(static_cast<std::size_t>(view_pixels));
      double error = 0;
      for (std::size_t i = 0; i < checked.size(); ++i) {
        bring(found + checked[i] * view_pixels, view);
        error = measure::worse_error(error, rms_over_peak(view.data(), expected.data() + i * view.size(), view_pixels));
      }
      return error;
    };
    measure::Figure f;
    f.error = error_of(lines);
    f.group = format("projector {}^3", size);
    f.name = c.name;
    f.unit = "Gsample/s";
    f.error_limit = c.error_limit;
    f.error_of = "rms against Joseph's sum in double precision, over the largest value";
    f.seconds = measure::best_seconds(std::max(1, run.repeats() / 2), forward);
    f.work = 1e-9 * samples;
    // Per sample three blends and the sum.
    if (kind == "cuda") f.limit_rate = run.limits.texture_samples, f.limit = "texture rate";
    if (kind == "cpu") f.limit_rate = run.limits.multiply_adds / 4, f.limit = "multiply-adds of the formula";
    f.note =
        format("{}; {}; {:.1f} ms per view", v.text(), a.description(), 1e3 * f.seconds / static_cast<double>(v.views));
    run.add(f);
    if (kind != "cpu") project_on_device(run, geometry, grid, volume, c, f, error_of);
  }
}

}  // namespace

void bench_projector(Run& run) {
  const std::int64_t small = run.options.quick ? 64 : 256;
  Run::Views few = run.cpu_views(small);
  few.views = run.options.quick ? 16 : 32;
  if (run.cpu) project(run, small, few, {{"CPU", {.backend = "cpu"}, single_limit}});
  for (const MeasuredDevice& d : run.devices) {
    const std::int64_t size = d.gpu ? (run.options.quick ? 128 : 512) : small;
    const Run::Views v = d.gpu ? run.gpu_views() : few;
    run.unless_memory_is_short(format("projector {}^3 by {}", size, d.spoken), [&] {
      project(run, size, v,
              {{d.spoken + ", exact", run.compute_with(d.kind, Precision::exact), single_limit},
               {d.spoken + ", fast", run.compute_with(d.kind, Precision::fast), texture_weights_limit}});
    });
  }
}

}  // namespace lepus::bench
