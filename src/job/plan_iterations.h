// SPDX-License-Identifier: Apache-2.0
// What iterate_scan would do: memory, how the operator is cut, time, saved states. Nothing is reconstructed or written.
#pragma once

#include "run/reconstruct_scan.h"

namespace lepus {

// The plan of an iterative method. Throws what iterate_scan would throw before its first iteration: Error(memory)
// where the vectors or the operator do not fit, Error(usage) for choices that the method does not have.
PlanReport plan_iterations(const Scan& scan, const ReconstructOptions& options, Context& context);

}  // namespace lepus
