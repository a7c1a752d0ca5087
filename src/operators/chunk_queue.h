// SPDX-License-Identifier: Apache-2.0
// The pieces of an operator's plan, handed out one by one to whichever device asks next.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "operators/plan.h"

namespace lepus {

class ChunkQueue {
public:
  explicit ChunkQueue(const OperatorPlan& plan) : plan_(plan) {}

  const OperatorPlan& plan() const { return plan_; }

  // The next chunk, for all views.
  std::optional<std::size_t> next_chunk() {
    const std::lock_guard lock(mutex_);
    if (stopped_ || chunk_ == plan_.chunks.size()) return {};
    return chunk_++;
  }
  // The next wedge of the first chunk that has one left.
  struct Step {
    std::size_t chunk = 0, wedge = 0;
  };
  std::optional<Step> next_step() {
    const std::lock_guard lock(mutex_);
    if (stopped_ || chunk_ == plan_.chunks.size()) return {};
    const Step step{chunk_, wedge_};
    if (++wedge_ == plan_.wedges.size()) {
      wedge_ = 0;
      ++chunk_;
    }
    return step;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

private:
  const OperatorPlan& plan_;
  std::mutex mutex_;
  std::size_t chunk_ = 0, wedge_ = 0;
  bool stopped_ = false;
};

}  // namespace lepus
