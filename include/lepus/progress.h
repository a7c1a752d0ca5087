// SPDX-License-Identifier: Apache-2.0
// How a long call says how far it is, and how it is interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <lepus/error.h>

namespace lepus {

// The library tells; the program decides how to show it. Calls may come from any thread, several at a time.
class LEPUS_API Progress {
public:
  virtual ~Progress() = default;
  virtual void begin(std::string_view /*stage*/, std::int64_t /*steps*/) {}
  virtual void advance(std::int64_t /*steps*/ = 1) {}
  virtual void end() {}
  virtual void note(const std::string& /*message*/) {}     // worth saying
  virtual void warning(const std::string& /*message*/) {}  // something the user should look at
};

// A flag that a signal handler or another thread sets and that every long loop looks at. The call that is interrupted
// throws Error(cancelled); a volume file that it had begun stays beside the output, to go on with (docs/restart.md).
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
