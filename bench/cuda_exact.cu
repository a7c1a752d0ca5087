// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/backproject_exact.cuh"
#include "cuda_shapes.cuh"

namespace lepus::bench {

std::vector<KernelShape> exact_shapes() {
  using namespace cuda;
  return {
      LEPUS_SHAPE(launch_exact_as, quad, 4, 4, 2, 8, 1),
      LEPUS_SHAPE(launch_exact_as, quad, 2, 4, 3, 16, 1),
      LEPUS_SHAPE(launch_exact_as, along_x, 4, 4, 2, 8, 1),
  };
}

}  // namespace lepus::bench
