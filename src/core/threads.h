// SPDX-License-Identifier: Apache-2.0
// Threads for loops whose iterations are independent. std::thread rather than oneTBB: all our loops are flat ranges,
// the pool is a page of code, and a build without another dependency runs anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/cancel.h"

namespace lepus {

class ThreadPool {
public:
  // threads = 0: one per hardware thread. With a flag, every parallel_for stops between two pieces once it is set.
  explicit ThreadPool(int threads = 0, const CancelFlag* cancel = nullptr);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(begin, end, worker) on disjoint pieces of [begin, end) of at most `grain` iterations, on all workers and
  // the calling thread; worker is in [0, size()) and is unique among bodies running at the same time, so that it can
  // index scratch buffers. Returns when all are done; the first exception is rethrown and stops the rest. Not
  // re-entrant.
  void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t, int)>& body);

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus
