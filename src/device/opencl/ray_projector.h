// SPDX-License-Identifier: Apache-2.0
// A scan's operator and its transpose on an OpenCL device (kernels/ray_projector.cl). Needs double precision there:
// rays are set up in it.
#pragma once

#include <memory>

#include "device/opencl/context.h"
#include "device/ray_projector.h"

namespace lepus::opencl {

// Joseph and voxel in fast precision leave the weights of A (voxel: of both) to the sampler, where the device has
// images that work; all the rest has fp32 weights.
std::unique_ptr<RayProjector> make_ray_projector(Device& device, Context& context, const RayProjectorSetup& setup);

}  // namespace lepus::opencl
