// SPDX-License-Identifier: Apache-2.0
// The filters on a CUDA device: stacks in its memory, work that may be under way at return.
#pragma once

#include "device/device.h"
#include "project/filter_options.h"

namespace lepus::cuda {

void filter(const Planes& in, const Planes& out, const FilterOptions& options, const FilterCut& cut, Queue& queue);

}  // namespace lepus::cuda
