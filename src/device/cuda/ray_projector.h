// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/ray_projector.h"

namespace lepus::cuda {

// `fast` (and `half`): A by the texture unit's weights; `exact`: by fp32 weights. A' has fp32 weights in both.
std::unique_ptr<RayProjector> make_ray_projector(int device, const RayProjectorSetup& setup);

}  // namespace lepus::cuda
