// SPDX-License-Identifier: Apache-2.0
// A volume that several processes write: each joins the others' file, and none finishes one that was replaced.
#include <chrono>
#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "io/resumable_test.h"

namespace lepus {
namespace {

using namespace test;

class SharedVolume : public Resumable {
protected:
  std::unique_ptr<ResumableVolume> open_part(const std::string& part, std::optional<VolumeSlices> own = {}) {
    ResumableRun run = make_run(header(), false, 1);
    run.part = part;
    run.own = own;
    return std::make_unique<ResumableVolume>(folder_ / "v.mha", grid(), VolumeWriterOptions{}, run, heard_);
  }
};

// Ranks open their volume one after the other, so that what one of them waits for all do. Whoever refuses a holder
// waits 100 ms for it; a busy machine may take as long at times, not in five of five.
TEST_F(SharedVolume, is_joined_without_waiting) {
  const ::pid_t other = ::fork();
  if (other == 0) {
    const auto volume = open_part("rank-1-of-2");
    std::ofstream(folder_ / "open").put('1');
    while (true) ::pause();
  }
  while (!std::filesystem::exists(folder_ / "open")) {
    ASSERT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "the other process has ended";
    ::usleep(1000);
  }
  double fastest = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    const auto volume = open_part("rank-2-of-2");
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    EXPECT_EQ(pairs(volume->missing()), (Pairs{{0, 12}}));
  }
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_LT(fastest, 0.1);
}

// As a process on another node does it, where locks do not reach so far.
class ReplacedVolume : public SharedVolume {
protected:
  void replace(float first_voxel) {
    const std::filesystem::path file = folder_ / "v.mha.unfinished", other = folder_ / "other";
    std::filesystem::copy_file(file, other);
    std::filesystem::rename(other, file);
    std::fstream voxels(file, std::ios::in | std::ios::out | std::ios::binary);
    const auto bytes = static_cast<std::streamoff>(voxels_.size() * sizeof(float));
    voxels.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file)) - bytes);
    voxels.write(reinterpret_cast<const char*>(&first_voxel), sizeof first_voxel);
  }
  void make(ResumableVolume& part) {
    write_missing(part);
    part.finish("{}");
  }
};

TEST_F(ReplacedVolume, a_volume_that_has_lost_what_another_part_wrote_is_not_finished) {
  for (const bool lost : {true, false}) {
    SCOPED_TRACE(lost);
    make(*open_part("share-1-of-2", VolumeSlices{0, 6}));
    replace(lost ? voxels_[0] + 1 : voxels_[0]);
    const auto second = open_part("share-2-of-2", VolumeSlices{6, 12});
    if (lost) {
      EXPECT_LEPUS_ERROR(make(*second), ErrorKind::disk, "not all slices are in the volume as they were written");
      EXPECT_FALSE(std::filesystem::exists(folder_ / "v.mha"));
      remove_with_journals(folder_ / "v.mha");
      remove_unfinished(folder_ / "v.mha");
    } else {
      make(*second);
      expect_whole("v.mha");
    }
  }
}

TEST_F(ReplacedVolume, a_share_that_completes_it_looks_at_what_the_others_made) {
  const auto damage = [&] {
    std::fstream voxels(folder_ / "v.mha.unfinished", std::ios::in | std::ios::out | std::ios::binary);
    voxels.seekp(-static_cast<std::streamoff>(voxels_.size() * sizeof(float)), std::ios::end);
    voxels.write("x", 1);
  };
  make(*open_part("share-1-of-2", VolumeSlices{0, 6}));
  damage();
  EXPECT_LEPUS_ERROR(make(*open_part("share-2-of-2", VolumeSlices{6, 12})), ErrorKind::disk,
                     "slices 0 to 5: not all slices are in the volume as they were written");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "v.mha"));
  // The share whose slices they are makes them again, and finds the others' whole.
  const auto again = open_part("share-1-of-2", VolumeSlices{0, 6});
  EXPECT_EQ(pairs(again->missing()), (Pairs{{0, 6}}));
  make(*again);
  expect_whole("v.mha");
}

TEST_F(ReplacedVolume, a_part_whose_file_is_gone_does_not_wait_for_others) {
  make(*open_part("share-1-of-2", VolumeSlices{0, 6}));
  const auto second = open_part("share-2-of-2", VolumeSlices{6, 12});
  write_missing(*second);
  second->stop_recording();
  std::filesystem::remove(folder_ / "v.mha.unfinished");
  EXPECT_LEPUS_ERROR(second->finish("{}"), ErrorKind::disk, "gone");
}

TEST_F(ReplacedVolume, locks_of_killed_parts_go_with_their_journals) {
  make(*open_part("share-1-of-2", VolumeSlices{0, 6}));
  const std::filesystem::path lock = folder_ / ".v.mha.share-1-of-2.journal.lepus-lock";
  std::ofstream(lock) << "lepus 4711-0a1b2c3d\nprocess 4711 on tooth\n";
  const auto rest = open("v.mha");
  write_missing(*rest);
  rest->finish("{}");
  expect_whole("v.mha");
  EXPECT_FALSE(std::filesystem::exists(lock));
}

TEST_F(ReplacedVolume, a_run_that_lost_its_file_does_not_finish_another_ones) {
  const auto volume = open("v.mha");
  write_missing(*volume);
  replace(voxels_[0]);
  EXPECT_LEPUS_ERROR(volume->finish("{}"), ErrorKind::disk, "another run has replaced the unfinished output");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "v.mha"));
}

}  // namespace
}  // namespace lepus
