// SPDX-License-Identifier: Apache-2.0
// lepus status: how far a run is that is working or was ended, from what lies beside its output.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <regex>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "core/format.h"
#include "core/output_folder.h"
#include "core/output_lock.h"
#include "io/resumable_folder.h"
#include "io/stack.h"
#include "io/volume_journals.h"
#include "iterative/saved_states.h"
#include "run/plan.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

namespace fs = std::filesystem;

// A process that makes the volume or a part of it.
struct PartStatus {
  std::string part;    // "share-3-of-16"; "": all of it
  std::string holder;  // who works on it, or ""
  std::int64_t done = 0;
  double slices_per_second = 0;  // 0: not known yet
};

struct RunStatus {
  std::string command, lepus;
  std::int64_t all = 0, done = 0;  // of `unit`
  std::string unit = "slices";
  std::vector<PartStatus> parts;
  double seconds_left = -1;  // -1: not known

  std::int64_t left() const { return all - done; }
};

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
  double speed = 0, since_last = 0;
  for (const fs::path& file : journals_of(output)) {
    const JournalContents journal = read_journal(file);
    status.command = journal.header.command;
    status.lepus = journal.lepus;
    if (status.command == "project") status.unit = "views";
    status.all = std::max(status.all, volume_slices(journal));
    const std::vector<RecordedSlab> slabs = recorded_slabs(journal);
    PartStatus& part = status.parts.emplace_back();
    part.part = part_of_journal(file, output);
    part.holder = holder_of_output(file);
    part.slices_per_second = slices_per_second(slabs);
    std::vector<VolumeSlices> own;
    own.reserve(slabs.size());
    for (const RecordedSlab& slab : slabs) own.push_back(slab.slices);
    part.done = status.all - count_slices(slices_without({0, status.all}, own));
    finished.insert(finished.end(), own.begin(), own.end());
    // Those that work share what is left; where nobody does, as if the last one went on.
    if (!part.holder.empty()) {
      speed += part.slices_per_second;
      since_last = std::max(since_last, seconds_since(file));
    }
  }
  if (speed == 0 && !status.parts.empty()) speed = status.parts.back().slices_per_second;
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
  status.parts.push_back({"", holder_of_output(output), status.done, 0});
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
  status.parts.push_back({"", holder_of_output(folder_target(output)), status.done, 0});
  return status;
}

nlohmann::json to_json(const fs::path& output, const RunStatus& status, const std::string& word) {
  nlohmann::json parts = nlohmann::json::array();
  for (const PartStatus& part : status.parts)
    parts.push_back({{"part", part.part}, {"holder", part.holder}, {"done", part.done}});
  return {{"output", output.string()},
          {"state", word},
          {"command", status.command},
          {"lepus", status.lepus},
          {"unit", status.unit},
          {"all", status.all},
          {"done", status.done},
          {"left", status.left()},
          {"seconds_left", status.seconds_left < 0 ? nlohmann::json() : nlohmann::json(status.seconds_left)},
          {"parts", parts}};
}

std::string to_text(const fs::path& output, const RunStatus& status, const std::string& word) {
  const std::int64_t all = std::max<std::int64_t>(1, status.all);
  std::string text =
      format("{}: {}, {}\ndone      {} of {} {} ({} %)\nleft      {} {}, {}\n", output.string(), word, status.command,
             status.done, status.all, status.unit, 100 * status.done / all, status.left(), status.unit,
             status.seconds_left < 0 ? "how long they take is not known yet" : expected_time(status.seconds_left));
  bool held = false;
  for (const PartStatus& part : status.parts) {
    if (!part.part.empty()) text += format("{:<9} {} {}\n", part.part, part.done, status.unit);
    if (!part.holder.empty()) text += format("works     {}\n", part.holder);
    held |= !part.holder.empty();
  }
  if (!held) text += "works     nobody: the same command goes on from here\n";
  return text;
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
  static const std::regex ending(R"((\.(share|rank)-\d+-of-\d+)?\.journal$)");
  std::vector<fs::path> outputs{folder / ""};
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    const fs::path output = folder / std::regex_replace(name, ending, "");
    if (name.ends_with(".journal") && find_number(output)) outputs.push_back(output);
  }
  return outputs;
}

int run_status(fs::path output, Session& session) {
  std::error_code failure;
  std::optional<RunStatus> found = status_of(output);
  if (!found && fs::is_directory(output, failure))
    for (const fs::path& slices : outputs_in(output)) {
      found = status_of(slices);
      if (!found) continue;
      output = slices;
      break;
    }
  if (!found && is_there(output)) {
    session.print(format("{}: complete, no run of it is unfinished", output.string()));
    session.result({{"output", output.string()}, {"state", "complete"}});
    return exit_ok;
  }
  if (!found)
    throw Error(ErrorKind::input, {.what = "there is no run of this output",
                                   .where = output.string(),
                                   .why = "neither it nor the journal of an unfinished run is there",
                                   .hint = "give the name that was given with -o"});
  const RunStatus& status = *found;
  const bool running = std::any_of(status.parts.begin(), status.parts.end(),
                                   [](const PartStatus& part) { return !part.holder.empty(); });
  const std::string word = running ? "running" : "unfinished";
  session.print(to_text(output, status, word));
  session.result(to_json(output, status, word));
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> status_command() {
  auto command = std::make_unique<Command>();
  const auto output = std::make_shared<std::string>();
  command->name = "status";
  command->summary = "say how far a run is: what is done, what is left, who works on it";
  command->description =
      "Reads what a run keeps beside its output, the journal of finished slabs or the saved state of an iterative "
      "method, and prints what is done, what is left, "
      "how long that will take, and which process on which machine "
      "works on it. Where nobody does, the command that began the run goes on from there. Nothing is changed, and a "
      "running process is not disturbed.";
  command->examples = {{"lepus status volume.mha", "the run that writes volume.mha"},
                       {"lepus status volume.mha --json", "the same for a script"}};
  command->options.positional("OUTPUT", *output, "the output, as it was given with -o").must().file();
  command->run = [output](Session& session) { return run_status(*output, session); };
  return command;
}

}  // namespace lepus::app
