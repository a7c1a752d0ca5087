// SPDX-License-Identifier: Apache-2.0
// Methods whose vectors lie in a file: the bits of those whose vectors lie in memory, states that both go on from.
#include <filesystem>

#include <gtest/gtest.h>

#include "iterative/iterate.h"
#include "iterative/saved_states.h"
#include "operators/scan_map.h"
#include "operators/test_scans.h"

namespace lepus {
namespace {

using operator_cases::Case;
using Values = std::vector<float>;

struct Outcome {
  std::vector<double> residuals;
  Values volume;
  bool operator==(const Outcome&) const = default;
};

struct Choice {
  // Many voxels for few pixels: slices of the least that total variation takes hold pieces of the operator.
  Case scan{"cone", operator_cases::cases().front().geometry, centred_grid(40, 40, 32, {0.45, 0.45, 0.5})};
  const MethodKind* kind = nullptr;
  MethodOptions options = {};
  bool weighted = false, masked = false;
};

// The whole run, or with hooks that save and restore; files null: in memory.
Outcome run(const Choice& choice, const files::Setup* files, const IterateHooks& hooks = {}) {
  const auto& [name, geometry, grid] = choice.scan;
  const auto map = make_scan_map(geometry, grid, operator_cases::on("cpu", RayModel::joseph), 0, files);
  EXPECT_EQ(map->home().info().kind, files ? "files" : "cpu");
  Values mask;
  if (choice.masked) mask.assign(static_cast<std::size_t>(grid.voxels()), 1.0F);
  for (std::size_t i = 0; i < mask.size(); i += 5) mask[i] = 0;
  Problem problem = make_problem(*map, *choice.kind, mask);
  const auto pixels = static_cast<std::size_t>(map->values_per_view());
  const Values values = operator_cases::random_values(map->values(), 3);
  for (std::int64_t view = 0; view < map->views(); ++view) {
    Values lines(pixels), weights(choice.weighted ? pixels : 0);
    for (std::size_t i = 0; i < pixels; ++i) lines[i] = 2 + values[static_cast<std::size_t>(view) * pixels + i];
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1 / lines[i];
    put_view(problem, *choice.kind, view, lines, weights);
  }
  finish_views(problem, *choice.kind);
  problem.ramp = [&](float* lines) {
    map->home().vector_kernels().combine(lines, 0.5F, lines, 0, lines, map->values(), map->queue());
  };
  problem.fdk = [&](const float* lines, float* volume) {
    map->adjoint(lines, volume);
    map->home().vector_kernels().combine(volume, 0.001F, volume, 0, volume, map->voxels(), map->queue());
  };
  const auto method = make_method(problem, choice.options);
  Outcome done;
  done.residuals = iterate(*method, problem, choice.options, hooks).residuals;
  done.volume.resize(static_cast<std::size_t>(map->voxels()));
  method->download(done.volume.data(), method->volume().data(), map->voxels());
  return done;
}

Choice choice_of(const MethodKind& kind) {
  Choice choice;
  choice.kind = &kind;
  choice.options.method = kind.name;
  choice.options.iterations = 4;
  if (kind.subsets) choice.options.subsets = 3;
  if (kind.regularised) choice.options.strength = 0.01;
  if (kind.bounded) choice.options.low = 0;
  return choice;
}

// Slabs and wedges of the operator, a few slices of total variation.
files::Setup tight(const Choice& choice, std::int64_t memory_bytes) {
  const VolumeGrid& grid = choice.scan.grid;
  return {testing::TempDir(), 1 << 23, memory_bytes,
          files::smallest_work_bytes({grid.nx, grid.ny, grid.nz}) + 60 * grid.nx * grid.ny * 4};
}

TEST(MethodsInFiles, HaveTheBitsOfThoseInMemory) {
  for (const MethodKind& kind : method_kinds()) {
    Choice choice = choice_of(kind);
    const Outcome in_memory = run(choice, nullptr);
    EXPECT_GT(in_memory.residuals.size(), 0U);
    for (const std::int64_t memory : {0, 1000000}) {
      const files::Setup files = tight(choice, memory);
      EXPECT_TRUE(run(choice, &files) == in_memory) << kind.name << ", " << memory;
    }
  }
}

TEST(MethodsInFiles, WeightsAndMasks) {
  for (const char* name : {"sirt", "cgls", "fista-tv", "os-momentum"}) {
    Choice choice = choice_of(method_kind(name));
    choice.weighted = choice.masked = true;
    const files::Setup files = tight(choice, 0);
    EXPECT_TRUE(run(choice, &files) == run(choice, nullptr)) << name;
  }
}

TEST(MethodsInFiles, GoOnFromStatesOfBoth) {
  const auto output = std::filesystem::path(testing::TempDir()) / "lepus-methods-in-files.mha";
  remove_states(output);
  const SavedStates states(output, "[scan]\nviews = 6\n");
  const IterateHooks saves{.save_rule = {.iterations = 2},
                           .save = [&](Method& m, const IterateReport& done) { states.save({.done = done}, m); }};
  const IterateHooks goes_on{.restore = [&](Method& m) {
    std::string damaged;
    return states.load(m, damaged).done;
  }};
  for (const char* name : {"cgls", "fista-tv"}) {
    const Choice whole = choice_of(method_kind(name));
    Choice half = whole;
    half.options.iterations = 2;
    const files::Setup files = tight(whole, 0);
    const Outcome expected = run(whole, nullptr);
    run(half, &files, saves);
    EXPECT_TRUE(run(whole, nullptr, goes_on) == expected) << name;
    remove_states(output);
    run(half, nullptr, saves);
    EXPECT_TRUE(run(whole, &files, goes_on) == expected) << name;
    remove_states(output);
  }
}

}  // namespace
}  // namespace lepus
