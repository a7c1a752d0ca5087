// SPDX-License-Identifier: Apache-2.0
// The GPU's row filter: counts in device memory to filtered rows in device memory; CUDA events.
#include "device/cuda/cuda_check.h"
#include "device/cuda/devices.h"
#include "device/cuda/row_filter.h"
#include "bench/suite/filter_problem.h"
#include "bench/suite/gpu.h"
#include "core/format.h"
#include "bench/measure/device_clock.h"

namespace lepus::bench {
namespace {

void filter_on_gpu(Run& run) {
  cuda::use_device(run.options.device);
  const FilterProblem problem(run.gpu_views());
  const ScanGeometry& g = problem.geometry;
  const RampTransfer transfer = ramp_transfer(
      g.columns, problem.ramp, cuda::RowFilter::transform_length(shortest_ramp_transform(g.columns, problem.ramp)));
  RowNormalisation normalisation;
  normalisation.log_i0_everywhere = problem.normalisation.log_i0_everywhere;
  normalisation.clip = problem.normalisation.clip;
  cuda::RowFilterSetup setup;
  setup.columns = setup.wide = g.columns;
  setup.rows = g.rows;
  setup.type = PixelType::u16;
  setup.normalisation = &normalisation;
  setup.shape = problem.weights.rays().shape;
  setup.views = problem.weights.rays().views;
  setup.partners = problem.weights.rays().partners;
  setup.response = transfer.response;
  setup.edge = transfer.edge;
  setup.saturation_level = 65535;
  cuda::RowFilter filter(setup);

  const std::int64_t frame = g.columns * g.rows;
  const cuda::DeviceBuffer<std::uint16_t> counts(g.views() * frame);
  const cuda::DeviceBuffer<float> out(g.views() * frame);
  std::vector<std::uint16_t> host(static_cast<std::size_t>(frame));
  for (std::int64_t view = 0; view < g.views(); ++view) {
    problem.fill(view, host.data());
    cuda::copy_to_device(counts.data() + view * frame, host.data(), host.size() * 2, "send frames to the device");
  }
  const cuda::Stream stream;
  const auto filter_all = [&] {
    RowBatch batch;
    batch.views = g.views();
    batch.row1 = batch.counted_row1 = g.rows;
    batch.pixels = counts.data();
    batch.view_pixels = batch.out_view = frame;
    batch.out = out.data();
    batch.out_row = g.columns;
    filter.filter(stream.get(), batch);
  };
  filter_all();
  stream.synchronize();
  const double error = problem.error_of([&](std::int64_t view, std::int64_t row) {
    std::vector<float> line(static_cast<std::size_t>(g.columns));
    cuda::check(cudaMemcpy(line.data(), out.data() + view * frame + row * g.columns, line.size() * sizeof(float),
                           cudaMemcpyDeviceToHost),
                "download a row");
    return line;
  });
  measure::Figure f = filter_figure(problem, error);
  f.name = "CUDA";
  f.seconds = measure::best_device_seconds(run.repeats(), stream, filter_all);
  f.limit_rate = run.limits.device_copy_gb_s / 6;  // two bytes in, four out
  f.limit = "device copy";
  f.note = run.gpu_views().text() + (filter.uses_cufft() ? ", cuFFT" : ", fused");
  run.add(f);
}

}  // namespace

GpuSuite cuda_filter() {
  return {"filter", [](Run& run) { run.unless_memory_is_short("filter on the GPU", [&] { filter_on_gpu(run); }); }};
}

}  // namespace lepus::bench
