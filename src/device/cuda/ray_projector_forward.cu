// SPDX-License-Identifier: Apache-2.0
// Joseph's A, one thread per ray, summed over all its planes in one go. With the texture unit's weights a sample is one
// bilinear fetch from a layer of a texture, at twice the rate of the trilinear fetch of a 3-D texture. With fp32
// weights the four voxels are read from linear memory, which gives a warp its neighbours at several times the texture
// unit's rate.
// Every step goes to a new plane: what a ray reads is not read again by the same ray, only by its neighbours. So the
// traffic between the caches is kept low by who runs together: pixels side by side, and the same pixels of views that
// follow each other, whose rays differ by a few voxels at the volume's rim and by none at the axis.
// docs/papers.md says what other tiles and ways to read were measured.
#include <algorithm>

#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_launch.h"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

// Which rays run together. The lanes of a warp are lane_columns x lane_rows pixels, of 8 x 4 in squares of 2 x 2, which
// the texture unit takes together; a block is warp_columns x warp_rows warps, the same tile in each of `views` views.
struct RayTile {
  int lane_columns, lane_rows, warp_columns, warp_rows, views;
  LEPUS_HD constexpr int columns() const { return lane_columns * warp_columns; }
  LEPUS_HD constexpr int rows() const { return lane_rows * warp_rows; }
  LEPUS_HD constexpr int threads() const { return columns() * rows() * views; }
  LEPUS_HD constexpr bool by_squares() const { return lane_columns == 8; }
  LEPUS_HD constexpr int lane_column(int lane) const {
    return by_squares() ? (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4) : lane % lane_columns;
  }
  LEPUS_HD constexpr int lane_row(int lane) const {
    return by_squares() ? (lane >> 1 & 1) | (lane >> 2 & 2) : lane / lane_columns;
  }
};

// Threads of a multiprocessor that registers should be left for; Turing has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int resident_threads = 1024;
#else
constexpr int resident_threads = 1536;
#endif

// Textures are kept in tiles and want square warps; rows of linear memory want a warp along them.
template <Weights weights>
constexpr RayTile ray_tile = weights == Weights::texture ? RayTile{8, 4, 2, 2, 4} : RayTile{32, 1, 1, 4, 1};

// The texture unit weighs with 8 bits, so b counts in their steps, rounded to a whole number: adding 1.5 x 2^23 does
// that, and the place of a sample between two slices is exact, wherever the slab begins.
constexpr float texture_steps = 256.0f;

// Adds up the fetches of `count` planes from `from` on; plane `from` is layer `layer` of the sheet.
__device__ float sum_of_layers(float sum, cudaTextureObject_t sheet, const JosephRay& ray, float to_a, float to_b,
                               int from, int layer, int count) {
  float plane = static_cast<float>(from);
  const float a0 = ray.a0 + to_a, b0 = ray.b0 * texture_steps, db = ray.db * texture_steps,
              from_whole = to_b - whole_shift / texture_steps;
#pragma unroll 4
  for (int k = 0; k < count; ++k) {
    const float a = __fmaf_rn(plane, ray.da, a0);
    const float b = __fmaf_rn(__fadd_rn(__fmaf_rn(plane, db, b0), whole_shift), 1.0f / texture_steps, from_whole);
    sum += tex2DLayered<float>(sheet, a, b, layer);
    plane += 1.0f;
    ++layer;
  }
  return sum;
}

__device__ float sum_of_textures(const PlanesOnDevice& volume, const JosephRay& ray, int first, int last) {
  const JosephGrid& grid = volume.grid;
  const auto shift_on = [&](int axis) { return axis == 2 ? -volume.first : grid.middle[axis]; };
  const float to_a = static_cast<float>(shift_on(joseph_axis_a(ray.axis))) + 0.5f;
  const float to_b = static_cast<float>(shift_on(joseph_axis_b(ray.axis))) + 0.5f;
  const int shift = shift_on(ray.axis);
  if (grid.size[0] <= layers_per_sheet && grid.size[1] <= layers_per_sheet &&
      volume.last - volume.first <= layers_per_sheet) {
    // One sheet on each axis. Three calls: the compiler sees that all lanes of each fetch from the same texture.
    const auto on_axis = [&](int axis) {
      return sum_of_layers(0.0f, volume.sheets[axis].sheet[0], ray, to_a, to_b, first, first + shift, last - first);
    };
    if (ray.axis == 0) return on_axis(0);
    if (ray.axis == 1) return on_axis(1);
    return on_axis(2);
  }
  float sum = 0.0f;
  while (first < last) {
    const int layer = (first + shift) % layers_per_sheet, here = min(last - first, layers_per_sheet - layer);
    sum = sum_of_layers(sum, volume.sheets[ray.axis].sheet[(first + shift) / layers_per_sheet], ray, to_a, to_b, first,
                        layer, here);
    first += here;
  }
  return sum;
}

