// SPDX-License-Identifier: Apache-2.0
// All operations on bands on a CUDA card.
#pragma once

#include "device/band_kernels.h"

namespace lepus::cuda {

std::unique_ptr<BandKernels> make_band_kernels(int device);

}  // namespace lepus::cuda
