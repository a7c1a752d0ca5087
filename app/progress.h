// SPDX-License-Identifier: Apache-2.0
// Shows how far a command is, on standard error: a bar with percentage, elapsed time and time left on a terminal
// (redrawn at most ten times a second), plain lines elsewhere (start, steps of about 10 %, end with the time taken).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/context.h"

namespace lepus::app {

class ProgressDisplay final : public Progress {
public:
  explicit ProgressDisplay(bool quiet);
  ~ProgressDisplay() override;

  void begin(std::string_view stage, std::int64_t steps) override;
  void advance(std::int64_t steps = 1) override;
  void end() override;
  void note(const std::string& message) override;
  void warning(const std::string& message) override;

  void abandon();                             // the stage did not finish: clears the bar, says nothing
  std::vector<std::string> warnings() const;  // all so far, for the JSON result

private:
  using Clock = std::chrono::steady_clock;
  void show(bool last);  // with mutex_ held
  void draw_bar(double fraction, double elapsed);
  void clear_bar();
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const bool quiet_, terminal_;
  mutable std::mutex mutex_;
  std::string stage_;
  bool running_ = false, bar_shown_ = false;
  std::atomic<std::int64_t> done_{0}, steps_{0};
  std::atomic<std::int64_t> next_show_ns_{0};  // steady clock; lets advance() return without the lock most of the time
  Clock::time_point start_;
  int shown_tenths_ = 0;
  double shown_elapsed_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace lepus::app
