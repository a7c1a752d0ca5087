// SPDX-License-Identifier: Apache-2.0
// Two steps of total variation's proximal map in one walk through the volume. A step by itself reads two duals and the
// volume and writes a dual, ten floats to a voxel; two at once read the same seven and write two duals, thirteen
// instead of twenty. The second step follows the first one slice behind: it needs that slice's new dual, and of the
// slices and rows around it. So the rim of a block's tile is two rows wide, and one lane of four voxels; what is
// computed there is wrong by one row or voxel more after each step, and none of it is written.
#include "device/cuda/total_variation.cuh"
#include "device/cuda/vector_kernels.h"

namespace lepus::cuda {
namespace {

constexpr int pair_rows = 16, pair_rim = 2, inner_pair_rows = pair_rows - 2 * pair_rim, inner_pair_lanes = 30;
constexpr int width = 4;
using Four = Run<width>;

// What the threads of a block tell each other of a slice; each is written between the same two of its barriers as it is
// not read.
struct PairTile {
  Four dual_y[pair_rows][32], moved[pair_rows][32];                // of the first step
  Four second_dual_y[pair_rows][32], second_moved[pair_rows][32];  // of the second one
};

struct Place {
  int lane, row, x, y;
  bool inside, has_y;
};

// The volume moved along the divergence of `dual`, whose slice before had the third component `z_before`.
__device__ Four moved_volume(const Four& volume, const Four dual[3], const Four& y_before, const Four& z_before,
                             const DualStep& step, int lane) {
  const float left = __shfl_up_sync(dual_lanes, dual[0].at[width - 1], 1);
  Four result;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const float x_before = i > 0 ? dual[0].at[i > 0 ? i - 1 : 0] : lane > 0 ? left : 0.0f;
    const float sum = (dual[0].at[i] - x_before) + (dual[1].at[i] - y_before.at[i]) + (dual[2].at[i] - z_before.at[i]);
    result.at[i] = clamped(volume.at[i] + step.strength * sum, step.low, step.high);
  }
  return result;
}

// The dual after a step: `dual` moved along the differences of `here`, whose neighbours are `below` and `behind`.
__device__ void stepped_dual(const Four dual[3], const Four& here, const Four& below, const Four& behind, bool has_z,
                             const Place& place, const DualStep& step, Four result[3]) {
  const float right = __shfl_down_sync(dual_lanes, here.at[0], 1);
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const float x_next = i + 1 < width ? here.at[i + 1 < width ? i + 1 : 0] : right;
    const float dx = place.x + i + 1 < step.nx ? x_next - here.at[i] : 0.0f;
    const float dy = place.has_y ? below.at[i] - here.at[i] : 0.0f;
    const float dz = has_z ? behind.at[i] - here.at[i] : 0.0f;
    const float a = dual[0].at[i] + step.rise * dx, b = dual[1].at[i] + step.rise * dy,
                c = dual[2].at[i] + step.rise * dz;
    const float factor = to_unit_length(a, b, c);
    result[0].at[i] = a * factor;
    result[1].at[i] = b * factor;
    result[2].at[i] = c * factor;
  }
}

