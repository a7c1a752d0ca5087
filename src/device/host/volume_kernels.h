// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/volume_kernels.h"

namespace lepus::host {

std::unique_ptr<VolumeKernels> make_volume_kernels();

}  // namespace lepus::host
