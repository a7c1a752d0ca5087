// SPDX-License-Identifier: Apache-2.0
// The scan's operator and its transpose on the host. No voxel and no ray is ever summed by two threads: A shares out
// detector rows, its transpose tiles of voxel columns.
#pragma once

#include <memory>

#include "device/ray_projector.h"

namespace lepus::host {

enum class WeightPrecision { single_precision, double_precision };

// In single precision SIMD for all of them, the voxel transpose by the FDK kernels; in double precision, the reference,
// plain loops for all of them.
std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup, WeightPrecision precision);

// What it chooses from.
std::unique_ptr<RayProjector> make_plain_projector(const RayProjectorSetup& setup, WeightPrecision precision);
std::unique_ptr<RayProjector> make_joseph_projector(const RayProjectorSetup& setup);
std::unique_ptr<RayProjector> make_siddon_projector(const RayProjectorSetup& setup);
std::unique_ptr<RayProjector> make_footprint_projector(const RayProjectorSetup& setup);
std::unique_ptr<RayProjector> make_voxel_projector(const RayProjectorSetup& setup);

}  // namespace lepus::host
