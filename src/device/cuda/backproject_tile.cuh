// SPDX-License-Identifier: Apache-2.0
// Which voxel column a thread of a block owns. A warp covers 8 x 4 or 32 x 1 columns, a block warps_x x warps_y of
// those; what matters to the texture unit is how far apart the four lanes of a quad look.
#pragma once

namespace lepus::cuda {

enum class Lanes {
  row,      // 32 x 1
  along_x,  // 8 x 4, quads along x
  along_y,  // 8 x 4, quads along y
  quad,     // 8 x 4, quads are 2 x 2
  tall,     // 4 x 8, quads along y
};

// min_blocks: how many blocks must fit a multiprocessor at once; it bounds the registers of a thread.
template <Lanes lanes, int warps_x, int warps_y, int min_blocks_ = 1>
struct Tile {
  static constexpr int min_blocks = min_blocks_;
  static constexpr int warp_x = lanes == Lanes::row ? 32 : lanes == Lanes::tall ? 4 : 8;
  static constexpr int warp_y = 32 / warp_x;
  static constexpr int threads = 32 * warps_x * warps_y;
  static constexpr int nx = warp_x * warps_x, ny = warp_y * warps_y;

  __device__ static int x(int thread) {
    const int l = thread & 31, in_warp = lanes == Lanes::row       ? l
                                         : lanes == Lanes::along_x ? l & 7
                                         : lanes == Lanes::along_y ? l >> 2
                                         : lanes == Lanes::quad    ? (l & 1) | (l >> 1 & 2) | (l >> 2 & 4)
                                                                   : l >> 3;
    return (thread >> 5) % warps_x * warp_x + in_warp;
  }
  __device__ static int y(int thread) {
    const int l = thread & 31, in_warp = lanes == Lanes::row       ? 0
                                         : lanes == Lanes::along_x ? l >> 3
                                         : lanes == Lanes::along_y ? l & 3
                                         : lanes == Lanes::quad    ? (l >> 1 & 1) | (l >> 2 & 2)
                                                                   : l & 7;
    return (thread >> 5) / warps_x * warp_y + in_warp;
  }
};

inline int tiles(int size, int tile) { return (size + tile - 1) / tile; }
// Chunks of K slices, counted from slice 0 of the volume, that a slab touches.
inline int first_chunk(int z0, int k) { return z0 / k; }
inline int chunks(int z0, int z1, int k) { return (z1 + k - 1) / k - z0 / k; }

}  // namespace lepus::cuda