// The four voxels of a plane around (a, b), with fp32 weights. Adding 1.5 x 2^23, rounded down, leaves the whole part
// in the lowest bits: two fast instructions, where floor and the conversion have a quarter of their rate.
template <class Offset>
__device__ float rows_sample(const float* plane, Offset row, float a, float b) {
  const float on_a = __fadd_rd(a, whole_shift), on_b = __fadd_rd(b, whole_shift);
  const float fa = a - (on_a - whole_shift), fb = b - (on_b - whole_shift);
  const float* const p =
      plane + ((__float_as_int(on_b) - whole_shift_bits) * row + (__float_as_int(on_a) - whole_shift_bits));
  const float p00 = __ldg(p), p10 = __ldg(p + 1), p01 = __ldg(p + row), p11 = __ldg(p + row + 1);
  const float low = __fmaf_rn(fa, p10 - p00, p00), high = __fmaf_rn(fa, p11 - p01, p01);
  return __fmaf_rn(fb, high - low, low);
}

template <class Offset>
__device__ float sum_of_rows(const PlaneRows& rows, const JosephRay& ray, int first, int last) {
  const float* at = rows.middle + first * rows.plane;
  const auto row = static_cast<Offset>(rows.row);
  float plane = static_cast<float>(first), sum = 0.0f;
#pragma unroll 4
  for (int k = first; k < last; ++k) {
    sum += rows_sample(at, row, joseph_at(ray.a0, ray.da, plane), joseph_at(ray.b0, ray.db, plane));
    plane += 1.0f;
    at += rows.plane;
  }
  return sum;
}

// At least 1536 threads on a multiprocessor: with more registers each, fewer fetches are under way.
template <Weights weights, class Offset>
__global__ void __launch_bounds__(ray_tile<weights>.threads(), resident_threads / ray_tile<weights>.threads())
    forward(const __grid_constant__ RaysOnDevice rays, const __grid_constant__ PlanesOnDevice volume) {
  constexpr RayTile tile = ray_tile<weights>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_column = warp % tile.warp_columns, warp_line = warp / tile.warp_columns;
  const int warp_row = warp_line % tile.warp_rows;
  const int u =
      static_cast<int>(blockIdx.x) * tile.columns() + warp_column * tile.lane_columns + tile.lane_column(lane);
  const int v = static_cast<int>(blockIdx.z) * tile.rows() + warp_row * tile.lane_rows + tile.lane_row(lane);
  const int view = static_cast<int>(blockIdx.y) * tile.views + warp_line / tile.warp_rows;
  if (u >= rays.columns || v >= rays.rows || view >= rays.views) return;
  const JosephRay ray = joseph_ray(joseph_line(rays.view[view], volume.grid, u, rays.first_row + v));
  // Samples a whole voxel outside of the slab are zero, and not in memory.
  int first = ray.first, last = ray.last;
  const auto meets = [&](int plane) {
    const float z = ray.axis == 2 ? static_cast<float>(plane) : joseph_at(ray.b0, ray.db, static_cast<float>(plane));
    return z >= static_cast<float>(ray.axis == 2 ? volume.first : volume.first - 1) &&
           z < static_cast<float>(volume.last);
  };
  while (first < last && !meets(first)) ++first;
  while (first < last && !meets(last - 1)) --last;
  float sum;
  if constexpr (weights == Weights::texture)
    sum = sum_of_textures(volume, ray, first, last);
  else
    sum = sum_of_rows<Offset>(volume.rows[ray.axis], ray, first, last);
  rays.sums[(static_cast<std::int64_t>(view) * rays.rows + v) * rays.columns + u] = sum * ray.way_mm;
}

template <Weights weights, class Offset>
void launch_rays(const RaysOnDevice& rays, const PlanesOnDevice& volume, cudaStream_t stream) {
  constexpr RayTile tile = ray_tile<weights>;
  const auto blocks_of = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  // Views in the middle: the same rows of neighbouring views see the same slices, which then come from the L2 cache.
  const dim3 blocks(blocks_of(rays.columns, tile.columns()), blocks_of(rays.views, tile.views),
                    blocks_of(rays.rows, tile.rows()));
  forward<weights, Offset><<<blocks, tile.threads(), 0, stream>>>(rays, volume);
}

// Whether places within a plane fit 32 bits: they cost half of the instructions.
bool is_short(const PlanesOnDevice& volume) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t b = axis == 2 ? volume.grid.size[1] : std::max(-volume.first, volume.last);  // from the middle
    if (volume.rows[axis].row * (b + 8) >= (std::int64_t{1} << 31)) return false;
  }
  return true;
}

}  // namespace

void launch_forward(const RaysOnDevice& rays, const PlanesOnDevice& volume, Weights weights, cudaStream_t stream) {
  if (weights == Weights::texture)
    launch_rays<Weights::texture, int>(rays, volume, stream);
  else if (is_short(volume))
    launch_rays<Weights::fp32, int>(rays, volume, stream);
  else
    launch_rays<Weights::fp32, std::int64_t>(rays, volume, stream);
  check_launch("Joseph's projection");
}

}  // namespace lepus::cuda
