// SPDX-License-Identifier: Apache-2.0
// A subcommand of the program, and what it is given to run. To add one: write app/<name>.cpp with a function that
// returns its Command, name it in commands.cpp and in app/CMakeLists.txt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/options.h"
#include <lepus/call.h>
#include <lepus/ranks.h>

namespace lepus::app {

// Exit codes that scripts can use; docs and man pages print this list (exit_codes() in errors.h).
enum ExitCode : int {
  exit_ok = 0,
  exit_usage = 2,
  exit_input = 3,
  exit_geometry = 4,
  exit_memory = 5,
  exit_disk = 6,
  exit_unsupported = 7,
  exit_comparison_failed = 8,
  exit_internal = 70,
  exit_stopped = 75,  // EX_TEMPFAIL of sysexits.h: try again
  exit_interrupted = 130,
  exit_closed_pipe = 141
};

// Options that every command has.
struct CommonOptions {
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  int threads = 0;                // 0: one per hardware thread
  std::string memory;             // as typed
  std::int64_t memory_bytes = 0;  // 0: not given
  bool force = false;             // commands that write: overwrite what is there
  bool help = false;
};

class ProgressDisplay;

// What a running command has beside its own options.
class Session {
public:
  Session(const CommonOptions& common, ProgressDisplay& display, const Call& call, Ranks& ranks);

  const CommonOptions& common() const { return common_; }
  const Call& call() const { return call_; }  // what a call of the library is given of it
  Ranks& ranks() { return ranks_; }           // one, but for commands that run over many (Command::over_ranks)
  // What was done, on standard output: what was written, its size, the time, how many warnings there were; details
  // before it with --verbose. Nothing with --quiet and --json.
  void report(const std::string& text, const std::string& details = "") const;
  // What the user asked for, on standard output; nothing with --json.
  void print(const std::string& text) const;
  void print_always(const std::string& text) const;  // with --json too: text that is made to be read by a program
  // The result for machines, on standard output; nothing without --json. The warnings so
  // far are added as "warnings".
  void result(const nlohmann::json& object) const;
  // Something worth saying, on standard error; nothing with --quiet.
  void note(const std::string& message) { call_.progress->note(message); }
  void warning(const std::string& message) { call_.progress->warning(message); }  // what the user should look at
  // From now on nothing is said of passing time: the command waits for others.
  void wait_in_silence();

private:
  CommonOptions common_;
  ProgressDisplay& display_;
  Call call_;
  Ranks& ranks_;
};

struct Example {
  std::string line;  // "lepus slice volume.mha -o slice.png"
  std::string says;  // what it does
};

struct Command {
  std::string name;         // "slice"
  std::string summary;      // one line, no full stop
  std::string description;  // paragraphs for --help and the man page, separated by empty lines
  std::vector<Example> examples;
  OptionTable options;
  bool writes = false;               // has --force
  bool over_ranks = false;           // mpirun and srun may start it as several processes that work together
  std::function<int(Session&)> run;  // empty: lepus-bench runs it, and is started
};

// Called for every command by the program: --force where it writes, --quiet, --verbose, --json, --threads, --memory,
// --help.
void add_common_options(Command& command, CommonOptions& common);

}  // namespace lepus::app
