// SPDX-License-Identifier: Apache-2.0
#include "view/events.h"

#include "core/format.h"

namespace lepus::view {
namespace {

constexpr std::size_t kept_events = 64;  // a listener that is slower loses the oldest: each says "ask again"

}  // namespace

void Events::publish(const std::string& name, const std::string& json) {
  {
    const std::scoped_lock lock(mutex_);
    recent_.push_back({++last_, format("event: {}\ndata: {}\n\n", name, json)});
    if (recent_.size() > kept_events) recent_.pop_front();
  }
  changed_.notify_all();
}

std::uint64_t Events::now() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

std::string Events::next(std::uint64_t& place, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return last_ > place; });
  std::string text;
  for (const Event& event : recent_)
    if (event.number > place) text += event.text;
  place = last_;
  return text;
}

void Events::joined() {
  const std::scoped_lock lock(mutex_);
  ++listeners_;
  had_listeners_ = true;
}

void Events::left() {
  const std::scoped_lock lock(mutex_);
  if (--listeners_ == 0) empty_since_ = std::chrono::steady_clock::now();
}

int Events::listeners() const {
  const std::scoped_lock lock(mutex_);
  return listeners_;
}

bool Events::deserted(std::chrono::milliseconds for_so_long) const {
  const std::scoped_lock lock(mutex_);
  return had_listeners_ && listeners_ == 0 && std::chrono::steady_clock::now() - empty_since_ >= for_so_long;
}

}  // namespace lepus::view
