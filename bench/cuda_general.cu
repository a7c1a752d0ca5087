// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/backproject_general.cuh"
#include "cuda_shapes.cuh"

namespace lepus::bench {

std::vector<KernelShape> general_shapes() {
  using namespace cuda;
  return {
      LEPUS_SHAPE(launch_general_as, quad, 4, 4, 2, 8, 1),    LEPUS_SHAPE(launch_general_as, quad, 4, 4, 2, 4, 2),
      LEPUS_SHAPE(launch_general_as, quad, 2, 4, 3, 16, 1),   LEPUS_SHAPE(launch_general_as, quad, 2, 4, 4, 12, 1),
      LEPUS_SHAPE(launch_general_as, along_x, 4, 4, 2, 8, 1), LEPUS_SHAPE(launch_general_as, along_y, 4, 4, 2, 8, 1),
  };
}

}  // namespace lepus::bench
