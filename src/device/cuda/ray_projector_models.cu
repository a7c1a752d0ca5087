// SPDX-License-Identifier: Apache-2.0
// Siddon's and the footprints' A and A'. A: one thread per pixel, layer by layer of voxels. A': one thread per voxel,
// over the pixels that may see it. Both ask the same function for a weight, of the same numbers.
#include "device/cuda/cuda_check.h"
#include "device/cuda/ray_projector_box.cuh"
#include "device/cuda/ray_projector_models.h"
#include "device/cuda/whole_numbers.cuh"

namespace lepus::cuda {
namespace {

constexpr int model_columns = 32, model_rows = 4;  // pixels of a block
constexpr int model_x = 8, model_y = 16;           // voxels of a block

__device__ SiddonPixel ray_of(const JosephView& view, const JosephGrid& grid, int u, int v, const SiddonPixel*) {
  return {siddon_ray<float>(view, grid, u, v)};
}
__device__ FootprintPixel ray_of(const JosephView& view, const JosephGrid& grid, int u, int v, const FootprintPixel*) {
  return {footprint_ray<float>(view, grid, u, v)};
}

// In a layer a ray meets at most two voxels on each axis: it leaves the first one at `leaves`.
struct Crossing {
  int first, second;
  float leaves;
};
__device__ Crossing crossing(float c0, float dc, float per_c, int layer, float low, float high) {
  const int lower = floor_of(joseph_at(c0, dc, static_cast<float>(layer)) - 0.5f * fabsf(dc) + 0.5f);
  const float face = (static_cast<float>(lower) + 0.5f - c0) * per_c;
  const bool up = per_c > 0.0f;
  return {up ? lower : lower + 1, up ? lower + 1 : lower, fminf(fmaxf(face, low), high)};
}

// The three voxels of a layer and how long the ray is in each, in layers.
struct SiddonLayer {
  Crossing a, b;
  float low, high;
  __device__ SiddonLayer(const SiddonPixel& ray, int layer) {
    const float middle = static_cast<float>(layer);
    low = fmaxf(middle - 0.5f, ray.begin);
    high = fmaxf(fminf(middle + 0.5f, ray.end), low);
    a = crossing(ray.a0, ray.da, ray.per_a, layer, low, high);
    b = crossing(ray.b0, ray.db, ray.per_b, layer, low, high);
  }
  __device__ float length(int j, int k) const {
    const float from_a = j == a.first ? low : a.leaves, to_a = j == a.first ? a.leaves : high;
    const float from_b = k == b.first ? low : b.leaves, to_b = k == b.first ? b.leaves : high;
    const bool met = (j == a.first || j == a.second) && (k == b.first || k == b.second);
    return met ? fmaxf(fminf(to_a, to_b) - fmaxf(from_a, from_b), 0.0f) : 0.0f;
  }
};

// Slices, rows or columns [first, last) of the plane's second axis that are in memory.
struct Held {
  int first, last;
};

__device__ float sum_of_layer(const SiddonPixel& ray, int i, const float* plane, std::int64_t row, IndexRange on_a,
                              Held held) {
  const SiddonLayer layer(ray, i);
  const auto part = [&](int j, int k, float length) {
    return length > 0.0f && k >= held.first && k < held.last && j >= on_a.first && j <= on_a.last
               ? length * __ldg(plane + k * row + j)
               : 0.0f;
  };
  const bool a_first = layer.a.leaves < layer.b.leaves;
  const float one = fminf(layer.a.leaves, layer.b.leaves), two = fmaxf(layer.a.leaves, layer.b.leaves);
  return part(layer.a.first, layer.b.first, one - layer.low) +
         part(a_first ? layer.a.second : layer.a.first, a_first ? layer.b.first : layer.b.second, two - one) +
         part(layer.a.second, layer.b.second, layer.high - two);
}

__device__ float sum_of_layer(const FootprintPixel& ray, int i, const float* plane, std::int64_t row, IndexRange on_a,
                              Held held) {
  const FootprintLayer<float> layer = footprint_layer(ray, i);
  const int last_a = min(ceil_of(layer.a + layer.on_a.half_foot - 0.5f), on_a.last);
  float sum = 0.0f;
  for (int j = max(floor_of(layer.a - layer.on_a.half_foot + 0.5f), on_a.first); j <= last_a; ++j) {
    const FootprintColumn<float> column = footprint_column(layer, j);
    if (!(column.share > 0.0f)) continue;
    const int first_b = max(floor_of(column.b - column.on_b.half_foot + 0.5f), held.first);
    const int last_b = min(ceil_of(column.b + column.on_b.half_foot - 0.5f), held.last - 1);
    // Shares are differences of one function at the faces between voxels.
    float face = static_cast<float>(first_b) - 0.5f - column.b, below = share_below(column.on_b, face), part = 0.0f;
    for (int k = first_b; k <= last_b; ++k) {
      face += 1.0f;
      const float above = share_below(column.on_b, face);
      part = __fmaf_rn(above - below, __ldg(plane + k * row + j), part);
      below = above;
    }
    sum = __fmaf_rn(column.share, part, sum);
  }
  return sum;
}

template <class Pixel>
__global__ void __launch_bounds__(model_columns* model_rows, 8)
    model_forward(const __grid_constant__ RaysOnDevice rays, const __grid_constant__ PlanesOnDevice volume) {
  const int u = static_cast<int>(blockIdx.x) * model_columns + static_cast<int>(threadIdx.x);
  const int v = static_cast<int>(blockIdx.z) * model_rows + static_cast<int>(threadIdx.y);
  const int view = static_cast<int>(blockIdx.y);
  if (u >= rays.columns || v >= rays.rows) return;
  const JosephGrid& grid = volume.grid;
  const Pixel ray = ray_of(rays.view[view], grid, u, rays.first_row + v, static_cast<const Pixel*>(nullptr));
  const int a = joseph_axis_a(ray.axis);
  const IndexRange on_a{-grid.middle[a], grid.size[a] - grid.middle[a] - 1};
  const Held slices{volume.first, volume.last};
  const Held held = ray.axis == 2 ? Held{-grid.middle[1], grid.size[1] - grid.middle[1]} : slices;
  const int first = ray.axis == 2 ? max(ray.first, slices.first) : ray.first;
  const int last = ray.axis == 2 ? min(ray.last, slices.last) : ray.last;
  const PlaneRows planes = volume.rows[ray.axis];
  float sum = 0.0f;
  for (int i = first; i < last; ++i)
    sum += sum_of_layer(ray, i, planes.middle + i * planes.plane, planes.row, on_a, held);
  rays.sums[(static_cast<std::int64_t>(view) * rays.rows + v) * rays.columns + u] = sum * ray.way_mm;
}

template <class Pixel>
__global__ void model_pixels(const __grid_constant__ FaceSource source, Pixel* pixels) {
  const int u = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  const int number = static_cast<int>(blockIdx.z);
  if (u >= source.columns) return;
  const Face face = source.face[number];
  Pixel pixel =
      ray_of(source.view[face.view], source.grid, u, source.first_row + row, static_cast<const Pixel*>(nullptr));
  const std::int64_t at = static_cast<std::int64_t>(face.view - source.first_view) * source.rows + row;
  pixel.way_mm = pixel.axis == face.axis ? pixel.way_mm * source.values[at * source.columns + u] : 0.0f;
  pixels[(static_cast<std::int64_t>(number) * source.rows + row) * source.columns + u] = pixel;
}

__device__ float weight_of(const SiddonPixel& ray, int i, int j, int k) { return SiddonLayer(ray, i).length(j, k); }

__device__ float weight_of(const FootprintPixel& ray, int i, int j, int k) {
  const FootprintLayer<float> layer = footprint_layer(ray, i);
  const FootprintColumn<float> column = footprint_column(layer, j);
  return column.share > 0.0f ? column.share * footprint_row(column, k) : 0.0f;
}

// How far rays may pass from the middle of a voxel that they have to do with. Siddon's are within it half a layer
// before or behind at most; a footprint reaches half of its three widths farther, and on b as far again, where it is
// moved along. A little more, because widths are those of the voxel's own place.
__device__ Reach reach_a(const PictureFace& face, const SiddonPixel*) { return {0.51f + 0.5f * face.slope_a, 0.0f}; }
__device__ Reach reach_b(const PictureFace& face, const SiddonPixel*) { return {0.51f + 0.5f * face.slope_b, 0.0f}; }
__device__ Reach reach_a(const PictureFace& face, const FootprintPixel*) { return {0.51f + 0.5f * face.slope_a, 1.1f}; }
__device__ Reach reach_b(const PictureFace& face, const FootprintPixel*) { return {0.51f + face.slope_b, 2.2f}; }

// Whether such a ray can have to do with voxel (j, k) at all, before its weight is computed.
__device__ bool may_meet(const SiddonPixel&, int, int, int) { return true; }
__device__ bool may_meet(const FootprintPixel& ray, int i, int j, int k) {
  const float layer = static_cast<float>(i);
  const float a = __fmaf_rn(layer, ray.da, ray.a0);
  const float b = __fmaf_rn(static_cast<float>(j), ray.bj, __fmaf_rn(layer, ray.db, ray.b0));
  const float widths_a =
      fabsf(ray.da) + fabsf(__fmaf_rn(layer, ray.dau, ray.au0)) + fabsf(__fmaf_rn(layer, ray.dav, ray.av0));
  const float widths_b = fabsf(ray.rise) + fabsf(__fmaf_rn(layer, ray.dbu, ray.bu0)) +
                         fabsf(__fmaf_rn(static_cast<float>(j), ray.bvj, __fmaf_rn(layer, ray.dbv, ray.bv0)));
  return fabsf(a - static_cast<float>(j)) < 0.51f + 0.5f * widths_a &&
         fabsf(b - static_cast<float>(k)) < 0.51f + widths_b;
}

template <class Pixel>
__global__ void __launch_bounds__(model_x* model_y, 8) model_adjoint(const __grid_constant__ ModelAdjoint<Pixel> job) {
  const int x = static_cast<int>(blockIdx.x) * model_x + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * model_y + static_cast<int>(threadIdx.y);
  const int z = job.z0 + static_cast<int>(blockIdx.z);
  if (x >= job.grid.size[0] || y >= job.grid.size[1]) return;
  float* const place =
      job.voxels + (static_cast<std::int64_t>(blockIdx.z) * job.grid.size[1] + y) * job.grid.size[0] + x;
  const int ix = x - job.grid.middle[0], iy = y - job.grid.middle[1], iz = z - job.grid.middle[2];
  float total = *place;
  for (int number = 0; number < job.faces; ++number) {
    const PictureFace& face = job.face[number];
    const VoxelPlace voxel = voxel_place(face, static_cast<float>(ix), static_cast<float>(iy), static_cast<float>(iz));
    const int i = face.axis == 0 ? ix : face.axis == 1 ? iy : iz, j = face.axis == 0 ? iy : ix;
    const int k = face.axis == 2 ? iy : iz;
    const SeenVoxel seen = seen_voxel(job.frame, face, voxel, reach_a(face, job.pixels), reach_b(face, job.pixels));
    if (seen.kind == SeenVoxel::Kind::nowhere) continue;
    const int first_v = job.frame.first_row - job.frame.middle_row;
    const PixelBox all{-job.frame.middle_column, job.frame.columns - job.frame.middle_column, first_v,
                       first_v + job.frame.rows};
    const PixelBox box = seen.kind == SeenVoxel::Kind::box ? seen.box : all;
    const Pixel* const pixels = job.pixels + static_cast<std::int64_t>(number) * job.frame.rows * job.frame.columns;
    float sum = 0.0f;
    for (int row = box.v0; row < box.v1; ++row)
      for (int column = box.u0; column < box.u1; ++column) {
        const Pixel ray =
            pixels[static_cast<std::int64_t>(row - first_v) * job.frame.columns + column + job.frame.middle_column];
        if (ray.way_mm != 0.0f && i >= ray.first && i < ray.last && may_meet(ray, i, j, k))
          sum = __fmaf_rn(weight_of(ray, i, j, k), ray.way_mm, sum);
      }
    total += sum;
  }
  *place = total;
}

unsigned model_blocks(int n, int each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

template <class Pixel>
void launch_model_forward(const RaysOnDevice& rays, const PlanesOnDevice& volume, cudaStream_t stream) {
  const dim3 blocks(model_blocks(rays.columns, model_columns), static_cast<unsigned>(rays.views),
                    model_blocks(rays.rows, model_rows));
  model_forward<Pixel><<<blocks, dim3(model_columns, model_rows), 0, stream>>>(rays, volume);
  check_launch("the projection of a model");
}

template <class Pixel>
void launch_model_pixels(const FaceSource& source, Pixel* pixels, cudaStream_t stream) {
  constexpr int threads = 128;
  const dim3 blocks(model_blocks(source.columns, threads), static_cast<unsigned>(source.rows),
                    static_cast<unsigned>(source.faces));
  model_pixels<<<blocks, threads, 0, stream>>>(source, pixels);
  check_launch("the rays of pixels");
}

template <class Pixel>
void launch_model_adjoint(const ModelAdjoint<Pixel>& job, cudaStream_t stream) {
  const dim3 blocks(model_blocks(job.grid.size[0], model_x), model_blocks(job.grid.size[1], model_y),
                    static_cast<unsigned>(job.z1 - job.z0));
  model_adjoint<Pixel><<<blocks, dim3(model_x, model_y), 0, stream>>>(job);
  check_launch("the transpose of a model");
}

template void launch_model_forward<SiddonPixel>(const RaysOnDevice&, const PlanesOnDevice&, cudaStream_t);
template void launch_model_forward<FootprintPixel>(const RaysOnDevice&, const PlanesOnDevice&, cudaStream_t);
template void launch_model_pixels<SiddonPixel>(const FaceSource&, SiddonPixel*, cudaStream_t);
template void launch_model_pixels<FootprintPixel>(const FaceSource&, FootprintPixel*, cudaStream_t);
template void launch_model_adjoint<SiddonPixel>(const ModelAdjoint<SiddonPixel>&, cudaStream_t);
template void launch_model_adjoint<FootprintPixel>(const ModelAdjoint<FootprintPixel>&, cudaStream_t);

}  // namespace lepus::cuda
