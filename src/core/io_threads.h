// SPDX-License-Identifier: Apache-2.0
// Threads for reading, unpacking and writing files: one pool of the process, beside those that compute, since a file
// is moved while the next voxels are made.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <lepus/call.h>

namespace lepus {

int io_threads();  // at most so many (limit_io_threads)

// body(i) for every i of [0, count), on at most `threads` threads of the pool; by the caller alone while others use it.
// Returns how many worked. The first exception is rethrown and stops the rest.
int io_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

// How many threads at once a disk takes best, measured while it is written: each number is tried for a while, then the
// smallest is kept that is not slower than the fastest by more than a tenth. Any thread may call.
class MeasuredThreads {
public:
  explicit MeasuredThreads(int maximum);
  int next() const;
  void took(int threads, std::int64_t bytes, double seconds);

private:
  struct Trial {
    int threads = 1;
    std::int64_t bytes = 0;
    double seconds = 0;
  };
  void choose();

  static constexpr std::int64_t trial_bytes = std::int64_t{64} << 20;
  std::mutex mutex_;
  std::vector<Trial> trials_;  // 1, 2, 4, ...
  std::size_t current_ = 0;
  std::atomic<int> chosen_ = 1;
};

}  // namespace lepus
