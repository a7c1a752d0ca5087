// SPDX-License-Identifier: Apache-2.0
// The frames that a projection of a volume writes, of which an unfinished run may have made some, and sums that belong
// to them: kept in the journal, so that those over all views are the same however often the run was ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "io/resumable_volume.h"

namespace lepus {

class ProjectedFrames {
public:
  struct Sums {  // of squares, of one view
    double projected = 0, measured = 0, residual = 0;
  };

  // shape: columns, rows and views as nx, ny and nz.
  ProjectedFrames(const std::filesystem::path& path, const VolumeGrid& shape, bool force, const ResumableRun& run,
                  Progress& progress);
  ~ProjectedFrames() { frames_.stop_recording(); }  // which looks at the sums
  ProjectedFrames(const ProjectedFrames&) = delete;
  ProjectedFrames& operator=(const ProjectedFrames&) = delete;

  const std::vector<std::int64_t>& missing() const { return missing_; }  // views that are still to be made
  void write(std::int64_t view, const float* pixels, const Sums& sums);
  void finish() { frames_.finish({}); }
  Sums total() const;  // of all views, in their order
  Error ended_by(const Error& error) { return frames_.ended_by(error); }

private:
  std::string new_sums();  // since the last call
  void take_sums(const std::vector<JournalRecord>& notes);

  ResumableVolume frames_;
  std::vector<std::int64_t> missing_;
  mutable std::mutex mutex_;
  std::vector<Sums> sums_;               // of each view
  std::vector<std::int64_t> not_noted_;  // views whose sums are not in the journal
};

}  // namespace lepus
