// SPDX-License-Identifier: Apache-2.0
// The states of an unfinished run beside its output, the newest and the one before it: a crash while one is written,
// or a disk that damages it, leaves the other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "iterative/state_file.h"

namespace lepus {

// "v.mha" -> "v.mha.state" and "v.mha.state.before", the newest first.
std::vector<std::filesystem::path> state_files_of(const std::filesystem::path& output);
// The header of the newest that can be read; nothing where there is none.
std::optional<StateHeader> newest_state(const std::filesystem::path& output);
void remove_states(const std::filesystem::path& output) noexcept;

class SavedStates {
public:
  // run: whose work it is, as settings; a state of another run is refused.
  SavedStates(std::filesystem::path output, std::string run);

  bool exist() const;
  // How far the newest is. Throws Error(usage) where it is of another run, with what differs, or past `iterations`, and
  // DamagedState where none can be read.
  StateHeader check(std::int64_t iterations) const;
  // By all ranks that share out the line integrals; rank 0 reads and writes. The newest into the method, or the one
  // before where that is damaged: `damaged` says so.
  StateHeader load(Method& method, std::string& damaged) const;
  // In the place of the one before. `header`: iterations, strength and what is done.
  void save(StateHeader header, Method& method) const;

  const std::filesystem::path& newest() const { return files_.front(); }

private:
  std::filesystem::path output_;
  std::string run_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace lepus
