// SPDX-License-Identifier: Apache-2.0
// The lengths that the fused row filter is compiled for, ascending.
#pragma once

#include "device/cuda/row_filter_job.h"

namespace lepus::cuda {

extern const FusedLength short_lengths[7];
extern const FusedLength long_lengths[4];

}  // namespace lepus::cuda
