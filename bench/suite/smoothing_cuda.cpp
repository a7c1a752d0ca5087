// SPDX-License-Identifier: Apache-2.0
// The smoothing filters on data that lies on the device; CUDA events. The first and the last sinogram are held against
// the CPU's.
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "bench/suite/gpu.h"
#include "bench/suite/smoothing.h"
#include "core/format.h"
#include "correct/workspace.h"
#include "bench/measure/device_clock.h"

namespace lepus::bench {
namespace {

void smooth_on_gpu(Run& run) {
  cuda::use_device(run.options.device);
  const std::int64_t sinograms = run.options.quick ? 8 : 450, pixels = sinogram_columns * sinogram_views;
  const auto bytes = static_cast<std::size_t>(pixels) * sizeof(float);
  const cuda::Stream stream;
  cuda::Workspace workspace(stream.get());
  const cuda::DeviceBuffer<float> in(sinograms * pixels), out(sinograms * pixels);
  NoisyPictures picture(sinogram_columns, sinogram_views), expected = picture, got = picture;
  for (std::int64_t i = 0; i < sinograms; ++i)
    cuda::copy_to_device(in.data() + i * pixels, picture.values.data(), bytes, "send sinograms to the device");
  Planes from{in.data(), sinogram_columns, sinogram_views, sinogram_columns, sinograms, pixels}, to = from;
  to.data = out.data();
  for (const SmoothingCase& c : smoothing_cases) {
    const FilterOptions options = smoothing_options(c);
    const auto filter_all = [&] { cuda::filter(from, to, options, workspace); };
    filter_all();
    stream.synchronize();
    filter(picture.planes(), expected.planes(), options, run.context.threads);
    measure::Figure f = smoothing_figure(c, sinograms);
    for (const std::int64_t i : {std::int64_t{0}, sinograms - 1}) {
      cuda::check(cudaMemcpy(got.values.data(), out.data() + i * pixels, bytes, cudaMemcpyDeviceToHost),
                  "download a sinogram");
      f.error = std::max(f.error, largest_difference(got.values, expected.values));
    }
    f.name = std::string("CUDA ") + c.name;
    f.error_of = "largest difference from the CPU's";
    f.seconds = measure::best_device_seconds(run.repeats(), stream, filter_all);
    f.limit_rate = run.limits.device_copy_gb_s / 8;
    f.limit = "device copy";
    f.note = format("{} sinograms of {} x {}, {:.4f} ms each", sinograms, sinogram_columns, sinogram_views,
                    1e3 * f.seconds / static_cast<double>(sinograms));
    run.add(f);
  }
}

}  // namespace

GpuSuite cuda_smoothing() {
  return {"corrections",
          [](Run& run) { run.unless_memory_is_short("smoothing filters on the GPU", [&] { smooth_on_gpu(run); }); }};
}

}  // namespace lepus::bench
