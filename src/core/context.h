// SPDX-License-Identifier: Apache-2.0
// What a long operation is given beside its data: threads, a way to be interrupted, somebody to tell how far it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/cancel.h"
#include "core/threads.h"

namespace lepus {

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
