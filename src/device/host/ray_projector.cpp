// SPDX-License-Identifier: Apache-2.0
#include "device/host/ray_projector.h"

namespace lepus::host {

std::unique_ptr<RayProjector> make_ray_projector(const RayProjectorSetup& setup, WeightPrecision precision) {
  if (precision == WeightPrecision::double_precision) return make_plain_projector(setup, precision);
  if (setup.model == RayModel::joseph) return make_joseph_projector(setup);
  if (setup.model == RayModel::siddon) return make_siddon_projector(setup);
  if (setup.model == RayModel::voxel) return make_voxel_projector(setup);
  return make_footprint_projector(setup);
}

}  // namespace lepus::host
