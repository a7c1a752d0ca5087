// SPDX-License-Identifier: Apache-2.0
#include "core/io_threads.h"

#include <algorithm>
#include <memory>
#include <thread>

#include <unistd.h>

#include "core/check_numbers.h"
#include "core/threads.h"

namespace lepus {

namespace {

// More did not make any disk faster that was measured; memory files of sixteen cores still gain at eight.
constexpr int maximum_useful = 16;

std::atomic<int> thread_limit = 0;

struct Pool {
  std::mutex busy;
  ::pid_t owner = ::getpid();  // threads do not live on in a fork
  ThreadPool threads{io_threads()};
};

Pool& pool() {
  static Pool pool;
  return pool;
}

thread_local bool is_inside = false;  // of a body: its own files it moves alone

}  // namespace

void limit_io_threads(int threads) {
  check_threads(threads);
  thread_limit = threads;
}

int io_threads() {
  const int hardware = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::clamp(thread_limit > 0 ? thread_limit.load() : hardware, 1, maximum_useful);
}

int io_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
  const auto wanted = static_cast<int>(std::min<std::int64_t>({count, threads, io_threads()}));
  const auto alone = [&] {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return 1;
  };
  if (wanted < 2 || is_inside) return alone();
  Pool& shared = pool();
  if (shared.owner != ::getpid()) return alone();
  const std::unique_lock lock(shared.busy, std::try_to_lock);
  if (!lock.owns_lock()) return alone();
  std::atomic<std::int64_t> next = 0;
  shared.threads.parallel_for(0, std::min(wanted, shared.threads.size()), 1, [&](std::int64_t, std::int64_t, int) {
    is_inside = true;
    try {
      for (std::int64_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      is_inside = false;
      next = count;
      throw;
    }
    is_inside = false;
  });
  return wanted;
}

MeasuredThreads::MeasuredThreads(int maximum) {
  for (int threads = 1; threads <= maximum; threads *= 2) trials_.push_back({.threads = threads});
  if (trials_.empty()) trials_.push_back({});
}

int MeasuredThreads::next() const { return chosen_; }

void MeasuredThreads::took(int threads, std::int64_t bytes, double seconds) {
  const std::scoped_lock lock(mutex_);
  if (current_ == trials_.size() || threads != trials_[current_].threads) return;
  Trial& trial = trials_[current_];
  trial.bytes += bytes;
  trial.seconds += seconds;
  if (trial.bytes < trial_bytes) return;
  ++current_;
  choose();
}

void MeasuredThreads::choose() {
  if (current_ < trials_.size()) {
    chosen_ = trials_[current_].threads;
    return;
  }
  const auto rate = [](const Trial& t) { return static_cast<double>(t.bytes) / std::max(t.seconds, 1e-9); };
  double fastest = 0;
  for (const Trial& trial : trials_) fastest = std::max(fastest, rate(trial));
  for (const Trial& trial : trials_)
    if (rate(trial) >= 0.9 * fastest) {
      chosen_ = trial.threads;
      return;
    }
}

}  // namespace lepus
