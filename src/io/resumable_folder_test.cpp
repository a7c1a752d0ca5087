// SPDX-License-Identifier: Apache-2.0
// A folder whose run ends early: the next one finds the pieces that were finished, and refuses those of another run.
#include "io/resumable_folder.h"

#include "io/resumable_volume.h"
#include "io/test_support.h"

namespace lepus {
namespace {

using namespace test;

class FolderOfPieces : public ::testing::Test {
protected:
  static JournalHeader header(const std::string& scan = "a") { return {"test", {{"the scan", scan}}}; }
  std::filesystem::path target() const { return folder_ / "out"; }
  std::unique_ptr<ResumableFolder> open(bool restart = false, const JournalHeader& run = header()) {
    return std::make_unique<ResumableFolder>(target(), run, restart, silent_);
  }
  bool nothing_beside() const {
    return !std::filesystem::exists(journal_name(target())) && !std::filesystem::exists(unfinished_name(target()));
  }
  void leave_unfinished() {
    const auto begun = open();
    begun->expect("images", 10);
    write_file(begun->path() / "a.txt", "a", false);
    begun->finish("a", 4, "checksum of a");
  }

  TempFolder folder_;
  Progress silent_;
};

TEST_F(FolderOfPieces, goes_on_with_what_was_finished) {
  leave_unfinished();
  EXPECT_FALSE(std::filesystem::exists(target()));
  const auto progress = progress_of_folder(target());
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->command, "test");
  EXPECT_EQ(progress->unit, "images");
  EXPECT_EQ(progress->all, 10);
  EXPECT_EQ(progress->done, 4);
  {
    const auto again = open();
    EXPECT_EQ(again->finished("a"), "checksum of a");
    EXPECT_FALSE(again->finished("b"));
    EXPECT_TRUE(std::filesystem::exists(again->path() / "a.txt"));
    again->commit(PartialFolder::Replace::nothing);
  }
  EXPECT_TRUE(std::filesystem::exists(target() / "a.txt"));
  EXPECT_TRUE(nothing_beside());
  EXPECT_FALSE(progress_of_folder(target()));
}

TEST_F(FolderOfPieces, nothing_stays_where_nothing_was_finished) {
  { const auto begun = open(); }
  EXPECT_TRUE(nothing_beside());
  EXPECT_FALSE(std::filesystem::exists(target()));
}

TEST_F(FolderOfPieces, another_run_is_refused_and_a_restart_begins_anew) {
  leave_unfinished();
  EXPECT_THROW(open(false, header("b")), Error);
  EXPECT_TRUE(open()->finished("a"));
  EXPECT_FALSE(open(true, header("b"))->finished("a"));
  EXPECT_TRUE(nothing_beside());
}

TEST_F(FolderOfPieces, a_folder_without_a_journal_is_somebody_elses) {
  std::filesystem::create_directory(unfinished_name(target()));
  EXPECT_THROW(open(), Error);
  EXPECT_THROW(open(true), Error);
  EXPECT_TRUE(std::filesystem::exists(unfinished_name(target())));
  EXPECT_FALSE(std::filesystem::exists(journal_name(target())));
}

TEST_F(FolderOfPieces, slices_of_volumes_in_it_count) {
  const auto begun = open();
  begun->expect("images", 10);
  begun->keep();
  VolumeGrid shape{.nx = 3, .ny = 2, .nz = 6, .origin_mm = {}, .step_mm = {1, 1, 1}};
  ResumableRun run;
  run.slices = Slices::of_scan;
  VolumeWriterOptions options;
  options.type = PixelType::f64;  // which no float holds
  const std::vector<double> pixels(36, 1 + 1e-12);
  {
    ResumableVolume frames(begun->path() / "frames.raw", shape, options, run, silent_);
    frames.write_stored(0, 2, pixels.data());
  }
  EXPECT_EQ(progress_of_folder(target())->done, 2);
  ResumableVolume frames(begun->path() / "frames.raw", shape, options, run, silent_);
  ASSERT_EQ(frames.missing().size(), 1U);
  EXPECT_EQ(frames.missing().front().z0, 2);
  frames.write_stored(2, 6, pixels.data() + 12);
  frames.finish({});
  EXPECT_EQ(progress_of_folder(target())->done, 0);  // until the piece is
  FrameFiles files;
  files.files = {begun->path() / "frames.raw"};
  const auto read = open_frames(files);
  EXPECT_EQ(read->frames(), 6);
  std::vector<double> back(6);
  read->read_native(5, 0, 2, back.data());
  EXPECT_EQ(back, std::vector<double>(6, 1 + 1e-12));
}

}  // namespace
}  // namespace lepus
