// SPDX-License-Identifier: Apache-2.0
// What a caller says of the machine, before anything is opened: calls that may not need a device refuse it as those do
// that open one.
#pragma once

#include <lepus/compute.h>

namespace lepus {

// Throws Error(usage) where there is no such backend or precision, where the devices are no list of numbers, or where a
// limit is none. Whether they can be used here is not looked at.
void check_compute(const Compute& compute);

}  // namespace lepus
