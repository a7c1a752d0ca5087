// SPDX-License-Identifier: Apache-2.0
// The machinery of a reconstruction that takes views as they come: counts -> line integrals -> corrections of the view
// -> weights and ramp filter -> added to the volume. What each view counts depends on the whole orbit, which the scan
// file tells, so that the sum of all views is what lepus reconstruct makes of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/memory.h"
#include "live/view_corrections.h"
#include "run/fdk.h"
#include "run/filtered_rows.h"
#include "run/prepass.h"
#include "run/view_accumulator.h"
#include <lepus/reconstruct.h>

namespace lepus {

// A view's selected rows as they were read.
struct LiveView {
  std::int64_t view = 0;  // of the selected ones
  Buffer<float> counts;   // rows x columns
};

// The frames of a scan that is still being written: names and sizes of all, and pixels of those that are there.
class LiveFrames final : public FrameSource {
public:
  LiveFrames(const Scan& scan, std::vector<FrameFiles> files) : scan_(scan), files_(std::move(files)) {}
  std::int64_t columns() const override { return scan_.recorded.columns; }
  std::int64_t rows() const override { return scan_.selection.rows; }
  std::int64_t frames() const override { return static_cast<std::int64_t>(files_.size()); }
  PixelType pixel_type() const override { return scan_.recorded.type; }
  std::string name(std::int64_t view) const override;
  // Where a view was found; before that its name is a guess.
  void set_file(std::int64_t view, const std::filesystem::path& file) {
    files_[static_cast<std::size_t>(view)].files = {file};
  }
  // Throws Error(input) where the file is not whole, or is no frame like the others.
  void read_native(std::int64_t view, std::int64_t row0, std::int64_t row1, void* out) const override;

private:
  const Scan& scan_;
  std::vector<FrameFiles> files_;  // one file each, by view
};

class LiveVolume {
public:
  // one_frame: a file that is whole, for what can be learnt from any view. Flats and darks are read here.
  // Throws Error(memory) with voxels that would fit.
  LiveVolume(const Scan& scan, const std::filesystem::path& one_frame, const Compute& compute, Context& context);

  std::int64_t block() const { return block_; }  // views that add() takes at most
  // Changes the counts into line integrals on the way.
  void add(std::vector<LiveView>& views, Context& context);
  void wait() { sum_->wait(); }
  // beside: while add() may run on another thread.
  void read(const VoxelBox& box, float* x_fastest, bool beside = true) const;
  static std::int64_t slices_at_once(const VolumeGrid& grid);  // to read on the way to a file, within the memory limit

  const Scan& scan() const { return scan_; }
  const ViewCorrections& corrections() const { return corrections_; }
  PrePass& pre() { return pre_; }
  const Fdk& fdk() const { return *fdk_; }
  const ViewAccumulator& sum() const { return *sum_; }
  std::int64_t memory_limit_bytes() const { return limit_; }
  double filter_seconds() const { return filter_s_; }
  double add_seconds() const { return add_s_; }

private:
  void choose_block();
  void make_sum(Context& context);
  void correct(LiveView& view, Context& context);
  void filter(std::vector<LiveView>& views, Context& context);

  const Scan& scan_;
  ViewCorrections corrections_;
  Scan one_view_;
  PrePass pre_;
  Devices devices_;  // the one that sums
  Devices host_;     // what filters
  std::unique_ptr<Fdk> fdk_;
  FilteredRows filtered_;  // its geometry is weighted
  ScanGeometry wide_;      // as it is filtered and backprojected
  RowBand rows_;           // of `wide_` that the volume needs
  std::int64_t limit_ = 0, block_ = 1;
  std::unique_ptr<ViewAccumulator> sum_;
  double filter_s_ = 0, add_s_ = 0;
};

}  // namespace lepus
