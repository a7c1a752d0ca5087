// SPDX-License-Identifier: Apache-2.0
// Kernels taken apart, as Zinsser and Keck did it: the same kernel, with the same registers, without fetch and update;
// with the update; with fetches that always hit (voxels of 1e-6 mm: all threads look at the same texels); and
// everything. What a stage adds to the time is what its part costs that nothing else hides. And their sweep of kernel
// B.
#include <array>
#include <cmath>

#include "core/format.h"
#include "bench/ladder/cuda/bench.h"

namespace lepus::ladder {
namespace {

struct Stage {
  const char* name;
  Parts parts;
  bool one_point;
  const char* costs;  // what the stage adds
};
constexpr std::array<Stage, 4> stages{{{"instructions only", {false, false}, false, "instructions"},
                                       {"+ volume update", {false, true}, false, "the volume's update"},
                                       {"+ texture always hitting", {true, true}, true, "fetches that hit"},
                                       {"everything", {true, true}, false, "texture misses"}}};

struct Apart {
  const char *name, *rung;  // the step of the ladder it belongs to
  void (*launch)(const Launch&, const Parts&);
};
constexpr std::array<Apart, 3> kernels{
    {{"kernel A, K = 8, synchronised", "kernel A, K = 8, synchronised", launch_a_parts},
     {"kernel B", "kernel B", launch_b_parts},
     {"square warps", "square warps", launch_square_warps_parts}}};

}  // namespace

std::size_t apart_stages() { return kernels.size() * stages.size(); }

void run_ablation(const LadderOptions& options, const Problem& problem, const Truth& truth, DeviceBench& bench,
                  Context& context, std::vector<measure::Figure>& figures) {
  constexpr double one_point_mm = 1e-6;
  const Problem point = make_problem(*problem.scene, problem.size, one_point_mm);
  const auto samples = static_cast<std::int64_t>(truth.offsets.size());
  const Truth point_truth = make_truth(point, Summed::pixels, samples, context.threads);
  const Truth coordinates = make_truth(problem, Summed::coordinates, samples, context.threads);
  for (const Apart& kernel : kernels) {
    if (!wanted(options, kernel.rung)) continue;
    std::array<double, stages.size()> seconds{};
    for (std::size_t i = 0; i < stages.size(); ++i) {
      context.cancel.check();
      const Stage& stage = stages[i];
      const Problem& p = stage.one_point ? point : problem;
      const auto timed = bench.time(
          options.repeats, Held::texture, false, [&](const Launch& launch) { kernel.launch(launch, stage.parts); }, p);
      const Truth& expected = stage.one_point ? point_truth : stage.parts.fetch ? truth : coordinates;
      measure::Figure figure =
          checked_figure(format("ablation {}^3", problem.size), format("{}: {}", kernel.name, stage.name), p, expected,
                         timed.sampled, stage.parts.fetch ? Weights::texture : Weights::single);
      if (!stage.parts.update) {
        figure.error = figure.error_limit = 0;
        for (const float value : timed.sampled)
          if (value != 0.0F) figure.error = std::abs(value);
        figure.error_of = "the volume must stay zero";
      } else if (!stage.parts.fetch) {
        figure.error_of += ", of the sum of coordinates";
      }
      figure.seconds = seconds[i] = timed.seconds;
      context.progress.note(figure_line(figure));
      context.progress.advance();
      figures.push_back(std::move(figure));
    }
    std::string parts;
    std::size_t dearest = 0;
    std::array<double, stages.size()> added{};
    for (std::size_t i = 0; i < stages.size(); ++i) {
      added[i] = i == 0 ? seconds[0] : seconds[i] - seconds[i - 1];
      if (added[i] > added[dearest]) dearest = i;
      parts += format("{}{} {:.1f} ms", i == 0 ? "" : ", ", stages[i].costs, 1e3 * added[i]);
    }
    const std::string found = format("taken apart: {}; most is {}", parts, stages[dearest].costs);
    figures.back().note = found;
    for (measure::Figure& figure : figures)
      if (figure.group == format("kernel {}^3", problem.size) && figure.name == kernel.rung)
        figure.note += "; " + found;
  }
}

std::vector<BShape> sweep_shapes() {
  std::vector<BShape> shapes;
  for (const int views : {1, 4, 16, 62, 124})
    for (const int voxels : {1, 2, 4, 8, 16}) shapes.push_back({views, voxels, usual_b.block_x, usual_b.block_y});
  for (const auto& [x, y] : {std::pair{128, 1}, {64, 4}, {32, 4}, {32, 16}, {16, 8}, {16, 16}, {8, 8}, {8, 32}})
    shapes.push_back({usual_b.views, usual_b.voxels, x, y});
  return shapes;
}

void run_sweep(const Problem& problem, const Truth& truth, DeviceBench& bench, Context& context,
               std::vector<measure::Figure>& figures) {
  for (const BShape& shape : sweep_shapes()) {
    context.cancel.check();
    const auto timed = bench.time(
        1, Held::texture, false, [&](const Launch& launch) { launch_b_as(launch, shape); }, problem);
    measure::Figure figure =
        checked_figure(format("sweep of B {}^3", problem.size),
                       format("I = {}, K = {}, block {} x {}", shape.views, shape.voxels, shape.block_x, shape.block_y),
                       problem, truth, timed.sampled, Weights::texture);
    figure.seconds = timed.seconds;
    bench.set_limit(figure, 1, shape.views);
    figures.push_back(std::move(figure));
    context.progress.advance();
  }
}

}  // namespace lepus::ladder
