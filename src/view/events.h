// SPDX-License-Identifier: Apache-2.0
// What happens while the page is open, for everybody who listens: the last events, numbered.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace lepus::view {

class Events {
public:
  void publish(const std::string& name, const std::string& json);

  // Of one who listens: where he is, and the next events as server-sent events has them; "" after `patience`.
  std::uint64_t now() const;
  std::string next(std::uint64_t& place, std::chrono::milliseconds patience) const;

  // How many listen, and for how long nobody has who did before.
  void joined();
  void left();
  int listeners() const;
  bool deserted(std::chrono::milliseconds for_so_long) const;

private:
  struct Event {
    std::uint64_t number;
    std::string text;
  };
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Event> recent_;
  std::uint64_t last_ = 0;
  int listeners_ = 0;
  bool had_listeners_ = false;
  std::chrono::steady_clock::time_point empty_since_;
};

}  // namespace lepus::view
