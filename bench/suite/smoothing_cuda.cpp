// SPDX-License-Identifier: Apache-2.0
// The smoothing filters on data that lies on the device; its own events. The first and the last sinogram are held
// against the CPU's.
#include <algorithm>

#include "bench/suite/gpu.h"
#include "bench/suite/smoothing.h"
#include "core/format.h"
#include "device/band_kernels.h"
#include "device/cuda/device.h"

namespace lepus::bench {
namespace {

void smooth_on_gpu(Run& run) {
  const auto device = cuda::make_device(run.options.device, Precision::half, 0);
  const auto queue = device->make_queue();
  const std::int64_t sinograms = run.options.quick ? 8 : 450, pixels = sinogram_columns * sinogram_views;
  const auto bytes = pixels * static_cast<std::int64_t>(sizeof(float));
  const Block in = device->allocate(sinograms * bytes), out = device->allocate(sinograms * bytes);
  NoisyPictures picture(sinogram_columns, sinogram_views), expected = picture, got = picture;
  for (std::int64_t i = 0; i < sinograms; ++i) device->copy(in.get() + i * bytes, picture.values.data(), bytes, *queue);
  Planes from{
      reinterpret_cast<float*>(in.get()), sinogram_columns, sinogram_views, sinogram_columns, sinograms, pixels},
      to = from;
  to.data = reinterpret_cast<float*>(out.get());
  const auto begin = device->make_event(Timing::on), end = device->make_event(Timing::on);
  for (const SmoothingCase& c : smoothing_cases) {
    const FilterOptions options = smoothing_options(c);
    const auto filter_all = [&] { device->band_kernels().filter(from, to, options, uncut(from), *queue); };
    filter_all();
    filter(picture.planes(), expected.planes(), options, run.context.threads);
    measure::Figure f = smoothing_figure(c, sinograms);
    for (const std::int64_t i : {std::int64_t{0}, sinograms - 1}) {
      device->copy(got.values.data(), out.get() + i * bytes, bytes, *queue);
      queue->wait();
      f.error = std::max(f.error, largest_difference(got.values, expected.values));
    }
    f.name = std::string("CUDA ") + c.name;
    f.error_of = "largest difference from the CPU's";
    for (int i = 0; i < run.repeats(); ++i) {
      begin->mark(*queue);
      filter_all();
      end->mark(*queue);
      end->wait();
      f.seconds = i == 0 ? end->seconds_since(*begin) : std::min(f.seconds, end->seconds_since(*begin));
    }
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
