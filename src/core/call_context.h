// SPDX-License-Identifier: Apache-2.0
// The context that a call of the API works in, made of what its caller gave.
#pragma once

#include <cstdint>

#include "core/context.h"
#include <lepus/call.h>

namespace lepus {

class CallContext {
public:
  explicit CallContext(const Call& call);

  Context& context() { return context_; }
  std::int64_t memory_bytes() const;  // the limit
  // What the limit leaves for buffers: the program itself is there already. Throws Error(memory), which says what would
  // do, where that is below what is needed.
  std::int64_t buffer_bytes(std::int64_t needed) const;

private:
  std::int64_t memory_bytes_;
  CancelFlag never_;
  Progress silent_;
  ThreadPool threads_;
  Context context_;
};

}  // namespace lepus
