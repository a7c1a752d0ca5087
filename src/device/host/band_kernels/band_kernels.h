// SPDX-License-Identifier: Apache-2.0
// All operations on bands on the host's threads.
#pragma once

#include "device/band_kernels.h"

namespace lepus::host {

std::unique_ptr<BandKernels> make_band_kernels();

}  // namespace lepus::host
