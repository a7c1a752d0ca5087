// SPDX-License-Identifier: Apache-2.0
#include "app/progress.h"

#include <algorithm>

#include "app/terminal.h"
#include "core/format.h"

namespace lepus::app {
namespace {

constexpr std::int64_t redraw_interval_ns = 100'000'000;
constexpr std::chrono::milliseconds tick_interval(400);
constexpr double shortest_silence_s = 0.5;     // a tick more is less than a second
constexpr double plain_line_interval_s = 1.0;  // a stage of a second needs no ten lines in a log

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool quiet) : quiet_(quiet), terminal_(stderr_is_terminal()) {
  wait_for_work();
  said_ = start_;
  if (!quiet_)
    ticker_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, tick_interval, [this] { return over_; })) show_that_it_works();
    });
}

ProgressDisplay::~ProgressDisplay() {
  abandon();
  changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void ProgressDisplay::wait_for_work() {
  stage_ = "working";
  steps_ = 0;
  done_ = 0;
  start_ = Clock::now();
  running_ = false;
}

void ProgressDisplay::say(const std::string& line) {
  clear_bar();
  write_stderr(line + "\n");
  said_ = Clock::now();
}

void ProgressDisplay::begin(std::string_view stage, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  if (running_) show(true);  // a stage that was not ended ends when the next begins
  stage_ = stage;
  done_ = 0;
  steps_ = std::max<std::int64_t>(0, steps);
  start_ = Clock::now();
  shown_tenths_ = 0;
  shown_elapsed_ = 0;
  running_ = true;
  if (!quiet_ && !terminal_) say(format("{} ...", stage_));
  show(false);
  next_show_ns_ = now_ns() + redraw_interval_ns;
}

void ProgressDisplay::advance(std::int64_t steps) {
  done_.fetch_add(steps, std::memory_order_relaxed);
  if (quiet_ || now_ns() < next_show_ns_.load(std::memory_order_relaxed)) return;
  // Whoever holds the lock is drawing already.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !running_) return;
  next_show_ns_ = now_ns() + redraw_interval_ns;
  show(false);
}

void ProgressDisplay::end() {
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  show(true);
  wait_for_work();
}

void ProgressDisplay::abandon() {
  const std::lock_guard lock(mutex_);
  clear_bar();
  running_ = false;
  over_ = true;
}

void ProgressDisplay::make_way() {
  const std::lock_guard lock(mutex_);
  clear_bar();
  said_ = Clock::now();
}

void ProgressDisplay::note(const std::string& message) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  say(message);
  if (running_) show(false);
}

void ProgressDisplay::warning(const std::string& message) {
  const std::lock_guard lock(mutex_);
  warnings_.push_back(message);
  say(styled("lepus: warning:", Style::yellow) + " " + message);
  if (running_) show(false);
}

std::vector<std::string> ProgressDisplay::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

void ProgressDisplay::show(bool last) {
  if (quiet_) return;
  const std::int64_t steps = steps_, done = std::min(done_.load(), steps);
  const double fraction = steps > 0 ? static_cast<double>(done) / static_cast<double>(steps) : 0.0;
  const double seconds = elapsed();
  if (last) {
    say(format("{}: done in {}", stage_, format_seconds(seconds)));
  } else if (terminal_) {
    draw_bar(fraction, seconds);
  } else if (const int tenths = static_cast<int>(fraction * 10);
             tenths > shown_tenths_ && tenths < 10 && seconds - shown_elapsed_ >= plain_line_interval_s) {
    shown_tenths_ = tenths;
    shown_elapsed_ = seconds;
    say(format("{}: {} %, {}, about {} left", stage_, static_cast<int>(fraction * 100), format_seconds(seconds),
               format_seconds(seconds * (1 - fraction) / fraction)));
  }
}

void ProgressDisplay::show_that_it_works() {
  const double silent = std::chrono::duration<double>(Clock::now() - said_).count(), seconds = elapsed();
  if (terminal_) {
    if (running_ || std::min(silent, seconds) > shortest_silence_s) show(false);
  } else if (std::min(silent, seconds) > std::max(shortest_silence_s, seconds / 10)) {
    const std::int64_t steps = steps_, done = std::min(done_.load(), steps);
    say(steps > 0 ? format("{}: {} %, {}", stage_, 100 * done / steps, format_seconds(seconds))
                  : format("{}: {}", stage_, format_seconds(seconds)));
  }
}

void ProgressDisplay::draw_bar(double fraction, double seconds) {
  const std::string left =
      fraction > 0 && seconds > 0.5 ? format(", {} left", format_seconds(seconds * (1 - fraction) / fraction)) : "";
  const std::string numbers = steps_ > 0 ? format(" {:3.0f} %  {}{}", fraction * 100, format_seconds(seconds), left)
                                         : format(" {}", format_seconds(seconds));
  // One column stays free: a full line would wrap on some terminals and \r would not reach its start.
  const int columns = terminal_columns() - 1;
  std::string name = stage_.substr(0, static_cast<std::size_t>(std::max(8, columns / 3)));
  const int room = std::min(40, columns - static_cast<int>(name.size() + numbers.size()) - 3);
  std::string bar;
  if (steps_ > 0 && room >= 5) {
    const bool pretty = terminal_speaks_utf8();
    const int filled = static_cast<int>(fraction * room);
    for (int i = 0; i < room; ++i) bar += i < filled ? (pretty ? "█" : "#") : (pretty ? "░" : ".");
    bar = " [" + bar + "]";
  }
  write_stderr("\r\033[K" + name + bar + numbers);
  bar_shown_ = true;
}

void ProgressDisplay::clear_bar() {
  if (!bar_shown_) return;
  write_stderr("\r\033[K");
  bar_shown_ = false;
}

}  // namespace lepus::app
