// SPDX-License-Identifier: Apache-2.0
// The state that a run hands out: it grows slab by slab, ends complete, and knows the voxels that were written.
#include "run/run_keeper.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gtest/gtest.h>

#include "core/format.h"
#include "io/volume_file.h"
#include "run/reconstruct_scan.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

class RunKeeperTest : public ::testing::Test {
protected:
  static constexpr std::int64_t columns = 24, rows = 40, views = 30, slices = 36;
  void SetUp() override {
    fs::create_directories(folder_);
    std::vector<float> frames;
    for (std::int64_t i = 0; i < columns * rows * views; ++i)
      frames.push_back(1 + std::sin(static_cast<float>(i * 7919 % 1000)));
    frames[columns * (rows / 4) + 3] = std::nanf("");
    std::ofstream(folder_ / "frames.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(frames.data()),
               static_cast<std::streamsize>(frames.size() * sizeof(float)));
  }
  void TearDown() override { fs::remove_all(folder_); }

  Scan scan(const std::string& more) const {
    std::ofstream(folder_ / "scan.toml") << format(
        "[frames]\nfiles = \"frames.raw\"\ncontent = \"line-integrals\"\n"
        "[frames.raw]\ncolumns = {0}\nrows = {1}\nframes_per_file = {2}\ntype = \"float32\"\n"
        "[geometry]\nbeam = \"cone\"\nsource_axis_mm = 200.0\nsource_detector_mm = 300.0\ncolumns = {0}\nrows = {1}\n"
        "pixel_width_mm = 1.0\npixel_height_mm = 1.0\narc_deg = 360.0\n"
        "[volume]\nsize = [16, 16, {3}]\nvoxel_mm = 0.6\n{4}",
        columns, rows, views, slices, more);
    return read_scan(folder_ / "scan.toml");
  }

  struct Followed {
    std::vector<RunState> states;
    ReconstructReport report;
  };
  Followed follow(const Scan& scan, bool checksums) const {
    Followed f;
    ReconstructOptions options;
    options.compute = compute_on("cpu");
    options.force = true;
    options.slab_checksums = checksums;
    options.state = [&](const RunState& state) { f.states.push_back(state); };
    ThreadPool threads(2);
    const CancelFlag never;
    Progress silent;
    Context context{threads, never, silent};
    f.report = reconstruct_scan(scan, folder_ / "v.mha", options, context);
    return f;
  }

  const fs::path folder_ = fs::temp_directory_path() / format("lepus_run_keeper_{}", ::getpid());
};

TEST_F(RunKeeperTest, grows_slab_by_slab_and_ends_complete) {
  const Scan recorded = scan("");
  const auto [states, report] = follow(recorded, true);
  ASSERT_GE(states.size(), 3u) << "begin, slabs, end";
  EXPECT_TRUE(states.front().finished_slabs.empty());
  for (std::size_t i = 1; i + 1 < states.size(); ++i) EXPECT_EQ(states[i].finished_slabs.size(), i);
  const RunState& last = states.back();
  EXPECT_TRUE(last.complete());
  EXPECT_EQ(last.scan, identity_of(recorded));
  EXPECT_EQ(last.plan.slices, slices);
  EXPECT_EQ(last.plan.views, views);
  EXPECT_EQ(last.audit.not_finite, 1);
  EXPECT_EQ(to_json(run_state_from_json(to_json(last), "state")), to_json(last));
  EXPECT_NE(report.provenance.find(format("{:016x}", last.audit.checksum)), std::string::npos)
      << "the frames' checksum is that of the volume's provenance";

  const auto volume = open_volume(folder_ / "v.mha");
  for (const RunState::FinishedSlab& f : last.finished_slabs) {
    std::vector<float> voxels(static_cast<std::size_t>(f.slab.slices() * 16 * 16));
    volume->read(f.slab.z0, f.slab.z1, voxels.data());
    EXPECT_EQ(f.checksum, format("{:016x}", slab_checksum(volume->grid(), f.slab, voxels.data())));
  }
}

TEST_F(RunKeeperTest, knows_what_corrections_did_and_makes_no_checksum_unasked) {
  const RunState last = follow(scan("[[correct]]\nkind = \"rings\"\nradius_px = 4\n"), false).states.back();
  EXPECT_TRUE(last.complete());
  for (const auto& f : last.finished_slabs) EXPECT_EQ(f.checksum, "");
  ASSERT_EQ(last.corrections.size(), 1u);
  EXPECT_EQ(last.corrections[0].kind, "rings");
  EXPECT_GT(last.corrections[0].rms_change, 0);
  ASSERT_FALSE(last.corrected_rows.bands.empty());
  EXPECT_EQ(last.corrected_rows.file, "") << "they are in memory";
  EXPECT_EQ(to_json(run_state_from_json(to_json(last), "state")), to_json(last));
}

}  // namespace
}  // namespace lepus
