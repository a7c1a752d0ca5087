// SPDX-License-Identifier: Apache-2.0
// What a long operation is given beside its data: threads, a way to be interrupted, somebody to tell how far it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/threads.h"
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

// The library tells; the program decides how to show it. Calls may come from any thread.
class Progress {
public:
  virtual ~Progress() = default;
  virtual void begin(std::string_view /*stage*/, std::int64_t /*steps*/) {}
  virtual void advance(std::int64_t /*steps*/ = 1) {}
  virtual void end() {}
  virtual void note(const std::string& /*message*/) {}     // worth saying
  virtual void warning(const std::string& /*message*/) {}  // something the user should look at
};

struct Context {
  ThreadPool& threads;
  const CancelFlag& cancel;
  Progress& progress;
};

}  // namespace lepus
