// SPDX-License-Identifier: Apache-2.0
// A small volume that is opened, left and opened again.
#pragma once

#include "io/resumable_volume.h"

#include "io/test_support.h"

namespace lepus::test {

struct Heard final : Progress {
  void note(const std::string& message) override { notes += message; }
  void warning(const std::string& message) override { warnings += message; }
  std::string notes, warnings;
};

class Resumable : public ::testing::Test {
protected:
  static VolumeGrid grid() {
    VolumeGrid grid;
    grid.nx = 7;
    grid.ny = 5;
    grid.nz = 12;
    grid.step_mm = {1, 1, 1};
    return grid;
  }
  static JournalHeader header() { return {"test", {{"the scan", "a"}}}; }
  static ResumableRun make_run(JournalHeader whose, bool restart, std::int64_t block) {
    ResumableRun run;
    run.header = std::move(whose);
    run.restart = restart;
    run.block = block;
    return run;
  }
  std::unique_ptr<ResumableVolume> open(const std::string& name, bool restart = false, JournalHeader whose = header(),
                                        std::int64_t block = 1) {
    return std::make_unique<ResumableVolume>(folder_ / name, grid(), VolumeWriterOptions{},
                                             make_run(std::move(whose), restart, block), heard_);
  }
  void write(ResumableVolume& volume, std::int64_t z0, std::int64_t z1) {
    volume.write(z0, z1, voxels_.data() + z0 * grid().nx * grid().ny);
  }
  void write_missing(ResumableVolume& volume) {
    for (const VolumeSlices gap : std::vector<VolumeSlices>(volume.missing())) write(volume, gap.z0, gap.z1);
  }
  void expect_whole(const std::string& name) {
    const auto reader = open_volume(folder_ / name);
    std::vector<float> read(voxels_.size());
    reader->read(0, grid().nz, read.data());
    EXPECT_EQ(read, voxels_);
    EXPECT_TRUE(journals_of(folder_ / name).empty());
    EXPECT_FALSE(unfinished_exists(folder_ / name));
  }
  static std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<VolumeSlices>& ranges) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const VolumeSlices range : ranges) all.emplace_back(range.z0, range.z1);
    return all;
  }
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

  const TempFolder folder_;
  Heard heard_;
  std::vector<float> voxels_ = pattern_volume(grid());
};

}  // namespace lepus::test
