// SPDX-License-Identifier: Apache-2.0
// A reconstruction that another process runs, as the page gets it: what of its output is there, how fast it goes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "view/running_volume.h"

namespace lepus::view {

class RunView {
public:
  RunView(std::filesystem::path output, const std::filesystem::path& partial);

  bool look();                // true where something changed
  std::string state() const;  // "running", "finished", "stopped"; another process may finish what was stopped
  const std::filesystem::path& output() const { return output_; }
  nlohmann::json json() const;

private:
  using Clock = std::chrono::steady_clock;
  const std::filesystem::path output_, partial_;
  const std::unique_ptr<RunningVolume> volume_;
  mutable std::mutex mutex_;
  std::string state_ = "running";
  SliceRanges finished_;
  std::int64_t iterations_ = 0;                                     // of an iterative method, as of its newest state
  std::deque<std::pair<Clock::time_point, std::int64_t>> history_;  // how many slices were there when
};

// The same of lepus live, which holds its volume in memory until it is finished: what its --status file says, with
// views in place of slices. Null where there is no such file, or it is no status.
nlohmann::json live_run(const std::filesystem::path& status, const std::filesystem::path& output);

// The same of an iterative method that was stopped, from its newest saved state, with iterations in place of slices.
// Null where there is none.
nlohmann::json iterative_run(const std::filesystem::path& output);

}  // namespace lepus::view
