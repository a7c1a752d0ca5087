// SPDX-License-Identifier: Apache-2.0
// Shows how far a command is, on standard error: a bar with percentage, elapsed time and time left on a terminal
// (redrawn two to ten times a second), plain lines elsewhere (start, steps of about 10 %, end with the time taken).
// Work that tells nothing is shown too: on a terminal its time runs on, elsewhere a line comes after a second and then
// ever more rarely, whenever a tenth of the time so far has passed without one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <lepus/progress.h>

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

  void abandon();                             // nothing more is shown: clears the bar, says nothing
  void make_way();                            // clears the bar before something else is written
  std::vector<std::string> warnings() const;  // all so far, for the JSON result

private:
  using Clock = std::chrono::steady_clock;
  // With mutex_ held:
  void show(bool last);
  void show_that_it_works();
  void say(const std::string& line);
  void wait_for_work();  // no stage is running
  void draw_bar(double fraction, double elapsed);
  void clear_bar();
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const bool quiet_, terminal_;
  mutable std::mutex mutex_;
  std::string stage_;
  bool running_ = false, bar_shown_ = false;
  std::atomic<std::int64_t> done_{0}, steps_{0};
  std::atomic<std::int64_t> next_show_ns_{0};  // steady clock; lets advance() return without the lock most of the time
  Clock::time_point start_, said_;             // of the stage, or of the time between two; when something was said last
  int shown_tenths_ = 0;
  double shown_elapsed_ = 0;
  std::vector<std::string> warnings_;
  bool over_ = false;
  std::condition_variable changed_;
  std::thread ticker_;
};

}  // namespace lepus::app
