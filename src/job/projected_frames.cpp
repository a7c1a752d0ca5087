// SPDX-License-Identifier: Apache-2.0
// A "state" of the journal is a list of [view, projected, measured, residual]; all of them together are the sums.
#include "job/projected_frames.h"

#include <utility>

#include <lepus/error.h>

#include "core/json.h"

namespace lepus {
namespace {

ResumableRun of_frames(ResumableRun run) {
  run.slices = Slices::of_scan;
  run.unit = "views";
  return run;
}

}  // namespace

ProjectedFrames::ProjectedFrames(const std::filesystem::path& path, const VolumeGrid& shape, bool force,
                                 const ResumableRun& run, Progress& progress)
    : frames_(path, shape, {.force = force, .unit = {}}, of_frames(run), progress),
      sums_(static_cast<std::size_t>(shape.nz)) {
  for (const VolumeSlices& views : frames_.missing())
    for (std::int64_t view = views.z0; view < views.z1; ++view) missing_.push_back(view);
  take_sums(frames_.earlier_notes());
  frames_.keep_state([this] { return new_sums(); });
}

// The sums first: when the view is recorded they are in the journal.
void ProjectedFrames::write(std::int64_t view, const float* pixels, const Sums& sums) {
  {
    const std::scoped_lock lock(mutex_);
    sums_.at(static_cast<std::size_t>(view)) = sums;
    not_noted_.push_back(view);
  }
  frames_.write(view, view + 1, pixels);
}

ProjectedFrames::Sums ProjectedFrames::total() const {
  const std::scoped_lock lock(mutex_);
  Sums total;
  for (const Sums& sums : sums_) {
    total.projected += sums.projected;
    total.measured += sums.measured;
    total.residual += sums.residual;
  }
  return total;
}

// JSON writes every finite double so that it is read as the same one.
std::string ProjectedFrames::new_sums() {
  const std::scoped_lock lock(mutex_);
  nlohmann::json list = nlohmann::json::array();
  for (const std::int64_t view : std::exchange(not_noted_, {})) {
    const Sums& sums = sums_[static_cast<std::size_t>(view)];
    list.push_back({view, sums.projected, sums.measured, sums.residual});
  }
  return json_text(list);
}

void ProjectedFrames::take_sums(const std::vector<JournalRecord>& notes) {
  try {
    for (const JournalRecord& note : notes) {
      if (note.kind != "state") continue;
      for (const auto& [view, projected, measured, residual] :
           parse_json(note.text).get<std::vector<std::tuple<std::size_t, double, double, double>>>())
        sums_.at(view) = {projected, measured, residual};
    }
  } catch (const std::exception& error) {  // its CRC was right: it is another lepus's than the version says
    throw Error(ErrorKind::input, {.what = "the journal of an unfinished run cannot be understood",
                                   .where = frames_.path().string(),
                                   .why = error.what(),
                                   .hint = "begin anew with --restart"});
  }
}

}  // namespace lepus
