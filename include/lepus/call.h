// SPDX-License-Identifier: Apache-2.0
// What a long call is given beside what it is to do: how much of the machine it may take, whom it tells, what ends it.
#pragma once

#include <cstdint>

#include <lepus/progress.h>

namespace lepus {

struct Call {
  int threads = 0;                     // of the host; 0: one per hardware thread
  std::int64_t memory_bytes = 0;       // limit for the whole process; 0: 60 % of what is free
  bool force = false;                  // overwrite outputs that exist
  Progress* progress = nullptr;        // null: nobody is told
  const CancelFlag* cancel = nullptr;  // null: it cannot be interrupted
};

// Threads for reading, unpacking and writing files, of which all calls of the process share one pool, beside those that
// compute: at most so many; 0: one per hardware thread. Before the first call.
LEPUS_API void limit_io_threads(int threads);

}  // namespace lepus
