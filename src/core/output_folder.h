// SPDX-License-Identifier: Apache-2.0
// A folder of files that appears whole or not at all: filled beside its final place under a lock, then renamed.
#pragma once

#include <filesystem>

#include "core/context.h"
#include "core/output_file.h"
#include "core/output_lock.h"

namespace lepus {

// "scans/demo/" -> "/home/ada/scans/demo", links followed
std::filesystem::path folder_target(const std::filesystem::path& wanted);

class PartialFolder {
public:
  // Throws Error(disk) where another run writes it or nothing can be written beside it.
  PartialFolder(const std::filesystem::path& target, Progress& progress, Unfinished unfinished = Unfinished::removed,
                Sharing sharing = Sharing::alone);
  ~PartialFolder();
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;

  const std::filesystem::path& path() const { return partial_; }   // to be filled
  const std::filesystem::path& target() const { return target_; }  // absolute, links followed
  bool target_is_free() const;                                     // missing, or an empty folder

  // What may happen to a folder that has something in it.
  enum class Replace { nothing, whole, same_names };
  void commit(Replace replace);

private:
  std::filesystem::path target_, partial_;
  OutputLock lock_;
  Unfinished unfinished_;
};

}  // namespace lepus
