// SPDX-License-Identifier: Apache-2.0
// A correction wherever it can be done: where the band lies, or, where that device lacks a kernel for it, on the host.
#pragma once

#include "correct/correction.h"

namespace lepus {

// The band lies in the memory of the queue's device. host: a queue of the host's, which has all kernels; where it is
// used, the work is done at return.
void apply_correction(Correction& correction, const SinogramBand& band, RowBand wanted, Queue& queue, Queue& host);

}  // namespace lepus
