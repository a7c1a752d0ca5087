// SPDX-License-Identifier: Apache-2.0
// Progress of all ranks, shown once: rank 0 shows its own, and in the stage that all share what all have done; the
// others only count. Warnings of the others are kept for the end, when rank 0 gives those that it has not given itself.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/forwarded_progress.h"
#include "ranks/ranks.h"

namespace lepus {

class SharedProgress final : public ForwardedProgress {
public:
  // shared_stage: its steps are those of all ranks together.
  SharedProgress(Ranks& ranks, Progress& shown, std::string shared_stage)
      : ForwardedProgress(shown), ranks_(ranks), shared_stage_(std::move(shared_stage)) {}

  void begin(std::string_view stage, std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  void end() override;
  void note(const std::string& message) override;
  void warning(const std::string& message) override;
  void give_warnings_of_all();  // by all ranks

private:
  void exchange();

  Ranks& ranks_;
  std::string shared_stage_;
  std::atomic<bool> shared_ = false;  // the stage is that
  std::atomic<std::int64_t> pending_{0};
  std::mutex mutex_;
  std::int64_t seen_ = 0;  // steps of the others that rank 0 has shown
  std::chrono::steady_clock::time_point exchanged_ = {};
  std::set<std::string> warnings_;
};

}  // namespace lepus
