// SPDX-License-Identifier: Apache-2.0
// The steps on a GPU, one after another: kernel times, and from host to host.
#include <algorithm>

#include "device/cuda/devices.h"
#include "core/format.h"
#include "bench/ladder/cuda/bench.h"
#include "bench/ladder/gpu.h"

namespace lepus::ladder {

void run_steps(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
               Context& context, std::vector<measure::Figure>& figures) {
  const std::vector<Rung> rungs = cuda_rungs();
  const std::string kernel_group = format("kernel {}^3", problem.size),
                    host_group = format("host to host {}^3", problem.size);
  HostMemory memory(problem.grid.voxels(), context.threads);
  for (const CudaRung& rung : cuda_steps()) {
    const Rung& listed = rung_named(rungs, rung.name);
    if (!wanted(options, listed.name)) continue;
    context.cancel.check();
    const Weights weights = rung.step.held == Held::memory ? Weights::single : Weights::texture;
    double kernel_seconds = 0;
    if (rung.kernel) {
      const auto timed = bench.time(options.repeats, rung.step.held, rung.step.turns, rung.step.launcher, problem);
      measure::Figure figure = checked_figure(kernel_group, listed.name, problem, truth, timed.sampled, weights);
      figure.seconds = kernel_seconds = timed.seconds;
      bench.set_limit(figure, rung.step.held == Held::memory ? 0 : 1, rung.views_per_launch);
      context.progress.note(figure_line(figure));
      figures.push_back(std::move(figure));
    }
    if (rung.host == Hosts::every_size || (rung.host == Hosts::first_size && is_first(options, problem))) {
      Pipeline pipeline(problem, rung.step, memory);
      const double first = pipeline.run();
      measure::Figure figure =
          checked_figure(host_group, listed.name, problem, truth, sampled_from(truth, pipeline.volume()), weights);
      figure.seconds = best_of_runs(first, options.repeats, [&] { return pipeline.run(); });
      set_host_note(figure, problem, bench.limits(), kernel_seconds);
      add_published(figure, listed, problem);
      context.progress.note(figure_line(figure));
      figures.push_back(std::move(figure));
    }
    context.progress.advance();
  }
}

namespace {

void run_cuda(const LadderOptions& options, const Scene& scene, Context& context, measure::Report& report) {
  cuda::use_device(options.device);
  const measure::Limits limits =
      measure::measure_limits({.quick = true, .folder = {}, .device = options.device}, context);
  for (const std::int64_t size : options.sizes) {
    const auto first = static_cast<std::ptrdiff_t>(report.figures.size());
    // Groups of a size side by side, in the order in which they are listed.
    const auto place = [](const measure::Figure& f) {
      return f.group.starts_with("host")       ? 0
             : f.group.starts_with("kernel")   ? 1
             : f.group.starts_with("ablation") ? 2
                                               : 3;
    };
    const auto group = [&](const std::string& stage, std::size_t steps, const auto& run) {
      context.progress.begin(format("{} at {}^3", stage, size), static_cast<std::int64_t>(steps));
      run();
      context.progress.end();
      std::stable_sort(report.figures.begin() + first, report.figures.end(),
                       [&](const auto& a, const auto& b) { return place(a) < place(b); });
      show_so_far(options, report);
    };
    const Problem problem = make_problem(scene, size);
    const Truth truth = make_truth(problem, Summed::pixels, options.samples, context.threads);
    DeviceBench bench(problem, truth, limits);
    group("steps", cuda_steps().size(), [&] { run_steps(options, problem, truth, bench, context, report.figures); });
    group("ours", cuda_rungs().size() - cuda_steps().size(),
          [&] { run_ours(options, problem, truth, bench, context, report.figures); });
    if (!is_first(options, problem)) continue;
    if (options.ablation)
      group("kernels taken apart", apart_stages(),
            [&] { run_ablation(options, problem, truth, bench, context, report.figures); });
    if (options.sweep && wanted(options, "kernel B"))
      group("shapes of kernel B", sweep_shapes().size(),
            [&] { run_sweep(problem, truth, bench, context, report.figures); });
  }
}

}  // namespace

GpuLadder cuda_ladder() { return {"cuda", run_cuda}; }

}  // namespace lepus::ladder
