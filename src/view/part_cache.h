// SPDX-License-Identifier: Apache-2.0
// Parts of volumes that were read lately: unpacked chunks and slices, blocks of columns. Bounded; what was not asked
// for longest goes first. Threads that want the same part at the same time read it once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "io/volume_part.h"

namespace lepus::view {

class PartCache {
public:
  using Values = std::shared_ptr<const std::vector<float>>;

  explicit PartCache(std::int64_t bytes) : limit_(bytes) {}

  using Reader = std::function<void(const VolumePart& part, float* out)>;

  // `source`: a number that only this reader has. Its errors go to everybody who waits for the part.
  Values get(std::uint64_t source, const VolumePart& part, const Reader& read);
  std::int64_t bytes() const;
  std::int64_t limit() const { return limit_; }

  static std::uint64_t new_source();

private:
  using Key = std::array<std::int64_t, 10>;
  struct Entry {
    std::shared_future<Values> values;
    std::int64_t bytes = 0;  // 0: still being read
    std::list<Key>::iterator place;
  };
  void make_space();

  const std::int64_t limit_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> recent_;  // the latest first
  std::int64_t bytes_ = 0;
};

}  // namespace lepus::view
