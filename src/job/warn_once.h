// SPDX-License-Identifier: Apache-2.0
// A job looks at the scan more than once (for its axis, then for the volume) and would give the same warning each time.
// Passes everything on but warnings that were given before.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "core/forwarded_progress.h"

namespace lepus {

class WarnOnce final : public ForwardedProgress {
public:
  using ForwardedProgress::ForwardedProgress;
  void warning(const std::string& message) override {
    const std::lock_guard lock(mutex_);
    if (given_.insert(message).second) ForwardedProgress::warning(message);
  }

private:
  std::mutex mutex_;
  std::set<std::string> given_;
};

}  // namespace lepus
