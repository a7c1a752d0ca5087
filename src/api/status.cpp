// SPDX-License-Identifier: Apache-2.0
#include <lepus/status.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "api/refuse_option.h"
#include "core/format.h"
#include "core/output_folder.h"
#include "core/output_lock.h"
#include "io/resumable_folder.h"
#include "io/stack.h"
#include "io/volume_journals.h"
#include "iterative/saved_states.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

double seconds_since(const fs::path& file) {
  std::error_code failure;
  const auto written = fs::last_write_time(file, failure);
  const double seconds =
      failure ? 0 : std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
  return std::max(0.0, seconds);  // a clock may have been put back
}

RunStatus status_of_slabs(const fs::path& output) {
  RunStatus status;
  std::vector<VolumeSlices> finished;
  double speed = 0, last_speed = 0, since_last = 0;
  for (const fs::path& file : journals_of(output)) {
    const JournalContents journal = read_journal(file);
    status.command = journal.header.command;
    status.lepus = journal.lepus;
    if (status.command == "project") status.unit = "views";
    status.all = std::max(status.all, volume_slices(journal));
    const std::vector<RecordedSlab> slabs = recorded_slabs(journal);
    RunPart& part = status.parts.emplace_back();
    part.name = part_of_journal(file, output);
    part.holder = holder_of_output(file);
    last_speed = slices_per_second(slabs);
    std::vector<VolumeSlices> own;
    own.reserve(slabs.size());
    for (const RecordedSlab& slab : slabs) own.push_back(slab.slices);
    part.done = status.all - count_slices(slices_without({0, status.all}, own));
    finished.insert(finished.end(), own.begin(), own.end());
    // Those that work share what is left; where nobody does, as if the last one went on.
    if (!part.holder.empty()) {
      speed += last_speed;
      since_last = std::max(since_last, seconds_since(file));
    }
  }
  if (speed == 0) speed = last_speed;
  status.done = status.all - count_slices(slices_without({0, status.all}, finished));
  if (speed > 0) status.seconds_left = std::max(0.0, static_cast<double>(status.left()) / speed - since_last);
  return status;
}

RunStatus status_of_iterations(const fs::path& output, const StateHeader& state) {
  RunStatus status;
  status.command = format("reconstruct --method {}", state.method);
  status.unit = "iterations";
  status.all = state.iterations;
  status.done = state.done.iterations;
  status.parts.push_back({"", holder_of_output(output), status.done});
  if (status.done > 0)
    status.seconds_left = state.done.seconds / static_cast<double>(status.done) * static_cast<double>(status.left());
  return status;
}

// Of a scan that is converted, of an analysis.
RunStatus status_of_pieces(const fs::path& output, const FolderProgress& progress) {
  RunStatus status;
  status.command = progress.command;
  status.lepus = progress.lepus;
  status.unit = progress.unit;
  status.all = progress.all;
  status.done = progress.done;
  status.parts.push_back({"", holder_of_output(folder_target(output)), status.done});
  return status;
}

// Where the volume is when it is finished: of slices, their side-car.
bool is_there(const fs::path& output) {
  std::error_code failure;
  return fs::exists(output, failure) || fs::exists(files_of_volume(output).front(), failure);
}

// An output that is older than the volume before its steps was not made from it.
bool is_made_of(const fs::path& output, const fs::path& before) {
  std::error_code failure;
  const auto made = fs::last_write_time(files_of_volume(output).front(), failure);
  return !failure && made >= fs::last_write_time(before, failure) && !failure;
}

// Of FDK before steps on its volume: of that one until it is whole, then of the output.
std::optional<RunStatus> status_before_steps(const fs::path& output) {
  const fs::path before = volume_before_steps(output);
  if (journals_of(before).empty() || (!unfinished_exists(before) && is_made_of(output, before))) return std::nullopt;
  RunStatus status = status_of_slabs(before);
  status.command += ", before its [[post]] steps";
  return status;
}

std::optional<RunStatus> status_of(const fs::path& output) {
  if (const auto progress = progress_of_folder(output)) return status_of_pieces(output, *progress);
  if (!journals_of(output).empty() && unfinished_exists(output)) return status_of_slabs(output);
  if (auto status = status_before_steps(output)) return status;
  if (const auto iterations = newest_state(output)) return status_of_iterations(output, *iterations);
  return std::nullopt;
}

// A folder of slices may be named without their pattern: the outputs in it that have a journal, and itself with a
// slash.
std::vector<fs::path> outputs_in(const fs::path& folder) {
  std::vector<fs::path> outputs{folder / ""};
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const auto name = name_before_journal(entry->path().filename().string());
    if (name && find_number(folder / *name)) outputs.push_back(folder / *name);
  }
  return outputs;
}

}  // namespace

RunStatus run_status(const fs::path& output) {
  require_name(output, "output");
  std::vector<fs::path> places{output};
  std::error_code failure;
  if (fs::is_directory(output, failure)) std::ranges::copy(outputs_in(output), std::back_inserter(places));
  for (const fs::path& place : places)
    if (std::optional<RunStatus> found = status_of(place)) {
      found->output = place;
      return *std::move(found);
    }
  if (!is_there(output))
    throw Error(ErrorKind::input, {.what = "there is no run of this output",
                                   .where = output.string(),
                                   .why = "neither it nor the journal of an unfinished run is there",
                                   .hint = "give the name that was given with -o"});
  RunStatus status;
  status.output = output;
  status.complete = true;
  return status;
}

}  // namespace lepus
