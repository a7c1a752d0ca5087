// SPDX-License-Identifier: Apache-2.0
// Joseph's method, one thread per ray. With the texture unit's weights a sample is one bilinear fetch from a layer of a
// texture, at twice the rate of the trilinear fetch of a 3-D texture. With fp32 weights the four voxels are read from
// linear memory, which gives a warp its neighbours at several times the texture unit's rate.
// Every step goes to a new plane: what a ray reads is not read again by the same ray, only by its neighbours. So the
// traffic between the caches is kept low by who runs together: pixels side by side, and the same pixels of views that
// follow each other, whose rays differ by a few voxels at the volume's rim and by none at the axis.
// docs/papers.md tells what other tiles and ways to read were measured.
#include "device/cuda/cuda_check.h"
#include "device/cuda/forward_project_launch.h"

namespace lepus::cuda {
namespace {

// Which rays run together. The lanes of a warp are lane_columns x lane_rows pixels; a block is warp_columns x warp_rows
// warps, the same tile in each of `views` views.
struct RayTile {
  int lane_columns, lane_rows, warp_columns, warp_rows, views;
  LEPUS_HD constexpr int columns() const { return lane_columns * warp_columns; }
  LEPUS_HD constexpr int rows() const { return lane_rows * warp_rows; }
  LEPUS_HD constexpr int threads() const { return columns() * rows() * views; }
};

// Threads of a multiprocessor that registers should be left for; Turing has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int resident_threads = 1024;
#else
constexpr int resident_threads = 1536;
#endif

// Textures are kept in tiles and want square warps; rows of linear memory want a warp along them.
template <Weights weights>
constexpr RayTile ray_tile =
    weights == Weights::texture ? RayTile{8, 4, 2, 2, views_per_block} : RayTile{32, 1, 1, 4, 1};

// Adds up the fetches of `count` planes from `from` on; plane `from` is layer `layer` of the sheet.
__device__ float sum_of_layers(float sum, cudaTextureObject_t sheet, const JosephRay& ray, float to_a, float to_b,
                               int from, int layer, int count, int direction) {
  float plane = static_cast<float>(from);
  const float step = static_cast<float>(direction);
#pragma unroll 4
  for (int k = 0; k < count; ++k) {
    const float a = joseph_at(ray.a0, ray.da, plane), b = on_texture_steps(joseph_at(ray.b0, ray.db, plane));
    sum = __fmaf_rn(tex2DLayered<float>(sheet, a + to_a, b + to_b, layer), ray.way_mm, sum);
    plane += step;
    layer += direction;
  }
  return sum;
}

__device__ float sum_of_textures(float sum, const VolumeOnDevice& volume, const JosephRay& ray,
                                 const JosephWalk& walk) {
  const JosephGrid& grid = volume.grid;
  const auto shift_on = [&](int axis) { return grid.middle[axis] - (axis == 2 ? volume.first : 0); };
  const float to_a = static_cast<float>(shift_on(joseph_axis_a(ray.axis))) + 0.5f;
  const float to_b = static_cast<float>(shift_on(joseph_axis_b(ray.axis))) + 0.5f;
  const int shift = shift_on(ray.axis);
  if (grid.size[0] <= layers_per_sheet && grid.size[1] <= layers_per_sheet &&
      volume.last - volume.first <= layers_per_sheet) {
    // One sheet on each axis. Three calls: the compiler sees that all lanes of each fetch from the same texture.
    const auto on_axis = [&](int axis) {
      return sum_of_layers(sum, volume.planes[axis].sheet[0], ray, to_a, to_b, walk.start, walk.start + shift,
                           walk.count, walk.direction);
    };
    if (ray.axis == 0) return on_axis(0);
    if (ray.axis == 1) return on_axis(1);
    return on_axis(2);
  }
  int at = walk.start, left = walk.count;
  while (left > 0) {
    const int layer = (at + shift) % layers_per_sheet;
    const int here = min(left, walk.direction > 0 ? layers_per_sheet - layer : layer + 1);
    sum = sum_of_layers(sum, volume.planes[ray.axis].sheet[(at + shift) / layers_per_sheet], ray, to_a, to_b, at, layer,
                        here, walk.direction);
    at += here * walk.direction;
    left -= here;
  }
  return sum;
}

// The four voxels of a plane around (a, b), with fp32 weights. Adding 1.5 x 2^23, rounded down, leaves the whole part
// in the lowest bits: two fast instructions, where floor and the conversion have a quarter of their rate.
__device__ float rows_sample(const float* plane, std::int64_t row, float a, float b) {
  constexpr float whole = 12582912.0f;
  constexpr int whole_bits = 0x4B400000;
  const float on_a = __fadd_rd(a, whole), on_b = __fadd_rd(b, whole);
  const float fa = a - (on_a - whole), fb = b - (on_b - whole);
  const float* const p = plane + (__float_as_int(on_b) - whole_bits) * row + (__float_as_int(on_a) - whole_bits);
  const float p00 = __ldg(p), p10 = __ldg(p + 1), p01 = __ldg(p + row), p11 = __ldg(p + row + 1);
  const float low = __fmaf_rn(fa, p10 - p00, p00), high = __fmaf_rn(fa, p11 - p01, p01);
  return __fmaf_rn(fb, high - low, low);
}

__device__ float sum_of_rows(float sum, const RowsOnDevice& rows, const JosephRay& ray, const JosephWalk& walk) {
  const float* at = rows.middle + walk.start * rows.plane;
  const std::int64_t next = walk.direction * rows.plane, row = rows.row;
  const float step = static_cast<float>(walk.direction);
  float plane = static_cast<float>(walk.start);
#pragma unroll 4
  for (int k = 0; k < walk.count; ++k) {
    const float a = joseph_at(ray.a0, ray.da, plane), b = joseph_at(ray.b0, ray.db, plane);
    sum = __fmaf_rn(rows_sample(at, row, a, b), ray.way_mm, sum);
    plane += step;
    at += next;
  }
  return sum;
}

// At least 1536 threads on a multiprocessor: with more registers each, fewer fetches are under way.
template <Weights weights>
__global__ void __launch_bounds__(ray_tile<weights>.threads(), resident_threads / ray_tile<weights>.threads())
    project_rays(const __grid_constant__ ProjectionOnDevice projection, const __grid_constant__ VolumeOnDevice volume) {
  constexpr RayTile tile = ray_tile<weights>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_column = warp % tile.warp_columns, warp_line = warp / tile.warp_columns;
  const int warp_row = warp_line % tile.warp_rows;
  const int u =
      static_cast<int>(blockIdx.x) * tile.columns() + warp_column * tile.lane_columns + lane % tile.lane_columns;
  const int v = static_cast<int>(blockIdx.z) * tile.rows() + warp_row * tile.lane_rows + lane / tile.lane_columns;
  const int view = static_cast<int>(blockIdx.y) * tile.views + warp_line / tile.warp_rows;
  if (u >= projection.columns || v >= projection.rows || view >= projection.views) return;
  const JosephGrid& grid = volume.grid;
  const JosephRay ray = joseph_ray(joseph_line(projection.view[view], grid, u, v));
  const int cell0 = volume.cell0 - grid.middle[2], cell1 = volume.cell1 - grid.middle[2];
  JosephWalk walk = joseph_walk(ray, cell0, cell1);
  if (ray.axis != 2) {
    // The cells decide by the coordinate that the sample is taken at.
    const auto counts = [&](int plane) {
      const float z = joseph_at(ray.b0, ray.db, static_cast<float>(plane));
      return in_cells(weights == Weights::texture ? on_texture_steps(z) : z, cell0, cell1);
    };
    while (walk.count > 0 && !counts(walk.start)) {
      walk.start += walk.direction;
      --walk.count;
    }
    while (walk.count > 0 && !counts(walk.start + (walk.count - 1) * walk.direction)) --walk.count;
  }
  float* const pixel =
      projection.sums + (static_cast<std::int64_t>(view) * projection.rows + v) * projection.columns + u;
  const float before = projection.onto ? *pixel : 0.0f;
  if constexpr (weights == Weights::texture)
    *pixel = sum_of_textures(before, volume, ray, walk);
  else
    *pixel = sum_of_rows(before, volume.rows[ray.axis], ray, walk);
}

template <Weights weights>
void launch_rays(const ProjectionOnDevice& projection, const VolumeOnDevice& volume, cudaStream_t stream) {
  constexpr RayTile tile = ray_tile<weights>;
  const auto blocks_of = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  // Views in the middle: the same rows of neighbouring views see the same slices, which then come from the L2 cache.
  const dim3 blocks(blocks_of(projection.columns, tile.columns()), blocks_of(projection.views, tile.views),
                    blocks_of(projection.rows, tile.rows()));
  project_rays<weights><<<blocks, tile.threads(), 0, stream>>>(projection, volume);
}

}  // namespace

void launch_projection(const ProjectionOnDevice& projection, const VolumeOnDevice& volume, Weights weights,
                       cudaStream_t stream) {
  if (weights == Weights::texture)
    launch_rays<Weights::texture>(projection, volume, stream);
  else
    launch_rays<Weights::fp32>(projection, volume, stream);
  check_launch("the projection");
}

}  // namespace lepus::cuda
