// SPDX-License-Identifier: Apache-2.0
// A folder for files that only this run needs and that must have names. It goes when the run ends; what a run that was
// killed left behind is removed by the next one that looks there. core/scratch_file.h is for what needs no name.
#pragma once

#include <filesystem>
#include <string>

#include "core/context.h"

namespace lepus {

class ScratchFolder {
public:
  // A new folder in `parent`, locked as long as it lives. `progress` is told what was removed. Throws Error(disk).
  ScratchFolder(const std::filesystem::path& parent, Progress& progress);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace lepus
