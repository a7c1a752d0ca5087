// SPDX-License-Identifier: Apache-2.0
// Corrected rows and results of the pre-pass that outlive their run: the next one takes them, to the same bits, and
// believes none that is not as it was written.
#include "run/kept_rows.h"

#include <atomic>
#include <fstream>

#include <unistd.h>

#include <gtest/gtest.h>

#include "core/format.h"
#include "run/chain_cases_test.h"
#include "run/corrected_frames.h"
#include "run/prepass_results.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

// Counts the rows that are read of it.
class CountedFrames final : public FrameSource {
public:
  explicit CountedFrames(const FrameSource& frames) : frames_(frames) {}
  std::int64_t columns() const override { return frames_.columns(); }
  std::int64_t rows() const override { return frames_.rows(); }
  std::int64_t frames() const override { return frames_.frames(); }
  PixelType pixel_type() const override { return frames_.pixel_type(); }
  std::string name(std::int64_t frame) const override { return frames_.name(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    read_rows += row1 - row0;
    frames_.read_native(frame, row0, row1, out);
  }
  mutable std::atomic<std::int64_t> read_rows = 0;

private:
  const FrameSource& frames_;
};

class KeptRowsTest : public ::testing::Test {
protected:
  static constexpr std::int64_t little = 1, much = std::int64_t{1} << 30;
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  struct Made {
    std::vector<float> values;  // [view][row][column]
    std::int64_t rows_read = 0, rows_taken = 0;
    AuditState audit;
  };
  // Reads these rows of all views, in a run of its own that ends there.
  Made read(RowBand rows, std::int64_t memory) {
    auto [frames, normalisation] = scan_.inputs();
    const CountedFrames counted(frames);
    CorrectionChain chain(scan_.scan, counted, &normalisation, scan_.context());
    counted.read_rows = 0;  // what was looked at before
    RowAudit audit(counted, {1, 0});
    Progress silent;
    ResumableRun run;
    run.header = {"test", {}};
    ResumableVolume volume(folder_ / "v.raw", grid_, {}, run, silent);
    volume.keep_state([&] { return std::string("state"); });
    KeptRows kept(volume);
    const CorrectedFrames corrected(counted, chain, audit,
                                    {.memory_bytes = memory,
                                     .scratch = folder_ / "v.raw",
                                     .force = false,
                                     .threads = 2,
                                     .device = nullptr,
                                     .device_bytes = 0,
                                     .kept = &kept},
                                    never_);
    Made made;
    const std::int64_t size = rows.size() * frames.columns();
    made.values.resize(static_cast<std::size_t>(frames.frames() * size));
    for (std::int64_t view = 0; view < frames.frames(); ++view)
      corrected.read_native(view, rows.first, rows.last, made.values.data() + view * size);
    volume.stop_recording();
    made.rows_read = counted.read_rows;
    made.rows_taken = kept.rows_taken();
    made.audit = audit.state();
    return made;
  }
  void begin_anew() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::int64_t detector_rows() const { return scan_.inputs().first.rows(); }
  fs::path rows_file() const { return folder_ / "v.raw.rows"; }

  chain_test::SmallScan scan_{chain_test::long_chain()};
  VolumeGrid grid_{.nx = 4, .ny = 4, .nz = 8, .origin_mm = {}, .step_mm = {1, 1, 1}};
  CancelFlag never_;
  fs::path folder_ = fs::temp_directory_path() / format("lepus_kept_rows_{}", ::getpid());
};

TEST_F(KeptRowsTest, the_next_run_takes_them) {
  const RowBand all{0, detector_rows()}, half{0, detector_rows() / 2};
  const Made whole = read(all, much);
  EXPECT_EQ(whole.rows_taken, 0);
  begin_anew();

  const Made first = read(half, little);
  EXPECT_TRUE(fs::exists(rows_file()));
  EXPECT_EQ(first.rows_taken, 0);
  const Made again = read(half, little);
  EXPECT_EQ(again.rows_read, 0);
  EXPECT_GE(again.rows_taken, half.size());
  EXPECT_EQ(again.values, first.values);

  // Of more memory, and so of other bands.
  const Made rest = read(all, much);
  EXPECT_GT(rest.rows_read, 0);
  EXPECT_EQ(rest.values, whole.values);
  const Made last = read(all, little);
  EXPECT_EQ(last.rows_read, 0);
  EXPECT_EQ(last.rows_taken, all.size());
  EXPECT_EQ(last.values, whole.values);
}

TEST_F(KeptRowsTest, what_was_changed_is_corrected_again) {
  const RowBand all{0, detector_rows()};
  const Made whole = read(all, little);
  {
    std::fstream file(rows_file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(rows_file()) / 2));
    file.write("!!!!", 4);
  }
  const Made again = read(all, little);
  EXPECT_GT(again.rows_read, 0);
  EXPECT_LT(again.rows_taken, all.size());
  EXPECT_GT(again.rows_taken, 0);
  EXPECT_EQ(again.values, whole.values);
  fs::resize_file(rows_file(), 100);
  const Made cut = read(all, little);
  EXPECT_EQ(cut.values, whole.values);
  EXPECT_LT(cut.rows_taken, all.size());
}

TEST(PrePassResults, are_the_same_to_the_bit) {
  CountFigures counts;
  counts.views = 7;
  counts.pixels = std::int64_t{1} << 40;
  counts.at_dark = 0.1;
  counts.air = {0.3, 1.0 / 3, 1};
  counts.constant = true;
  counts.warnings = {"\xff not UTF-8", ""};
  const CountFigures read = counts_from(to_bytes(counts));
  EXPECT_EQ(to_bytes(read), to_bytes(counts));
  EXPECT_EQ(read.warnings, counts.warnings);
  EXPECT_EQ(read.air->lowest, 1.0 / 3);
  EXPECT_FALSE(counts_from(to_bytes(CountFigures{})).air);

  Normalised normalised;
  normalised.maps.columns = 3;
  normalised.maps.rows = 1;
  normalised.maps.log_i0 = Buffer<float>(3);
  for (float& value : normalised.maps.log_i0) value = 1.0F / 3;
  normalised.maps.log_i0[1] = std::nanf("");
  normalised.maps.log_i0_everywhere = 0.1F;
  normalised.maps.unusable = {1, std::int64_t{1} << 33};
  normalised.intensity = "mean of 3 flats";
  const Normalised maps = normalised_from(to_bytes(normalised));
  EXPECT_EQ(to_bytes(maps), to_bytes(normalised));
  EXPECT_EQ(maps.maps.log_i0[2], 1.0F / 3);
  EXPECT_EQ(maps.maps.log_i0_everywhere, 0.1F);
  EXPECT_EQ(maps.maps.unusable, normalised.maps.unusable);
  EXPECT_EQ(maps.maps.dark.size(), 0);
}

}  // namespace
}  // namespace lepus
