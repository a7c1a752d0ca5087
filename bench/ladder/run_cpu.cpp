// SPDX-License-Identifier: Apache-2.0
// The CPU's steps, timed: wall clock with all threads, and cycles per update of one thread from the clock as it is
// measured beside each run.
#include <algorithm>
#include <functional>
#include <limits>

#include "core/format.h"
#include "bench/ladder/cpu/steps.h"
#include "bench/ladder/figures.h"
#include "bench/measure/clock.h"

namespace lepus::ladder {
namespace {

struct Timed {
  double wall = std::numeric_limits<double>::infinity(), processor = wall;
};

Timed best_of(int repeats, const std::function<void()>& run) {
  Timed best;
  for (int i = 0; i < std::max(1, repeats); ++i) {
    const double wall = measure::seconds(), processor = measure::cpu_seconds();
    run();
    best.wall = std::min(best.wall, measure::seconds() - wall);
    best.processor = std::min(best.processor, measure::cpu_seconds() - processor);
  }
  return best;
}

// Good published code needs about one cycle per update and core.
std::string cycles_text(const Timed& timed, const Problem& problem, const std::string& bound) {
  const double cycles = timed.processor * measure::measured_clock_hz() / problem.updates();
  return format("{:.2f} cycles per update (published: about 1); {}", cycles, bound);
}

void run_size(const LadderOptions& options, const Scene& scene, std::int64_t size, Context& context,
              std::vector<measure::Figure>& figures) {
  const Problem problem = make_problem(scene, size);
  const std::string group = format("cpu {}^3", size);
  const std::vector<Rung> rungs = cpu_rungs();
  const auto finish = [&](measure::Figure figure, const Timed& timed, const Problem& p, const std::string& bound) {
    figure.seconds = timed.wall;
    figure.note = cycles_text(timed, p, bound);
    context.progress.note(figure_line(figure));
    figures.push_back(std::move(figure));
    context.progress.advance();
  };

  const Truth truth = make_truth(problem, Summed::pixels, options.samples, context.threads);
  struct Plain {
    const char* name;
    void (*run)(const Problem&, float*, ThreadPool&);
    std::string bound;
  };
  const Plain plain[] = {
      {"naive", cpu_naive, "divisions, bounds of every tap, the volume read and written per view"},
      {"blocked", cpu_blocked, "scalar arithmetic"},
      {"SIMD", cpu_simd, "gathers of four taps per voxel, " + cpu_simd_target()},
  };
  Buffer<float> volume(problem.grid.voxels());
  for (const Plain& step : plain) {
    if (!wanted(options, step.name)) continue;
    context.cancel.check();
    const auto run = [&] {
      std::fill(volume.begin(), volume.end(), 0.0F);
      step.run(problem, volume.data(), context.threads);
    };
    const Timed timed = best_of(options.repeats, run);
    finish(checked_figure(group, rung_named(rungs, step.name).name, problem, truth, sampled_from(truth, volume.data()),
                          Weights::single),
           timed, problem, step.bound);
  }

  const auto ours = [&](const char* name, const Problem& p, const Truth& t) {
    context.cancel.check();
    CpuOurs kernel(p, context.threads);
    const Timed timed = best_of(options.repeats, [&] { kernel.run(); });
    std::vector<float> sampled(t.offsets.size());
    kernel.read(t, sampled.data());
    finish(checked_figure(group, rung_named(rungs, name).name, p, t, sampled, Weights::single), timed, p,
           "loads of 8 and 16 bytes, " + kernel.description());
  };
  if (wanted(options, "ours, any matrices")) ours("ours, any matrices", problem, truth);
  if (wanted(options, "ours, symmetric (circle)")) {
    const Scene circle =
        make_scene(Orbit::circle, scene.views(), scene.geometry.columns, scene.geometry.rows, context.threads);
    const Problem turned = make_problem(circle, size);
    ours("ours, symmetric (circle)", turned, make_truth(turned, Summed::pixels, options.samples, context.threads));
  }
}

}  // namespace

void run_cpu(const LadderOptions& options, const Scene& scene, Context& context, measure::Report& report) {
  for (const std::int64_t size : options.sizes) {
    context.progress.begin(format("steps on the CPU at {}^3", size), static_cast<std::int64_t>(cpu_rungs().size()));
    run_size(options, scene, size, context, report.figures);
    context.progress.end();
    show_so_far(options, report);
  }
}

}  // namespace lepus::ladder
