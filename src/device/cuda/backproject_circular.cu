// SPDX-License-Identifier: Apache-2.0
// The shapes of the kernels for circular orbits that were fastest; bench_cuda_backprojection --sweep has the others.
#include "device/cuda/backproject_circular.cuh"

namespace lepus::cuda {

// The texture unit reads the 8-byte texels of a quad of lanes in one pass where they lie within four pixels: with
// voxels of two pixels and more only lanes along the rays do. (Quarter turns see every other place across the rays.)
void launch_pairs(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  switch (launch.rays) {
    case Rays::any:
      return launch_circular_as<2, 8, 1, Tile<Lanes::quad, 4, 4, 2>>(views, slab, launch);
    case Rays::along_x:
      return launch_circular_as<2, 8, 1, Tile<Lanes::along_x, 4, 4, 2>>(views, slab, launch);
    case Rays::along_y:
      return launch_circular_as<2, 8, 1, Tile<Lanes::along_y, 4, 4, 2>>(views, slab, launch);
  }
}

void launch_quads(const ViewBlock& views, const SlabOnDevice& slab, const Launch& launch) {
  launch_circular_as<4, 8, 1, Tile<Lanes::quad, 4, 4, 2>>(views, slab, launch);
}

}  // namespace lepus::cuda
