// SPDX-License-Identifier: Apache-2.0
// For tests: what a call runs with, of its own.
#pragma once

#include "core/context.h"

namespace lepus {

struct TestContext {
  ThreadPool threads{2};
  CancelFlag cancel;
  Progress progress;
  Context context{threads, cancel, progress};
};

}  // namespace lepus
