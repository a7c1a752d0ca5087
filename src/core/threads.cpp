// SPDX-License-Identifier: Apache-2.0
#include "core/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/check_numbers.h"
#include "core/format.h"
#include <lepus/error.h>

namespace lepus {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable start, done;
  std::vector<std::thread> workers;
  const std::function<void(std::int64_t, std::int64_t, int)>* body = nullptr;
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0, grain = 1;
  std::exception_ptr failure;
  std::uint64_t generation = 0;
  int running = 0;
  bool stopping = false;
  const CancelFlag* cancel = nullptr;

  void work(int worker) {
    for (;;) {
      const std::int64_t first = next.fetch_add(grain);
      if (first >= end) return;
      try {
        if (cancel) cancel->check();
        (*body)(first, std::min(first + grain, end), worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(end);
      }
    }
  }

  void wait_for_work(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        start.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
      }
      work(worker);
      const std::lock_guard lock(mutex);
      if (--running == 0) done.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    start.notify_all();
    for (auto& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads, const CancelFlag* cancel) : state_(std::make_unique<State>()) {
  check_threads(threads);
  state_->cancel = cancel;
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  try {
    for (int worker = 1; worker < threads; ++worker)
      state_->workers.emplace_back([state = state_.get(), worker] { state->wait_for_work(worker); });
  } catch (const std::system_error& error) {
    const int started = size();
    state_->stop();
    throw Error(ErrorKind::memory, {.what = "no more threads can be started",
                                    .where = {},
                                    .why = format("{} of {} are running: {}", started, threads, error.code().message()),
                                    .hint = "use fewer with --threads, or allow more memory and processes"});
  }
}

ThreadPool::~ThreadPool() { state_->stop(); }

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                              const std::function<void(std::int64_t, std::int64_t, int)>& body) {
  if (begin >= end) return;
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    s.body = &body;
    s.end = end;
    s.grain = std::max<std::int64_t>(1, grain);
    s.next.store(begin);
    s.failure = nullptr;
    s.running = static_cast<int>(s.workers.size());
    ++s.generation;
  }
  s.start.notify_all();
  s.work(0);
  std::unique_lock lock(s.mutex);
  s.done.wait(lock, [&] { return s.running == 0; });
  if (s.failure) std::rethrow_exception(s.failure);
}

}  // namespace lepus
