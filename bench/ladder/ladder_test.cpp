// SPDX-License-Identifier: Apache-2.0
// The runner, its options and its pages, on the CPU; tests/gpu/ladder_gpu_test.cpp has the GPU's steps.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "core/cancel.h"
#include "bench/ladder/ladder.h"
#include <lepus/error.h>

namespace lepus::ladder {
namespace {

LadderOptions small() {
  LadderOptions o;
  o.sizes = {20};
  o.views = 4;
  o.columns = 96;
  o.rows = 64;
  o.backend = "cpu";
  o.repeats = 1;
  o.samples = 300;
  return o;
}

class Ladder : public testing::Test {
protected:
  measure::Report run(const LadderOptions& o) {
    CancelFlag cancel;
    Progress silent;
    Context context{threads_, cancel, silent};
    return run_ladder(o, context);
  }
  ErrorKind refused(const LadderOptions& o) {
    try {
      run(o);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::internal;
  }
  ThreadPool threads_{2};
};

TEST_F(Ladder, every_step_of_the_cpu_is_measured_and_right) {
  const measure::Report report = run(small());
  ASSERT_EQ(report.figures.size(), cpu_rungs().size());
  for (std::size_t i = 0; i < report.figures.size(); ++i) {
    const measure::Figure& f = report.figures[i];
    EXPECT_EQ(f.group, "cpu 20^3");
    EXPECT_EQ(f.name, cpu_rungs()[i].name);
    EXPECT_TRUE(f.correct()) << f.name << ": " << f.error << " of " << f.error_limit;
    EXPECT_GT(f.error, 0) << f.name;
    EXPECT_GT(f.seconds, 0);
    EXPECT_NE(f.note.find("cycles per update"), std::string::npos);
    EXPECT_NEAR(f.work, 20.0 * 20 * 20 * 4 / 0x1p30, 1e-12);
    EXPECT_EQ(f.published_seconds, 0);
  }
}

TEST_F(Ladder, only_takes_parts_of_names) {
  LadderOptions o = small();
  o.only = "ours";
  EXPECT_EQ(run(o).figures.size(), 2U);
  o.only = "no such step";
  EXPECT_EQ(refused(o), ErrorKind::usage);
}

TEST_F(Ladder, an_interrupted_run_has_shown_what_it_found) {
  CancelFlag cancel;
  Progress silent;
  Context context{threads_, cancel, silent};
  LadderOptions o = small();
  o.sizes = {20, 24};
  std::vector<std::string> groups;
  o.so_far = [&](const measure::Report& report) {
    EXPECT_EQ(report.figures.size(), cpu_rungs().size());
    groups = measure::groups_of(report);
    cancel.cancel();
  };
  EXPECT_THROW(run_ladder(o, context), Error);
  EXPECT_EQ(groups, std::vector<std::string>{"cpu 20^3"});
}

TEST_F(Ladder, refuses_what_is_not_possible) {
  const auto with = [](auto change) {
    LadderOptions o = small();
    change(o);
    return o;
  };
  EXPECT_EQ(refused(with([](auto& o) { o.sizes = {1}; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.sizes = {4096}; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.views = 2; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.columns = 4; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.backend = "tpu"; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.repeats = 0; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.samples = 0; })), ErrorKind::usage);
  EXPECT_EQ(refused(with([](auto& o) { o.backend = "cuda", o.device = 1000; })), ErrorKind::unsupported);
}

// Figures as a GPU would give them: the pages do not need one.
measure::Report example_report() {
  measure::Report report;
  const auto add = [&](const std::string& group, const std::string& name, double seconds, double published) {
    measure::Figure f;
    f.group = group;
    f.name = name;
    f.seconds = seconds;
    f.work = 62;
    f.unit = "GUPS";
    f.published_seconds = published;
    f.note = "a note on " + name;
    report.figures.push_back(f);
  };
  for (const Rung& rung : cuda_rungs()) {
    add("host to host 512^3", rung.name, 0.5, rung.published_seconds);
    add("kernel 512^3", rung.name, 0.25, 0);
  }
  add("ablation 512^3", "kernel B: everything", 0.1, 0);
  for (const int views : {1, 4, 16})
    for (const int voxels : {1, 8})
      add("sweep of B 512^3", "I = " + std::to_string(views) + ", K = " + std::to_string(voxels) + ", block 32 x 8",
          0.1 * voxels / views, 0);
  add("cpu 256^3", "naive", 3, 0);
  report.figures.back().error = 1;  // beyond its limit
  return report;
}

TEST_F(Ladder, the_page_has_every_step_and_marks_what_is_wrong) {
  const std::string page = ladder_markdown(example_report());
  for (const Rung& rung : cuda_rungs()) EXPECT_NE(page.find(rung.name), std::string::npos) << rung.name;
  EXPECT_NE(page.find("42.6"), std::string::npos);
  EXPECT_NE(page.find("a note on kernel B"), std::string::npos);
  EXPECT_NE(page.find("**wrong**"), std::string::npos);
}

TEST_F(Ladder, plots_are_written) {
  const auto folder = std::filesystem::temp_directory_path() / "lepus_ladder_test";
  std::filesystem::remove_all(folder);
  write_ladder(example_report(), folder);
  for (const char* file : {"ladder.md", "ladder-host-512.svg", "ladder-kernel-512.svg", "ladder-ablation-512.svg",
                           "ladder-sweep-512.svg", "ladder-cpu-256.svg"})
    EXPECT_GT(std::filesystem::file_size(folder / file), 200U) << file;
  std::filesystem::remove_all(folder);
}

TEST(LadderRungs, names_are_unique) {
  for (auto rungs : {cuda_rungs(), cpu_rungs()}) {
    std::sort(rungs.begin(), rungs.end(), [](const Rung& a, const Rung& b) { return a.name < b.name; });
    EXPECT_EQ(
        std::adjacent_find(rungs.begin(), rungs.end(), [](const Rung& a, const Rung& b) { return a.name == b.name; }),
        rungs.end());
  }
}

}  // namespace
}  // namespace lepus::ladder
