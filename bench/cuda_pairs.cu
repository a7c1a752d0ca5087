// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/backproject_circular.cuh"
#include "cuda_shapes.cuh"

namespace lepus::bench {
namespace {

template <int K, int C, class Tile, bool every_beam>
void launch(const cuda::ViewBlock& views, const cuda::SlabOnDevice& slab, const cuda::Launch& how) {
  cuda::launch_circular_as<2, K, C, Tile, every_beam>(views, slab, how);
}

}  // namespace

std::vector<KernelShape> pair_shapes() {
  using namespace cuda;
  return {
      LEPUS_SHAPE(launch, quad, 4, 4, 2, 8, 1),
      LEPUS_SHAPE(launch, quad, 2, 4, 1, 8, 1),
      LEPUS_SHAPE(launch, along_x, 4, 4, 2, 8, 1),
      LEPUS_SHAPE(launch, along_y, 4, 4, 2, 8, 1),
  };
}

}  // namespace lepus::bench
