// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <lepus/ranks.h>

namespace lepus {
namespace {

constexpr std::chrono::milliseconds exchange_interval(200);

class SharedProgress final : public RankProgress {
public:
  SharedProgress(Ranks& ranks, Progress& shown, std::string shared_stage)
      : shown_(shown), ranks_(ranks), shared_stage_(std::move(shared_stage)) {}

  void begin(std::string_view stage, std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  void end() override;
  void note(const std::string& message) override;
  void warning(const std::string& message) override;
  void give_warnings_of_all() override;

private:
  void exchange();

  Progress& shown_;
  Ranks& ranks_;
  std::string shared_stage_;
  std::atomic<bool> shared_ = false;  // the stage is that
  std::atomic<std::int64_t> pending_{0};
  std::mutex mutex_;
  std::int64_t seen_ = 0;  // steps of the others that rank 0 has shown
  std::chrono::steady_clock::time_point exchanged_ = {};
  std::set<std::string> warnings_;
};

void SharedProgress::begin(std::string_view stage, std::int64_t steps) {
  shared_ = stage == shared_stage_;
  if (ranks_.first()) shown_.begin(stage, steps);
}

void SharedProgress::advance(std::int64_t steps) {
  if (!shared_) {
    if (ranks_.first()) shown_.advance(steps);
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
  if (ranks_.first()) shown_.end();
}

// Rank 0 asks even where it has nothing to add: MPI may need it to answer others.
void SharedProgress::exchange() {
  const std::int64_t mine = pending_.exchange(0);
  if (!ranks_.first()) {
    ranks_.fetch_add(steps_done, mine);
    return;
  }
  const std::int64_t others = ranks_.fetch_add(steps_done, 0);
  shown_.advance(mine + others - seen_);
  seen_ = others;
}

void SharedProgress::note(const std::string& message) {
  if (ranks_.first()) shown_.note(message);
}

void SharedProgress::warning(const std::string& message) {
  const std::lock_guard lock(mutex_);
  warnings_.insert(message);
  if (ranks_.first()) shown_.warning(message);
}

void SharedProgress::give_warnings_of_all() {
  std::string mine;
  for (const std::string& warning : warnings_) mine += warning + '\x1f';
  for (const std::string& list : ranks_.gather(mine))
    for (std::size_t at = 0, end = 0; (end = list.find('\x1f', at)) != std::string::npos; at = end + 1)
      if (const std::string one = list.substr(at, end - at); ranks_.first() && !warnings_.contains(one)) warning(one);
}

}  // namespace

std::unique_ptr<RankProgress> progress_of_ranks(Ranks& ranks, Progress& shown, std::string shared_stage) {
  return std::make_unique<SharedProgress>(ranks, shown, std::move(shared_stage));
}

}  // namespace lepus
