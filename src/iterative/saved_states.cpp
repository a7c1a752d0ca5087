// SPDX-License-Identifier: Apache-2.0
#include "iterative/saved_states.h"

#include <utility>

#include "core/format.h"
#include "core/settings_text.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

// The first of the files that are there whose reading finds no damage; the damage of those before it into `damaged`.
template <class Read>
StateHeader first_whole(const std::vector<fs::path>& files, std::string& damaged, const Read& read) {
  std::optional<DamagedState> first;
  for (const fs::path& file : files) {
    if (!is_there(file)) continue;
    try {
      StateHeader header = read(file);
      if (first) damaged = first->what();
      return header;
    } catch (const DamagedState& error) {
      if (!first) first = error;
    }
  }
  throw first ? *first : DamagedState(files.front(), "no such file");
}

}  // namespace

std::vector<fs::path> state_files_of(const fs::path& output) {
  fs::path newest = output, before = output;
  return {newest += ".state", before += ".state.before"};
}

std::optional<StateHeader> newest_state(const fs::path& output) {
  std::string ignored;
  try {
    return first_whole(state_files_of(output), ignored, read_state_header);
  } catch (const DamagedState&) {
    return {};
  }
}

void remove_states(const fs::path& output) noexcept {
  std::error_code ignored;
  for (const fs::path& file : state_files_of(output)) fs::remove(file, ignored);
}

SavedStates::SavedStates(fs::path output, std::string run)
    : output_(std::move(output)), run_(std::move(run)), files_(state_files_of(output_)) {}

bool SavedStates::exist() const { return is_there(files_[0]) || is_there(files_[1]); }

StateHeader SavedStates::check(std::int64_t iterations) const {
  std::string damaged;
  StateHeader header = first_whole(files_, damaged, read_state_header);
  const auto refuse = [&](std::string why, std::string hint) {
    throw Error(ErrorKind::usage, {.what = "an unfinished run of this output is another one",
                                   .where = newest().string(),
                                   .why = std::move(why),
                                   .hint = std::move(hint)});
  };
  if (const std::string difference = settings_difference(header.run, run_); !difference.empty())
    refuse(difference, "give what it was begun with to go on, --restart to begin anew, or another output");
  if (header.done.iterations > iterations)
    refuse(format("{} iterations are done, {} are wanted", header.done.iterations, iterations),
           format("write what is there with --iterations {}, or begin anew with --restart", header.done.iterations));
  return header;
}

StateHeader SavedStates::load(Method& method, std::string& damaged) const {
  KeptPieces pieces(method);
  if (!pieces.first()) return receive_state(method, pieces);
  return first_whole(files_, damaged, [&](const fs::path& file) {
    if (!settings_difference(read_state_header(file).run, run_).empty())
      throw DamagedState(file, "it is of another run");
    return load_state(file, method, pieces);
  });
}

void SavedStates::save(StateHeader header, Method& method) const {
  header.run = run_;
  save_state(files_[0], files_[1], output_, header, method);
}

}  // namespace lepus
