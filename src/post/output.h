// SPDX-License-Identifier: Apache-2.0
// The volume that a chain of steps writes: one that goes on where an unfinished run of the same chain left off, or a
// plain one; and what of it is still to be made.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "io/resumable_volume.h"
#include "post/step.h"

namespace lepus::post {

class Output {
public:
  Output(const std::filesystem::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options);
  Output(const std::filesystem::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
         const ResumableRun& run, Progress& progress);

  VolumeWriter& writer() { return *writer_; }
  std::vector<SliceRange> missing() const;

  // What was measured of the volume before the step with this number, so that it is measured once. Nothing where it was
  // not, or where nothing is kept.
  std::optional<std::vector<double>> measured(std::size_t step) const;
  void keep_measured(std::size_t step, const std::vector<double>& values);

  Error ended_by(const Error& error) { return resumable_ ? resumable_->ended_by(error) : error; }

private:
  std::int64_t slices_;
  std::unique_ptr<VolumeWriter> writer_;
  ResumableVolume* resumable_ = nullptr;  // the same; null: a plain one
};

}  // namespace lepus::post
