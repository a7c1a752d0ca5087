// SPDX-License-Identifier: Apache-2.0
// Transforms up to 5120 points: rows up to 2560 columns.
#include "device/cuda/row_filter_fused.cuh"
#include "device/cuda/row_filter_lengths.h"

namespace lepus::cuda {

const FusedLength short_lengths[7] = {
    fused_length<16, 4, 64, 16>(),  fused_length<16, 6, 96, 10>(),  fused_length<16, 8, 128, 8>(),
    fused_length<16, 10, 160, 6>(), fused_length<16, 12, 192, 5>(), fused_length<16, 16, 256, 4>(),
    fused_length<16, 20, 160, 4>(),
};

}  // namespace lepus::cuda
