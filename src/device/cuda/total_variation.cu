// SPDX-License-Identifier: Apache-2.0
// What total variation needs of a volume: differences, their transpose, and single steps of its proximal map (pairs of
// them: total_variation_pair.cu).
// A step reads two duals and the volume and writes one dual: ten floats to a voxel, 5.4 GB of 512^3, which is what it
// costs. So each value is read once: a block takes a tile of the volume's x and y and walks along z, with the plane
// before in its registers. Lanes and warps at the tile's rim only compute what the others need of their neighbours.
#include <algorithm>
#include <cstdint>

#include "device/cuda/cuda_check.h"
#include "device/cuda/total_variation.cuh"
#include "device/cuda/vector_kernels.h"

namespace lepus::cuda {
namespace {

constexpr int plain_threads = 256;

struct Shape {
  int nx, ny, nz;
};
Shape small_shape(const VolumeShape& shape) {
  return {static_cast<int>(shape.nx), static_cast<int>(shape.ny), static_cast<int>(shape.nz)};
}

// The transpose of differences, negated: what lies at an axis' last voxel does not count.
__device__ float divergence_at(const float* x, const float* y, const float* z, const Shape& shape, int ix, int iy,
                               int iz, std::int64_t at) {
  const std::int64_t row = shape.nx, slice = row * shape.ny;
  float sum = (ix + 1 < shape.nx ? x[at] : 0.0f) - (ix > 0 ? x[at - 1] : 0.0f);
  sum += (iy + 1 < shape.ny ? y[at] : 0.0f) - (iy > 0 ? y[at - row] : 0.0f);
  sum += (iz + 1 < shape.nz ? z[at] : 0.0f) - (iz > 0 ? z[at - slice] : 0.0f);
  return sum;
}

// body(ix, iy, iz, index) for every voxel.
template <class Body>
__global__ void __launch_bounds__(plain_threads) each_voxel(const Shape shape, const Body body) {
  const int ix = static_cast<int>(blockIdx.x * plain_threads + threadIdx.x);
  if (ix >= shape.nx) return;
  for (int iz = static_cast<int>(blockIdx.z); iz < shape.nz; iz += static_cast<int>(gridDim.z))
    for (int iy = static_cast<int>(blockIdx.y); iy < shape.ny; iy += static_cast<int>(gridDim.y))
      body(ix, iy, iz, (static_cast<std::int64_t>(iz) * shape.ny + iy) * shape.nx + ix);
}

template <class Body>
void for_each_voxel(const VolumeShape& shape, cudaStream_t stream, const Body& body) {
  if (shape.voxels() == 0) return;
  constexpr std::int64_t maximum = 65535;
  const dim3 blocks(static_cast<unsigned>((shape.nx + plain_threads - 1) / plain_threads),
                    static_cast<unsigned>(std::min(shape.ny, maximum)),
                    static_cast<unsigned>(std::min(shape.nz, maximum)));
  each_voxel<<<blocks, plain_threads, 0, stream>>>(small_shape(shape), body);
  check_launch("a kernel of volumes");
}

// Of a block: warps are rows, of which the first and the last, and of whose lanes the first and the last, are rim.
constexpr int dual_rows = 16, inner_rows = dual_rows - 2, inner_lanes = 30;

template <int width, bool with_momentum>
__global__ void __launch_bounds__(32 * dual_rows, 2) dual_step(const __grid_constant__ DualStep step, int slices) {
  __shared__ Run<width> dual_y[2][dual_rows][32], moved[2][dual_rows][32];
  const int lane = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int x = (static_cast<int>(blockIdx.x) * inner_lanes + lane - 1) * width;
  const int y = static_cast<int>(blockIdx.y) * inner_rows + row - 1;
  const int first = static_cast<int>(blockIdx.z) * slices, last = min(first + slices, step.nz);
  const bool inside = x >= 0 && x < step.nx && y >= 0 && y < step.ny;
  const bool mine = inside && lane > 0 && lane < 31 && row > 0 && row < dual_rows - 1;
  const bool has_y = y + 1 < step.ny;
  const std::int64_t slice = static_cast<std::int64_t>(step.nx) * step.ny;
  const std::int64_t column = static_cast<std::int64_t>(y) * step.nx + x;
  Run<width> ahead[3] = {}, here = {};  // of the slice before: the dual with momentum, and the volume moved by it
  for (int z = first - 1; z <= last; ++z) {
    Run<width> next[3] = {}, value = {};
    if (inside && z >= 0 && z < step.nz) {
      const std::int64_t at = z * slice + column;
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        next[axis] = load<width>(step.now[axis] + at);
        if constexpr (with_momentum) {
          const Run<width> before = load<width>(step.before[axis] + at);
#pragma unroll
          for (int i = 0; i < width; ++i) next[axis].at[i] += step.momentum * (next[axis].at[i] - before.at[i]);
        }
      }
      value = load<width>(step.volume + at);
      // The slice after this one is on its way to the second-level cache while this one is worked on; a sector is asked
      // for once.
      if (z + 1 < step.nz && z < last && lane * width % 8 == width) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
          prefetch(step.now[axis] + at + slice);
          if constexpr (with_momentum) prefetch(step.before[axis] + at + slice);
        }
        prefetch(step.volume + at + slice);
      }
      // Differences at an axis' last voxel are zero, and so is their dual.
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if (x + i + 1 >= step.nx) next[0].at[i] = 0.0f;
        if (!has_y) next[1].at[i] = 0.0f;
        if (z + 1 >= step.nz) next[2].at[i] = 0.0f;
      }
    }
    const int turn = z & 1;
    dual_y[turn][row][lane] = next[1];
    const float left = __shfl_up_sync(dual_lanes, next[0].at[width - 1], 1);
    __syncthreads();
    Run<width> y_before = {};
    if (row > 0) y_before = dual_y[turn][row - 1][lane];
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const float x_before = i > 0 ? next[0].at[i > 0 ? i - 1 : 0] : lane > 0 ? left : 0.0f;
      const float sum =
          (next[0].at[i] - x_before) + (next[1].at[i] - y_before.at[i]) + (next[2].at[i] - ahead[2].at[i]);
      value.at[i] = clamped(value.at[i] + step.strength * sum, step.low, step.high);
    }
    const float right = __shfl_down_sync(dual_lanes, here.at[0], 1);
    if (mine && z > first) {
      const Run<width> below = moved[1 - turn][row + 1][lane];
      Run<width> result[3];
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const float x_next = i + 1 < width ? here.at[i + 1 < width ? i + 1 : 0] : right;
        const float dx = x + i + 1 < step.nx ? x_next - here.at[i] : 0.0f;
        const float dy = has_y ? below.at[i] - here.at[i] : 0.0f;
        const float a = ahead[0].at[i] + step.rise * dx, b = ahead[1].at[i] + step.rise * dy;
        const float c = ahead[2].at[i] + step.rise * (z < step.nz ? value.at[i] - here.at[i] : 0.0f);
        const float factor = to_unit_length(a, b, c);
        result[0].at[i] = a * factor;
        result[1].at[i] = b * factor;
        result[2].at[i] = c * factor;
      }
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) store<width>(step.next[axis] + (z - 1) * slice + column, result[axis]);
    }
    moved[turn][row][lane] = value;
    here = value;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) ahead[axis] = next[axis];
  }
}

