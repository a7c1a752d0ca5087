// SPDX-License-Identifier: Apache-2.0
#include "cuda_kernels.h"

#include "backend/cuda/cuda_check.h"

namespace lepus::bench {
namespace {

__global__ void fill_kernel(float* data, unsigned view, int columns, int rows) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if (column < columns && row < rows)
    data[static_cast<std::int64_t>(row) * columns + column] =
        made_up_pixel(view, static_cast<unsigned>(column), static_cast<unsigned>(row));
}

}  // namespace

void fill_views(float* data, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t count,
                std::int64_t columns, std::int64_t rows) {
  const dim3 grid(static_cast<unsigned>((columns + 255) / 256), static_cast<unsigned>(rows));
  for (std::int64_t i = 0; i < count; ++i)
    fill_kernel<<<grid, 256>>>(data + i * columns * rows,
                               static_cast<unsigned>(order[static_cast<std::size_t>(first + i)]),
                               static_cast<int>(columns), static_cast<int>(rows));
  cuda::check_launch("made-up views");
}

std::vector<KernelShape> kernel_shapes(cuda::TexelKind kind) {
  switch (kind) {
    case cuda::TexelKind::float1:
    case cuda::TexelKind::half1:
      return general_shapes();
    case cuda::TexelKind::float2:
    case cuda::TexelKind::half2:
      return pair_shapes();
    case cuda::TexelKind::half4:
      return quad_shapes();
    case cuda::TexelKind::gather:
      return exact_shapes();
    case cuda::TexelKind::linear:
      return {};
  }
  return {};
}

}  // namespace lepus::bench
