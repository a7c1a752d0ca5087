// SPDX-License-Identifier: Apache-2.0
// A few threads for one request that waits for many small reads: a disk answers several at once, and chunks are
// unpacked on several cores. Requests themselves run side by side, so that more would not help.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <vector>

namespace lepus::view {

inline constexpr std::int64_t threads_that_read = 16, threads_that_unpack = 4;

// body(i) for i in [0, count), in any order; the first exception is rethrown when all have ended.
inline void in_parallel(std::int64_t threads, std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::future<void>> helpers;
  for (std::int64_t i = 1; i < std::min(threads, count); ++i) helpers.push_back(std::async(std::launch::async, work));
  std::exception_ptr failed;
  const auto keep = [&](const std::function<void()>& part) {
    try {
      part();
    } catch (...) {
      if (!failed) failed = std::current_exception();
      next = count;
    }
  };
  keep(work);
  for (auto& helper : helpers) keep([&] { helper.get(); });
  if (failed) std::rethrow_exception(failed);
}

}  // namespace lepus::view
