// SPDX-License-Identifier: Apache-2.0
#include "device/host/ray_projector.h"

namespace lepus::host {

std::unique_ptr<RayProjector> make_ray_projector(const Backend& backend, const RayProjectorSetup& setup) {
  return make_plain_projector(
      setup, backend.name() == "reference" ? WeightPrecision::double_precision : WeightPrecision::single_precision);
}

}  // namespace lepus::host
