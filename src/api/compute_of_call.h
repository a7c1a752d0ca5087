// SPDX-License-Identifier: Apache-2.0
// A call says what it may take of the machine; what computes for it takes no more.
#pragma once

#include "core/call_context.h"
#include "device/check_compute.h"
#include <lepus/compute.h>

namespace lepus {

// The threads and the memory of the call where `compute` has none of its own.
inline Compute compute_of_call(Compute compute, const Call& call, const CallContext& working) {
  check_compute(compute);
  if (compute.threads == 0) compute.threads = call.threads;
  if (compute.memory_bytes == 0) compute.memory_bytes = working.memory_bytes();
  return compute;
}

}  // namespace lepus
