// SPDX-License-Identifier: Apache-2.0
// What a long operation is given beside its data: threads, a way to be interrupted, somebody to tell how far it is.
#pragma once

#include "core/threads.h"
#include <lepus/progress.h>

namespace lepus {

struct Context {
  ThreadPool& threads;
  const CancelFlag& cancel;
  Progress& progress;
};

}  // namespace lepus
