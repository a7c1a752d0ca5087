// SPDX-License-Identifier: Apache-2.0
// Footprints on a device for scans whose views are all upright: whether its kernels serve a scan, and work in pieces
// that fit the memory.
#pragma once

#include <memory>

#include "device/ray_projector.h"

namespace lepus::cuda {

// None where a view is not upright (project/ray_views.h), or pixels and voxels differ in size by more than the kernels
// have memory for: pixels some 5 voxels wide or voxels some 20 pixels wide.
std::unique_ptr<RayProjector> make_upright_footprints(int device, const RayProjectorSetup& setup);

}  // namespace lepus::cuda
