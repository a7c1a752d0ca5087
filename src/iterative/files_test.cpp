// SPDX-License-Identifier: Apache-2.0
// Methods whose vectors lie in a file: the bits of those whose vectors lie in memory, states that both go on from.
#include <filesystem>

#include <gtest/gtest.h>

#include "iterative/saved_states.h"
#include "iterative/test_method_runs.h"

namespace lepus {
namespace {

using namespace method_runs;

// files null: in memory.
Outcome run(const Choice& choice, const files::Setup* files, const IterateHooks& hooks = {}) {
  const auto& [name, geometry, grid] = choice.scan;
  const auto map = make_scan_map(geometry, grid, operator_cases::on("cpu", RayModel::joseph), {}, files);
  EXPECT_EQ(map->home().info().kind, files ? "files" : "cpu");
  return run(choice, *map, hooks);
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
