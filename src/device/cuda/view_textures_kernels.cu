// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "device/cuda/cuda_check.h"
#include "device/cuda/view_textures_launch.h"

namespace lepus::cuda {
namespace {

constexpr int store_threads = 256;

template <TexelKind kind>
struct Texel;
template <>
struct Texel<TexelKind::float1> {
  using Type = float;
  __device__ static float pack(const float* v) { return v[0]; }
};
template <>
struct Texel<TexelKind::gather> : Texel<TexelKind::float1> {};
template <>
struct Texel<TexelKind::linear> : Texel<TexelKind::float1> {};
template <>
struct Texel<TexelKind::float2> {
  using Type = float2;
  __device__ static float2 pack(const float* v) { return {v[0], v[1]}; }
};
__device__ inline unsigned short half_bits(float v) {
  return __half_as_ushort(__float2half_rn(fminf(fmaxf(v, -65504.0f), 65504.0f)));
}
template <>
struct Texel<TexelKind::half1> {
  using Type = ushort1;
  __device__ static ushort1 pack(const float* v) { return {half_bits(v[0])}; }
};
template <>
struct Texel<TexelKind::half2> {
  using Type = ushort2;
  __device__ static ushort2 pack(const float* v) { return {half_bits(v[0]), half_bits(v[1])}; }
};
template <>
struct Texel<TexelKind::half4> {
  using Type = ushort4;
  __device__ static ushort4 pack(const float* v) {
    return {half_bits(v[0]), half_bits(v[1]), half_bits(v[2]), half_bits(v[3])};
  }
};
template <TexelKind kind>
constexpr int group_of = kind == TexelKind::half4                                ? 4
                         : kind == TexelKind::float2 || kind == TexelKind::half2 ? 2
                                                                                 : 1;

template <TexelKind kind>
__global__ void __launch_bounds__(store_threads)
    store_kernel(const __grid_constant__ StoreOnDevice s, cudaSurfaceObject_t surface, float* pixels) {
  constexpr int group = group_of<kind>;
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = s.row0 + static_cast<int>(blockIdx.y), member0 = static_cast<int>(blockIdx.z) * group;
  const int held = row - s.first_row[member0];
  if (column >= s.columns || held < 0 || held >= s.held_rows) return;
  float value[group];
  for (int m = 0; m < group; ++m)
    value[m] = s.factor * s.data[(member0 + m) * s.view_stride + (row - s.row0) * s.row_stride + column];
  const int layer = s.first_layer + static_cast<int>(blockIdx.z);
  using T = typename Texel<kind>::Type;
  if constexpr (kind == TexelKind::linear)
    pixels[(static_cast<std::int64_t>(layer) * s.held_rows + held) * s.columns + column] = value[0];
  else if constexpr (kind == TexelKind::gather)
    surf2Dwrite(value[0], surface, column * static_cast<int>(sizeof(float)),
                layer * (s.held_rows + atlas_margin) + 1 + held);
  else
    surf2DLayeredwrite(Texel<kind>::pack(value), surface, column * static_cast<int>(sizeof(T)), held, layer);
}

template <class T, bool layered>
__global__ void clear_kernel(cudaSurfaceObject_t surface, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= width) return;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y)) {
    if constexpr (layered)
      surf2DLayeredwrite(T{}, surface, x * static_cast<int>(sizeof(T)), y, static_cast<int>(blockIdx.z));
    else
      surf2Dwrite(T{}, surface, x * static_cast<int>(sizeof(T)), y);
  }
}

// Calls act with the kind as a constant.
template <class Act>
void with_kind(TexelKind kind, const Act& act) {
  switch (kind) {
    case TexelKind::float1:
      return act.template operator()<TexelKind::float1>();
    case TexelKind::half1:
      return act.template operator()<TexelKind::half1>();
    case TexelKind::float2:
      return act.template operator()<TexelKind::float2>();
    case TexelKind::half2:
      return act.template operator()<TexelKind::half2>();
    case TexelKind::half4:
      return act.template operator()<TexelKind::half4>();
    case TexelKind::gather:
      return act.template operator()<TexelKind::gather>();
    case TexelKind::linear:
      return act.template operator()<TexelKind::linear>();
  }
}

unsigned blocks_of(int columns) { return static_cast<unsigned>((columns + store_threads - 1) / store_threads); }

}  // namespace

void launch_store(TexelKind kind, const StoreOnDevice& store, cudaSurfaceObject_t surface, float* pixels,
                  cudaStream_t stream) {
  const dim3 grid(blocks_of(store.columns), static_cast<unsigned>(store.rows), static_cast<unsigned>(store.layers));
  with_kind(kind, [&]<TexelKind k>() { store_kernel<k><<<grid, store_threads, 0, stream>>>(store, surface, pixels); });
  check_launch("the storing of filtered rows");
}

void launch_clear(TexelKind kind, cudaSurfaceObject_t surface, int width, int height, int layers) {
  const dim3 grid(blocks_of(width), static_cast<unsigned>(height < 1024 ? height : 1024),
                  static_cast<unsigned>(layers > 0 ? layers : 1));
  with_kind(kind, [&]<TexelKind k>() {
    clear_kernel<typename Texel<k>::Type, k != TexelKind::gather><<<grid, store_threads>>>(surface, width, height);
  });
  check_launch("the clearing of the views");
}

}  // namespace lepus::cuda
