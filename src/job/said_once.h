// SPDX-License-Identifier: Apache-2.0
// A job looks at the scan more than once (for its axis, then for the volume) and would give the same warning each time.
// Passes everything on but warnings that were given before.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/context.h"

namespace lepus {

class SaidOnce final : public Progress {
public:
  explicit SaidOnce(Progress& to) : to_(to) {}
  void begin(std::string_view stage, std::int64_t steps) override { to_.begin(stage, steps); }
  void advance(std::int64_t steps) override { to_.advance(steps); }
  void end() override { to_.end(); }
  void note(const std::string& message) override { to_.note(message); }
  void warning(const std::string& message) override {
    const std::lock_guard lock(mutex_);
    if (said_.insert(message).second) to_.warning(message);
  }

private:
  Progress& to_;
  std::mutex mutex_;
  std::set<std::string> said_;
};

}  // namespace lepus
