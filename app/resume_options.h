// SPDX-License-Identifier: Apache-2.0
// Options of every command that goes on with an unfinished run of its output (docs/restart.md).
#pragma once

#include <filesystem>

#include "app/options.h"

namespace lepus::app {

struct ResumeOptions {
  bool resume = false, restart = false;

  void describe(OptionTable& table);
  void check() const;  // Error(usage) where they contradict each other
  // Error(usage) where --resume finds no unfinished run: its journal and what it was writing.
  void require_unfinished(const std::filesystem::path& output) const;
};

}  // namespace lepus::app
