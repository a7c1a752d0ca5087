// SPDX-License-Identifier: Apache-2.0
#include "bench/suite/synthetic_views.h"

#include "device/cuda/cuda_check.h"
#include "bench/suite/synthetic.h"

namespace lepus::bench {
namespace {

__global__ void fill_kernel(float* data, unsigned view, int columns, int rows) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if (column < columns && row < rows)
    data[static_cast<std::int64_t>(row) * columns + column] =
        synthetic_pixel(view, static_cast<unsigned>(column), static_cast<unsigned>(row));
}

}  // namespace

void fill_views(float* data, const std::vector<std::int64_t>& order, std::int64_t first, std::int64_t count,
                std::int64_t columns, std::int64_t rows) {
  const dim3 grid(static_cast<unsigned>((columns + 255) / 256), static_cast<unsigned>(rows));
  for (std::int64_t i = 0; i < count; ++i)
    fill_kernel<<<grid, 256>>>(data + i * columns * rows,
                               static_cast<unsigned>(order[static_cast<std::size_t>(first + i)]),
                               static_cast<int>(columns), static_cast<int>(rows));
  cuda::check_launch("synthetic views");
}

cuda::ViewTextures synthetic_store(const cuda::Backprojection& backprojection, const ScanGeometry& geometry) {
  cuda::ViewTextures store(backprojection.store_shape(geometry.views(), geometry.rows));
  store.set_scale(half_scale(2.0f));
  const std::int64_t batch = 16, view = geometry.columns * geometry.rows;
  const cuda::DeviceBuffer<float> rows(batch * view);
  for (std::int64_t first = 0; first < geometry.views(); first += batch) {
    const std::int64_t left = geometry.views() - first, count = left < batch ? left : batch;
    fill_views(rows.data(), backprojection.view_order(), first, count, geometry.columns, geometry.rows);
    store.store({.data = rows.data(), .row_stride = geometry.columns, .view_stride = view}, first, count, 0,
                geometry.rows, nullptr);
  }
  cuda::check(cudaDeviceSynchronize(), "fill the views");
  return store;
}

}  // namespace lepus::bench
