// SPDX-License-Identifier: Apache-2.0
// The last steps: lepus' own kernels (src/device/cuda) on the same views, and its whole way from page-locked views to
// a page-locked volume (rabbitct/whole.h), which sends up only the rows that a slab needs.
#include <algorithm>

#include "device/cuda/backproject.h"
#include "device/cuda/cuda_check.h"
#include "core/format.h"
#include "bench/ladder/cuda/bench.h"
#include "bench/rabbitct/whole.h"

namespace lepus::ladder {
namespace {

cuda::ViewTextures filled_store(const Scene& scene, const cuda::Backprojection& kernel) {
  cuda::ViewTextures store(kernel.store_shape(scene.views(), scene.geometry.rows));
  store.set_scale(half_scale(scene.largest));
  // Any matrices: the views are stored in their own order, one to a texel.
  const std::int64_t batch = 16, view = scene.view_pixels();
  const cuda::DeviceBuffer<float> rows(batch * view);
  for (std::int64_t first = 0; first < scene.views(); first += batch) {
    const std::int64_t count = std::min(batch, scene.views() - first);
    cuda::copy_to_device(rows.data(), scene.view(first), static_cast<std::size_t>(count * view) * sizeof(float),
                         "send views to the device");
    store.store({.data = rows.data(), .row_stride = scene.geometry.columns, .view_stride = view}, first, count, 0,
                scene.geometry.rows, nullptr);
    cuda::check(cudaDeviceSynchronize(), "store the views");
  }
  return store;
}

measure::Figure whole_figure(const std::string& name, const LadderOptions& options, const Problem& problem,
                             const Truth& truth, Precision precision, Weights weights, Context& context) {
  const Scene& scene = *problem.scene;
  rabbitct::Header header;
  header.columns = scene.geometry.columns;
  header.rows = scene.geometry.rows;
  header.views = scene.views();
  rabbitct::RunOptions run;
  run.size = problem.size;
  const Devices devices = open_devices(compute_on("cuda", format("{}", options.device), precision), context.threads);
  rabbitct::WholeSweep sweep(header, scene.geometry.matrices, run, devices, context);
  context.threads.parallel_for(0, scene.views(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::copy(scene.view(first), scene.view(last), sweep.views() + first * scene.view_pixels());
  });
  (void)sweep.run();
  measure::Figure figure = checked_figure(format("host to host {}^3", problem.size), name, problem, truth,
                                          sampled_from(truth, sweep.volume().get()), weights);
  // The first run made the device's buffers; the second may count.
  figure.seconds = best_of_runs(sweep.run(), options.repeats - 1, [&] { return sweep.run(); });
  return figure;
}

}  // namespace

void run_ours(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
              Context& context, std::vector<measure::Figure>& figures) {
  struct Kind {
    const char* name;
    Precision precision;
    Weights weights;
  };
  const Kind kinds[] = {{"ours, fast", Precision::fast, Weights::texture},
                        {"ours, half", Precision::half, Weights::texture_of_half},
                        {"ours, exact", Precision::exact, Weights::single}};
  const auto sizes = rabbitct::sizes;
  const bool of_rabbitct = std::find(sizes.begin(), sizes.end(), problem.size) != sizes.end();
  for (const Kind& kind : kinds) {
    const std::string name = rung_named(cuda_rungs(), kind.name).name;
    if (!wanted(options, name)) continue;
    context.cancel.check();
    const cuda::Backprojection kernel(problem.scene->geometry, problem.grid, kind.precision);
    DeviceBench::Timed timed;
    {
      const cuda::ViewTextures store = filled_store(*problem.scene, kernel);
      timed = bench.time(options.repeats, [&](float* volume, cudaStream_t stream) {
        kernel.accumulate({&store, 0, 0, problem.scene->views()}, {volume, 0, problem.size}, stream);
      });
    }
    measure::Figure figure =
        checked_figure(format("kernel {}^3", problem.size), name, problem, truth, timed.sampled, kind.weights);
    figure.seconds = timed.seconds;
    bench.set_limit(figure, truth.seen, cuda::views_per_launch);
    figure.note += format("; {:.0f} % of the updates see the detector, the others are left out", 100 * truth.seen);
    context.progress.note(figure_line(figure));
    figures.push_back(std::move(figure));
    // The whole way knows RabbitCT's sizes only.
    if (of_rabbitct && (is_first(options, problem) || kind.precision == Precision::fast)) {
      measure::Figure whole = whole_figure(name, options, problem, truth, kind.precision, kind.weights, context);
      set_host_note(whole, problem, bench.limits(), timed.seconds);
      context.progress.note(figure_line(whole));
      figures.push_back(std::move(whole));
    }
    context.progress.advance();
  }
}

}  // namespace lepus::ladder
