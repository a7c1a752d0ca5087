// SPDX-License-Identifier: Apache-2.0
// Transforms up to 16384 points: rows up to 8192 columns.
#include "device/cuda/row_filter_fused.cuh"
#include "device/cuda/row_filter_lengths.h"

namespace lepus::cuda {

const FusedLength long_lengths[4] = {
    fused_length<16, 24, 256, 2>(),
    fused_length<16, 32, 256, 2>(),
    fused_length<32, 24, 512, 1>(),
    fused_length<32, 32, 512, 1>(),
};

}  // namespace lepus::cuda
