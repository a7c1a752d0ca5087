// SPDX-License-Identifier: Apache-2.0
// Slices of a volume as they lie in memory, to planes of voxels on one axis: layers of textures, or rows of linear
// memory. Planes on x have y along their rows: they are turned in shared memory, so that a warp both reads and writes
// neighbours.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_launch.h"

namespace lepus::cuda {
namespace {

constexpr int plane_side = 32, plane_lines = 8;

template <int axis, bool sheets>
__device__ void put_voxel(const PlaneStore& store, int x, int y, int z, float voxel) {
  const int layer = axis == 0 ? x : axis == 1 ? y : z;
  const int column = axis == 0 ? y : x, row = axis == 2 ? y : z;
  if (sheets)
    surf2DLayeredwrite(voxel, store.sheet[layer / layers_per_sheet], column * static_cast<int>(sizeof(float)), row,
                       layer % layers_per_sheet);
  else
    store.rows[layer * store.plane + row * store.row + column] = voxel;
}

template <int axis, bool sheets>
__global__ void __launch_bounds__(plane_side* plane_lines) store_planes(const __grid_constant__ PlaneStore store) {
  __shared__ float tile[axis == 0 ? plane_side : 1][plane_side + 1];
  const int tx = static_cast<int>(threadIdx.x), x0 = static_cast<int>(blockIdx.x) * plane_side;
  const int y0 = static_cast<int>(blockIdx.y) * plane_side, z = static_cast<int>(blockIdx.z);
  for (int ty = static_cast<int>(threadIdx.y); ty < plane_side; ty += plane_lines) {
    const int x = x0 + tx, y = y0 + ty;
    if (x >= store.nx || y >= store.ny) continue;
    const float voxel =
        z < store.slices ? store.voxels[(static_cast<std::int64_t>(z) * store.ny + y) * store.nx + x] : 0.0f;
    if (axis == 0)
      tile[ty][tx] = voxel;
    else
      put_voxel<axis, sheets>(store, x, y, z, voxel);
  }
  if (axis != 0) return;
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < plane_side; ty += plane_lines)
    if (x0 + ty < store.nx && y0 + tx < store.ny)
      put_voxel<axis, sheets>(store, x0 + ty, y0 + tx, z, tile[axis == 0 ? tx : 0][ty]);
}

template <bool sheets>
void launch_store_on(int axis, const PlaneStore& store, cudaStream_t stream) {
  const auto tiles = [](int n) { return static_cast<unsigned>((n + plane_side - 1) / plane_side); };
  const dim3 block(plane_side, plane_lines),
      blocks(tiles(store.nx), tiles(store.ny), static_cast<unsigned>(store.written));
  if (axis == 0)
    store_planes<0, sheets><<<blocks, block, 0, stream>>>(store);
  else if (axis == 1)
    store_planes<1, sheets><<<blocks, block, 0, stream>>>(store);
  else
    store_planes<2, sheets><<<blocks, block, 0, stream>>>(store);
}

}  // namespace

void launch_plane_store(int axis, const PlaneStore& store, cudaStream_t stream) {
  if (store.rows == nullptr)
    launch_store_on<true>(axis, store, stream);
  else
    launch_store_on<false>(axis, store, stream);
  check_launch("the store of a volume's planes");
}

}  // namespace lepus::cuda
