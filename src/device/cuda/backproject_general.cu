// SPDX-License-Identifier: Apache-2.0
// The shape of the kernel for general matrices that was fastest; bench_cuda_backprojection --sweep has the others.
#include "device/cuda/backproject_general.cuh"

namespace lepus::cuda {

void launch_general(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  launch_general_as<8, 1, Tile<Lanes::quad, 4, 4, 2>>(views, slab, launch);
}

}  // namespace lepus::cuda