template <int width>
void launch_steps(const DualStep& step, cudaStream_t stream) {
  const int across = blocks_across(step.nx, inner_lanes * width), down = blocks_across(step.ny, inner_rows);
  const int slices = slices_to_walk(across * down, step.nz, 2, 2);
  const dim3 blocks(static_cast<unsigned>(across), static_cast<unsigned>(down),
                    static_cast<unsigned>(blocks_across(step.nz, slices)));
  if (step.momentum != 0.0f)
    dual_step<width, true><<<blocks, dim3(32, dual_rows), 0, stream>>>(step, slices);
  else
    dual_step<width, false><<<blocks, dim3(32, dual_rows), 0, stream>>>(step, slices);
}

bool by_fours(const DualStep& step) {
  bool all = step.nx % 4 == 0 && aligned_to_fours(step.volume);
  for (int axis = 0; axis < 3; ++axis)
    all = all && aligned_to_fours(step.now[axis]) && aligned_to_fours(step.before[axis]) &&
          aligned_to_fours(step.next[axis]);
  return all;
}

}  // namespace

void launch_gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, cudaStream_t stream) {
  float *const x = gradient[0], *const y = gradient[1], *const z = gradient[2];
  const std::int64_t nx = shape.nx, ny = shape.ny, nz = shape.nz;
  for_each_voxel(shape, stream, [=] __device__(int ix, int iy, int iz, std::int64_t at) {
    const float here = volume[at];
    x[at] = ix + 1 < nx ? volume[at + 1] - here : 0.0f;
    y[at] = iy + 1 < ny ? volume[at + nx] - here : 0.0f;
    z[at] = iz + 1 < nz ? volume[at + nx * ny] - here : 0.0f;
  });
}

void launch_divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, cudaStream_t stream) {
  const float *const x = gradient[0], *const y = gradient[1], *const z = gradient[2];
  const Shape here = small_shape(shape);
  for_each_voxel(shape, stream, [=] __device__(int ix, int iy, int iz, std::int64_t at) {
    volume[at] = divergence_at(x, y, z, here, ix, iy, iz, at);
  });
}

void launch_move_and_clamp(const float* volume, float strength, const float* const field[3], float low, float high,
                           float* out, const VolumeShape& shape, cudaStream_t stream) {
  const float *const x = field[0], *const y = field[1], *const z = field[2];
  const Shape here = small_shape(shape);
  for_each_voxel(shape, stream, [=] __device__(int ix, int iy, int iz, std::int64_t at) {
    out[at] = clamped(volume[at] + strength * divergence_at(x, y, z, here, ix, iy, iz, at), low, high);
  });
}

void launch_dual_step(const DualStep& step, cudaStream_t stream) {
  if (by_fours(step))
    launch_steps<4>(step, stream);
  else
    launch_steps<1>(step, stream);
  check_launch("a step of total variation");
}

}  // namespace lepus::cuda
