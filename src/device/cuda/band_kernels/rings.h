// SPDX-License-Identifier: Apache-2.0
// Ring removal on a CUDA device: sinograms in its memory, work that may be under way at return.
#pragma once

#include "device/device.h"
#include "project/ring_options.h"

namespace lepus::cuda {

void remove_rings(const Planes& sinograms, const RingOptions& options, Queue& queue);

}  // namespace lepus::cuda
