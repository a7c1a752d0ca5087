// SPDX-License-Identifier: Apache-2.0
#include "trap.h"

namespace lepus {
namespace {

__global__ void trap_kernel() { __trap(); }

}  // namespace

void launch_trap() { trap_kernel<<<1, 1>>>(); }

}  // namespace lepus
