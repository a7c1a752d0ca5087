// SPDX-License-Identifier: Apache-2.0
// The operations on bands that OpenCL devices have: stages, hot pixels, rings by the trend of a bilateral filter and by
// sorting. All need double precision on the device.
#pragma once

#include <memory>

#include "device/band_kernels.h"
#include "device/opencl/context.h"

namespace lepus::opencl {

std::unique_ptr<BandKernels> make_band_kernels(const Context& context);

}  // namespace lepus::opencl