template <bool with_momentum>
__global__ void __launch_bounds__(32 * pair_rows, 1)
    dual_step_pair(const __grid_constant__ DualStepPair pair, int slices) {
  const DualStep& step = pair.first;
  __shared__ PairTile tile;
  Place place;
  place.lane = static_cast<int>(threadIdx.x);
  place.row = static_cast<int>(threadIdx.y);
  const int lane = place.lane, row = place.row;
  place.x = (static_cast<int>(blockIdx.x) * inner_pair_lanes + lane - 1) * width;
  place.y = static_cast<int>(blockIdx.y) * inner_pair_rows + row - pair_rim;
  place.inside = place.x >= 0 && place.x < step.nx && place.y >= 0 && place.y < step.ny;
  place.has_y = place.y + 1 < step.ny;
  const bool mine = place.inside && lane > 0 && lane < 31 && row >= pair_rim && row < pair_rows - pair_rim;
  const int first = static_cast<int>(blockIdx.z) * slices, last = min(first + slices, step.nz);
  const std::int64_t slice = static_cast<std::int64_t>(step.nx) * step.ny;
  const std::int64_t column = static_cast<std::int64_t>(place.y) * step.nx + place.x;
  const int row_before = max(row - 1, 0), row_after = min(row + 1, pair_rows - 1);  // rows at the rim need none

  // Of slice z - 1: the dual before the first step, without and with momentum, the volume, and the volume moved by it.
  Four now_before[3] = {}, ahead_before[3] = {}, volume_before = {}, moved_before = {};
  // Of slice z - 2: the dual before the second step with momentum, and the volume moved by it.
  Four second_before[3] = {}, second_moved_before = {};
  for (int z = first - 2; z <= last + 1; ++z) {
    Four now[3] = {}, ahead[3] = {}, volume = {};
    if (place.inside && z >= 0 && z < step.nz) {
      const std::int64_t at = z * slice + column;
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        now[axis] = load<width>(step.now[axis] + at);
        // Differences at an axis' last voxel are zero, and so is their dual.
#pragma unroll
        for (int i = 0; i < width; ++i) {
          const bool there = axis == 0 ? place.x + i + 1 < step.nx : axis == 1 ? place.has_y : z + 1 < step.nz;
          if (!there) now[axis].at[i] = 0.0f;
          ahead[axis].at[i] = now[axis].at[i];
        }
        if constexpr (with_momentum) {
          const Four before = load<width>(step.before[axis] + at);
#pragma unroll
          for (int i = 0; i < width; ++i) {
            const bool there = axis == 0 ? place.x + i + 1 < step.nx : axis == 1 ? place.has_y : z + 1 < step.nz;
            if (there) ahead[axis].at[i] += step.momentum * (now[axis].at[i] - before.at[i]);
          }
        }
      }
      volume = load<width>(step.volume + at);
      // The slice after this one is on its way to the second-level cache while this one is worked on; a sector is asked
      // for once.
      if (z + 1 < step.nz && z <= last && lane * width % 8 == width) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
          prefetch(step.now[axis] + at + slice);
          if constexpr (with_momentum) prefetch(step.before[axis] + at + slice);
        }
        prefetch(step.volume + at + slice);
      }
    }
    tile.dual_y[row][lane] = ahead[1];
    __syncthreads();

    // The first step moves the volume in slice z, and knows the dual of slice z - 1 then.
    const Four moved = moved_volume(volume, ahead, tile.dual_y[row_before][lane], ahead_before[2], step, lane);
    tile.second_moved[row][lane] = second_moved_before;
    Four stepped[3], second[3] = {};
    stepped_dual(ahead_before, moved_before, tile.moved[row_after][lane], moved, z < step.nz, place, step, stepped);
    if (place.inside && z >= 1 && z <= step.nz) {  // around the volume the dual is zero
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
#pragma unroll
        for (int i = 0; i < width; ++i)
          second[axis].at[i] = stepped[axis].at[i] + pair.momentum * (stepped[axis].at[i] - now_before[axis].at[i]);
    }
    if (mine && z - 1 >= first && z - 1 < last)
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) store<width>(step.next[axis] + (z - 1) * slice + column, stepped[axis]);
    tile.second_dual_y[row][lane] = second[1];
    __syncthreads();

    // The second step moves it in slice z - 1, and knows the dual of slice z - 2 then.
    tile.moved[row][lane] = moved;
    const Four second_moved =
        moved_volume(volume_before, second, tile.second_dual_y[row_before][lane], second_before[2], step, lane);
    stepped_dual(second_before, second_moved_before, tile.second_moved[row_after][lane], second_moved, z - 1 < step.nz,
                 place, step, stepped);
    if (mine && z - 2 >= first)
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) store<width>(pair.next[axis] + (z - 2) * slice + column, stepped[axis]);

#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      now_before[axis] = now[axis];
      ahead_before[axis] = ahead[axis];
      second_before[axis] = second[axis];
    }
    volume_before = volume;
    moved_before = moved;
    second_moved_before = second_moved;
  }
}

bool by_fours(const DualStepPair& pair) {
  const DualStep& first = pair.first;
  bool all = first.nx % 4 == 0 && aligned_to_fours(first.volume);
  for (int axis = 0; axis < 3; ++axis)
    all = all && aligned_to_fours(first.now[axis]) && aligned_to_fours(first.before[axis]) &&
          aligned_to_fours(first.next[axis]) && aligned_to_fours(pair.next[axis]);
  return all;
}

}  // namespace

void launch_dual_step_pair(const DualStepPair& pair, cudaStream_t stream) {
  const DualStep& first = pair.first;
  if (!by_fours(pair)) {
    DualStep second = first;
    for (int axis = 0; axis < 3; ++axis) {
      second.before[axis] = first.now[axis];
      second.now[axis] = first.next[axis];
      second.next[axis] = pair.next[axis];
    }
    second.momentum = pair.momentum;
    launch_dual_step(first, stream);
    launch_dual_step(second, stream);
    return;
  }
  const int across = blocks_across(first.nx, inner_pair_lanes * width), down = blocks_across(first.ny, inner_pair_rows);
  const int slices = slices_to_walk(across * down, first.nz, 1, 4);
  const dim3 blocks(static_cast<unsigned>(across), static_cast<unsigned>(down),
                    static_cast<unsigned>(blocks_across(first.nz, slices)));
  if (first.momentum != 0.0f)
    dual_step_pair<true><<<blocks, dim3(32, pair_rows), 0, stream>>>(pair, slices);
  else
    dual_step_pair<false><<<blocks, dim3(32, pair_rows), 0, stream>>>(pair, slices);
  check_launch("two steps of total variation");
}

}  // namespace lepus::cuda
