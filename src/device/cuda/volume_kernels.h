// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/volume_kernels.h"

namespace lepus::cuda {

std::unique_ptr<VolumeKernels> make_volume_kernels(int device);

}  // namespace lepus::cuda
