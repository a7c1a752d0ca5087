// SPDX-License-Identifier: Apache-2.0
// What several projectors use in turn, because they work in one queue: an operator and its subsets then hold one copy
// of what is filled anew at each use. It is given back with the last of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lepus {

template <class Thing>
class QueueShare {
public:
  // One that fits, or else what `make` returns.
  template <class Fits, class Make>
  std::shared_ptr<Thing> get(std::uint64_t queue, const Fits& fits, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& entry) { return entry.thing.expired(); });
    for (const Entry& entry : entries_)
      if (auto held = entry.thing.lock(); entry.queue == queue && held && fits(*held)) return held;
    std::shared_ptr<Thing> made = make();
    entries_.push_back({queue, made});
    return made;
  }

private:
  struct Entry {
    std::uint64_t queue;
    std::weak_ptr<Thing> thing;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace lepus
