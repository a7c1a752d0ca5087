// SPDX-License-Identifier: Apache-2.0
// A flag that a signal handler or another thread sets and that every long loop looks at.
#pragma once

#include <atomic>

#include <lepus/error.h>

namespace lepus {

class CancelFlag {
public:
  void cancel() noexcept { flag_.store(true); }
  bool cancelled() const noexcept { return flag_.load(std::memory_order_relaxed); }
  void check() const {
    if (cancelled()) throw Error(ErrorKind::cancelled, {.what = "interrupted", .where = {}, .why = {}, .hint = {}});
  }

private:
  std::atomic<bool> flag_{false};
};

}  // namespace lepus
