// SPDX-License-Identifier: Apache-2.0
#include "view/part_cache.h"

#include <atomic>

namespace lepus::view {

std::uint64_t PartCache::new_source() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

PartCache::Values PartCache::get(std::uint64_t source, const VolumePart& part, const Reader& read) {
  const Key key{static_cast<std::int64_t>(source),
                part.first[0],
                part.first[1],
                part.first[2],
                part.end[0],
                part.end[1],
                part.end[2],
                part.step[0],
                part.step[1],
                part.step[2]};
  std::promise<Values> promise;
  {
    std::unique_lock lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.place);
      const auto values = found->second.values;
      lock.unlock();
      return values.get();
    }
    recent_.push_front(key);
    entries_[key] = {promise.get_future().share(), 0, recent_.begin()};
  }
  try {
    auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(part.voxels()));
    read(part, values->data());
    promise.set_value(values);
    const std::scoped_lock lock(mutex_);
    const auto entry = entries_.find(key);
    entry->second.bytes = part.voxels() * static_cast<std::int64_t>(sizeof(float));
    bytes_ += entry->second.bytes;
    make_space();
    return values;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::scoped_lock lock(mutex_);
    const auto entry = entries_.find(key);
    recent_.erase(entry->second.place);
    entries_.erase(entry);
    throw;
  }
}

void PartCache::make_space() {
  for (auto place = recent_.end(); bytes_ > limit_ && place != recent_.begin();) {
    --place;
    const auto entry = entries_.find(*place);
    if (entry->second.bytes == 0) continue;  // its reader will look for it
    bytes_ -= entry->second.bytes;
    place = recent_.erase(place);
    entries_.erase(entry);
  }
}

std::int64_t PartCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace lepus::view
