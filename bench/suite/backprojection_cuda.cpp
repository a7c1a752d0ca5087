// SPDX-License-Identifier: Apache-2.0
// The GPU's backprojection kernels on synthetic views: views and volume lie in device memory; CUDA events.
#include <algorithm>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "bench/suite/synthetic.h"
#include "bench/suite/synthetic_views.h"
#include "bench/suite/gpu.h"
#include "core/format.h"
#include "bench/measure/device_clock.h"

namespace lepus::bench {
namespace {

struct KernelCase {
  const char* name;
  Orbit orbit;
  Precision precision;
};

constexpr KernelCase kernel_cases[] = {
    {"CUDA circular, half", Orbit::circular, Precision::half},
    {"CUDA circular, fast", Orbit::circular, Precision::fast},
    {"CUDA circular, exact", Orbit::circular, Precision::exact},
    {"CUDA general, half", Orbit::general, Precision::half},
    {"CUDA general, fast", Orbit::general, Precision::fast},
    {"CUDA general, exact", Orbit::general, Precision::exact},
};

void one_kernel(Run& run, std::int64_t size, const KernelCase& c) {
  const Run::Views v = run.gpu_views();
  const VolumeGrid grid = cube_of_256_mm(size);
  const ScanGeometry geometry = build_scan(c_arm_scan(v.columns, v.rows, v.views, c.orbit));
  const cuda::Backprojection kernel(geometry, grid, c.precision);
  const cuda::ViewTextures store = synthetic_store(kernel, geometry);
  const cuda::DeviceBuffer<float> volume(grid.voxels());
  const cuda::Stream stream;
  cuda::check(cudaMemsetAsync(volume.data(), 0, static_cast<std::size_t>(volume.bytes()), stream.get()),
              "clear the volume");
  const auto sum = [&] { kernel.accumulate({&store, 0, 0, v.views}, {volume.data(), 0, size}, stream.get()); };
  sum();
  stream.synchronize();
  const SampleErrors e = errors_of(
      reference_samples(geometry, grid, Interpolation::linear, 2000, run.context.threads), [&](const Sample& s) {
        float value = 0;
        cuda::check(cudaMemcpy(&value, volume.data() + (s.z * grid.ny + s.y) * grid.nx + s.x, sizeof value,
                               cudaMemcpyDeviceToHost),
                    "copy a voxel");
        return value;
      });
  measure::Figure f = backprojection_figure(size, e, c.precision == Precision::exact ? exact_limits : texture_limits);
  f.name = c.name;
  f.seconds = measure::best_device_seconds(run.repeats(), stream, sum);
  f.work = static_cast<double>(grid.voxels() * v.views) / updates_in_gups;
  // A sample serves as many views as a texel holds, and pairs that miss the detector need none.
  const double seen = share_seen(geometry, grid, run.context.threads);
  f.limit_rate = run.limits.texture_samples * 1e9 / updates_in_gups * static_cast<double>(kernel.view_block()) / seen;
  f.limit = kernel.view_block() == 1 ? "texture rate" : format("texture rate x {} views", kernel.view_block());
  f.note = format("{}; {}; {}", v.text(), kernel.description(), seen_text(seen));
  run.add(f);
}

void all_kernels(Run& run) {
  cuda::use_device(run.options.device);
  for (const std::int64_t size : run.gpu_sizes())
    for (const KernelCase& c : kernel_cases)
      run.unless_memory_is_short(format("backprojection {}^3, {}", size, c.name), [&] { one_kernel(run, size, c); });
}

}  // namespace

GpuSuite cuda_backprojection() { return {"backprojection", all_kernels}; }

}  // namespace lepus::bench
