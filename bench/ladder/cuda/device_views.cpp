// SPDX-License-Identifier: Apache-2.0
#include "bench/ladder/cuda/device_views.h"

#include "device/cuda/cuda_check.h"

namespace lepus::ladder {

DeviceViews::DeviceViews(Held held, std::int64_t columns, std::int64_t rows, std::int64_t slots)
    : held_(held), columns_(columns), rows_(rows) {
  if (held == Held::memory) {
    matrices_ = cuda::DeviceBuffer<Matrix>(slots);
    pixels_ = cuda::DeviceBuffer<float>(slots * columns * rows);
    return;
  }
  const cudaChannelFormatDesc channels{32, 0, 0, 0, cudaChannelFormatKindFloat};
  const cudaExtent extent{static_cast<std::size_t>(columns), static_cast<std::size_t>(rows),
                          static_cast<std::size_t>(slots)};
  cudaArray_t array = nullptr;
  cuda::check_allocation(cudaMalloc3DArray(&array, &channels, extent, cudaArrayLayered),
                         slots * columns * rows * static_cast<std::int64_t>(sizeof(float)),
                         "allocate textures for the views");
  array_ = cuda::Array(array);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeBorder;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  cuda::check(cudaCreateTextureObject(&texture, &resource, &description, nullptr), "create a texture");
  texture_ = cuda::Texture(texture);
}

void DeviceViews::send(const float* pixels, const Matrix* matrices, std::int64_t slot, std::int64_t views,
                       cudaStream_t stream) {
  const std::int64_t view = columns_ * rows_;
  if (held_ == Held::memory) {
    cuda::check(cudaMemcpyAsync(matrices_.data() + slot, matrices, static_cast<std::size_t>(views) * sizeof(Matrix),
                                cudaMemcpyHostToDevice, stream),
                "send matrices to the device");
    cuda::check(cudaMemcpyAsync(pixels_.data() + slot * view, pixels,
                                static_cast<std::size_t>(views * view) * sizeof(float), cudaMemcpyHostToDevice, stream),
                "send views to the device");
    return;
  }
  cudaMemcpy3DParms copy{};
  // The copy's interface has no pointer to constant memory; it reads only.
  copy.srcPtr = {const_cast<float*>(pixels), static_cast<std::size_t>(columns_) * sizeof(float),
                 static_cast<std::size_t>(columns_), static_cast<std::size_t>(rows_)};
  copy.dstArray = array_.get();
  copy.dstPos = {0, 0, static_cast<std::size_t>(slot)};
  copy.extent = {static_cast<std::size_t>(columns_), static_cast<std::size_t>(rows_), static_cast<std::size_t>(views)};
  copy.kind = cudaMemcpyHostToDevice;
  cuda::check(cudaMemcpy3DAsync(&copy, stream), "send views to a texture");
}

Pictures DeviceViews::pictures() const {
  return {.pixels = pixels_.data(),
          .texture = texture_.get(),
          .matrices = matrices_.data(),
          .columns = static_cast<int>(columns_),
          .rows = static_cast<int>(rows_)};
}

}  // namespace lepus::ladder
