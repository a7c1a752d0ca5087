// SPDX-License-Identifier: Apache-2.0
// How far a run is that is working or was ended, from what lies beside its output: the journal of what is finished, or
// the saved state of an iterative method. docs/restart.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/export.h>

namespace lepus {

// A process that makes the output or a part of it.
struct RunPart {
  std::string name;       // "share-3-of-16"; "": all of it
  std::string holder;     // who works on it; "": nobody
  std::int64_t done = 0;  // of RunStatus::unit
};

struct RunStatus {
  std::filesystem::path output;        // of the run: of a folder of slices with their pattern
  bool complete = false;               // it is there and no run of it is unfinished; nothing of the rest is known
  std::string command, lepus;          // that began the run, and its version: "reconstruct"
  std::string unit = "slices";         // what is counted: "slices", "views", "iterations"
  std::int64_t all = 0, done = 0;      // of the unit
  std::vector<RunPart> parts;          // one for each process
  std::optional<double> seconds_left;  // at the speed so far; none: not known

  std::int64_t left() const { return all - done; }
  // Somebody works on it. Where nobody does, the call that began the run goes on from there.
  bool running() const {
    return std::ranges::any_of(parts, [](const RunPart& part) { return !part.holder.empty(); });
  }
};

// output: as it was given to the run; a folder of slices may be named without their pattern. Nothing is changed, and a
// running process is not disturbed. Throws Error(input) where there is neither an output nor an unfinished run of it.
LEPUS_API RunStatus run_status(const std::filesystem::path& output);

}  // namespace lepus
