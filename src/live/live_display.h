// SPDX-License-Identifier: Apache-2.0
// What others see of a live reconstruction: a picture of the three middle slices so far and a small JSON file, both
// replaced as a whole, so that whoever reads them never sees half of one. Neither ends the run where it cannot be
// written.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "live/live.h"
#include "live/live_volume.h"

namespace lepus {

struct LiveState {
  std::string state;  // "waiting", "running", "finished", "incomplete", "interrupted"
  std::int64_t views = 0, views_in = 0;
  std::vector<std::string> missing;  // the first few of those that are waited for
  double waiting_s = 0;
};

class LiveDisplay {
public:
  LiveDisplay(const LiveOptions& options, Progress& progress)
      : options_(options), preview_{options.preview, progress}, status_{options.status, progress} {}

  // Writes what is due; volume may be null.
  void show(const LiveState& state, const LiveVolume* volume);
  // Writes both, due or not.
  void show_now(const LiveState& state, const LiveVolume* volume);
  std::int64_t previews() const { return previews_; }

private:
  using Clock = std::chrono::steady_clock;
  // A file that is written again and again. Once it cannot be (a full disk, a folder that is away for a while), that is
  // said, and it is tried again when it is due the next time.
  class Shown {
  public:
    Shown(const std::filesystem::path& file, Progress& progress) : file_(file), progress_(progress) {}
    bool wanted() const { return !file_.empty(); }
    bool write(const std::string& bytes);

  private:
    const std::filesystem::path& file_;
    Progress& progress_;
    bool failing_ = false;
  };
  void write_preview(const LiveState& state, const LiveVolume& volume);
  void write_status(const LiveState& state);

  const LiveOptions& options_;
  Shown preview_, status_;
  Clock::time_point start_ = Clock::now(), last_preview_ = start_, last_status_ = start_;
  std::int64_t previews_ = 0, shown_views_ = 0;
};

// "17, 40-43"
std::string ranges_of(const std::vector<std::int64_t>& ascending);

}  // namespace lepus
