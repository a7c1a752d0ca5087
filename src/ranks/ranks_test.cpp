// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "ranks/agree.h"
#include "ranks/shared_sum.h"
#include "ranks/test_thread_ranks.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// The variables by which launchers are known, away while a test runs.
class Launched : public testing::Test {
protected:
  static constexpr const char* names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK",       "PMI_SIZE", "SLURM_STEP_ID",
                                          "SLURM_STEP_NUM_TASKS", "LEPUS_MPI_MODULE"};
  void SetUp() override {
    for (const char* name : names) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : names) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

private:
  std::map<std::string, std::string> before_;
};

TEST_F(Launched, APlainProcessIsAlone) {
  EXPECT_EQ(launcher(), "");
  const auto ranks = open_ranks();
  EXPECT_TRUE(ranks->alone());
  EXPECT_EQ(ranks->gather("text"), std::vector<std::string>{"text"});
  EXPECT_EQ(ranks->fetch_add(first_queue, 5), 0);
  EXPECT_EQ(ranks->fetch_add(first_queue, 1), 5);
}

TEST_F(Launched, LaunchersAreKnownByTheirVariables) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(launcher(), "mpirun");
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("SLURM_STEP_ID", "0", 1);
  EXPECT_EQ(launcher(), "srun --mpi=pmix");
}

TEST_F(Launched, TasksThatCannotMeetAreRefused) {
  ::setenv("SLURM_STEP_ID", "0", 1);
  ::setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_TRUE(open_ranks()->alone());
  ::setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  try {
    open_ranks();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.parts().hint.find("--mpi=pmix"), std::string::npos);
  }
}

TEST_F(Launched, AMissingModuleIsNamed) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  ::setenv("LEPUS_MPI_MODULE", "/nowhere/liblepus_mpi.so", 1);
  try {
    open_ranks();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.parts().where, "/nowhere/liblepus_mpi.so");
  }
}

TEST(Ranks, WhatIsNotTheSameIsNamedWithItsRank) {
  as_ranks(3, [](Ranks& ranks) {
    EXPECT_NO_THROW(require_same(ranks, {{"the version", "1"}, {"the scan file", "abc"}}));
    try {
      require_same(ranks, {{"the version", "1"}, {"the scan file", ranks.rank() == 2 ? "xyz" : "abc"}});
      ADD_FAILURE() << "rank " << ranks.rank();
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().what, "the scan file is not the same on all ranks");
      EXPECT_EQ(error.parts().where, "rank 2 on node1");
    }
  });
}

TEST(Ranks, SharesCoverAllAndDifferByOne) {
  for (const std::int64_t count : {0, 1, 5, 7, 12})
    for (std::int64_t next = 0, rank = 0; rank < 5; ++rank) {
      const ArrayRange share = share_of_rank(count, static_cast<int>(rank), 5);
      EXPECT_EQ(share.first, next);
      EXPECT_TRUE(share.size() == count / 5 || share.size() == count / 5 + 1);
      next = share.last;
      if (rank == 4) {
        EXPECT_EQ(next, count);
      }
    }
}

// ((a + b) + c) + d in floats, whoever comes first; each rank has a part of the array, some of it alone.
TEST(Ranks, TheOrderOfASumIsThatOfTheRanks) {
  const std::vector<float> values{1e8F, 1.0F, -1e8F, 0.25F};
  const std::int64_t count = 3 * Ranks::message_values + 5;  // several pieces of every segment
  const auto part_of = [&](int rank) { return ArrayRange{rank * count / 9, count - (3 - rank) * count / 7}; };
  std::vector<float> expected(static_cast<std::size_t>(count));
  for (int rank = 0; rank < 4; ++rank)
    for (std::int64_t i = part_of(rank).first; i < part_of(rank).last; ++i)
      expected[static_cast<std::size_t>(i)] += values[static_cast<std::size_t>(rank)];
  as_ranks(4, [&](Ranks& ranks) {
    const ArrayRange mine = part_of(ranks.rank());
    SharedSum sum(ranks, count, mine);
    for (int round = 0; round < 2; ++round) {
      std::vector<float> array(static_cast<std::size_t>(count), NAN);  // of others' parts nothing is asked
      std::fill(array.begin() + mine.first, array.begin() + mine.last, values[static_cast<std::size_t>(ranks.rank())]);
      std::this_thread::sleep_for(std::chrono::milliseconds((ranks.rank() * 7 + round * 5) % 11));
      sum(array.data());
      EXPECT_TRUE(array == expected) << "rank " << ranks.rank();
    }
  });
}

struct Shown final : Progress {
  std::int64_t steps = 0, done = 0;
  std::vector<std::string> warnings;
  void begin(std::string_view, std::int64_t all) override { steps = all; }
  void advance(std::int64_t n) override { done += n; }
  void warning(const std::string& text) override { warnings.push_back(text); }
};

TEST(Ranks, ProgressOfAllIsShownByTheFirst) {
  std::vector<Shown> shown(3);
  as_ranks(3, [&](Ranks& ranks) {
    const auto shared = progress_of_ranks(ranks, shown[static_cast<std::size_t>(ranks.rank())], "work");
    RankProgress& progress = *shared;
    progress.begin("alone", 7);
    progress.advance(7);
    progress.end();
    progress.begin("work", 300);
    for (int i = 0; i < 100; ++i) progress.advance(1);
    progress.warning("all see this");
    if (ranks.rank() == 2) progress.warning("one sees this");
    if (!ranks.first()) progress.end();
    ranks.barrier();
    if (ranks.first()) progress.end();
    progress.give_warnings_of_all();
  });
  EXPECT_EQ(shown[0].steps, 300);
  EXPECT_EQ(shown[0].done, 7 + 300);
  EXPECT_EQ(shown[0].warnings, (std::vector<std::string>{"all see this", "one sees this"}));
  EXPECT_EQ(shown[1].done + shown[2].done, 0);
  EXPECT_TRUE(shown[1].warnings.empty() && shown[2].warnings.empty());
}

}  // namespace
}  // namespace lepus
