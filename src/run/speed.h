// SPDX-License-Identifier: Apache-2.0
// How fast this machine filters and backprojects a given scan, timed on a small piece of it (a fraction of a second),
// for the time that a plan promises. The disk is not timed: MachineSpeed's assumption stands.
#pragma once

#include "device/device.h"
#include "run/plan.h"
#include "run/sweep.h"

namespace lepus {

MachineSpeed measured_speed(const SweepJob& job, Device& device, ThreadPool& threads);

}  // namespace lepus
