// SPDX-License-Identifier: Apache-2.0
#include "ranks/shared_progress.h"

namespace lepus {
namespace {

constexpr std::chrono::milliseconds exchange_interval(200);

}  // namespace

void SharedProgress::begin(std::string_view stage, std::int64_t steps) {
  shared_ = stage == shared_stage_;
  if (ranks_.first()) ForwardedProgress::begin(stage, steps);
}

void SharedProgress::advance(std::int64_t steps) {
  if (!shared_) {
    if (ranks_.first()) ForwardedProgress::advance(steps);
    return;
  }
  pending_ += steps;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (!lock.owns_lock() || now - exchanged_ < exchange_interval) return;
  exchanged_ = now;
  exchange();
}

void SharedProgress::end() {
  if (shared_.exchange(false)) {
    const std::lock_guard lock(mutex_);
    exchange();
  }
  if (ranks_.first()) ForwardedProgress::end();
}

// Rank 0 asks even where it has nothing to add: MPI may need it to answer others.
void SharedProgress::exchange() {
  const std::int64_t mine = pending_.exchange(0);
  if (!ranks_.first()) {
    ranks_.fetch_add(steps_done, mine);
    return;
  }
  const std::int64_t others = ranks_.fetch_add(steps_done, 0);
  ForwardedProgress::advance(mine + others - seen_);
  seen_ = others;
}

void SharedProgress::note(const std::string& message) {
  if (ranks_.first()) ForwardedProgress::note(message);
}

void SharedProgress::warning(const std::string& message) {
  const std::lock_guard lock(mutex_);
  warnings_.insert(message);
  if (ranks_.first()) ForwardedProgress::warning(message);
}

void SharedProgress::give_warnings_of_all() {
  std::string mine;
  for (const std::string& warning : warnings_) mine += warning + '\x1f';
  for (const std::string& list : ranks_.gather(mine))
    for (std::size_t at = 0, end = 0; (end = list.find('\x1f', at)) != std::string::npos; at = end + 1)
      if (const std::string one = list.substr(at, end - at); ranks_.first() && !warnings_.contains(one)) warning(one);
}

}  // namespace lepus
