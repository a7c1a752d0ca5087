// SPDX-License-Identifier: Apache-2.0
// What the system tells of writers in a folder (inotify): who is being written, who was closed. Network folders and
// other systems tell nothing; then waiting is sleeping, and whoever asks has to look for himself.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace lepus {

class FolderEvents {
public:
  FolderEvents() = default;
  ~FolderEvents();
  FolderEvents(const FolderEvents&) = delete;
  FolderEvents& operator=(const FolderEvents&) = delete;

  // May be called again and again, for a folder that does not exist yet.
  void watch(const std::filesystem::path& folder);
  // Returns when something happened, at the latest after so long.
  void wait(double seconds);

  // By file name, since watching began. A writer that was seen has not closed the file yet, or the last one has.
  bool being_written(const std::string& file_name);
  bool closed(const std::string& file_name);

private:
  void take_events();

  int descriptor_ = -1, watch_ = -1;
  std::set<std::string> written_, closed_;
};

}  // namespace lepus
