// SPDX-License-Identifier: Apache-2.0
// Views on the device as the steps read them: in plain memory, or in a layered array behind a texture.
#pragma once

#include <cstdint>

#include "device/cuda/device_memory.h"
#include "bench/ladder/cuda/launch.h"
#include "bench/ladder/problem.h"

namespace lepus::ladder {

enum class Held { memory, texture };

class DeviceViews {
public:
  DeviceViews(Held held, std::int64_t columns, std::int64_t rows, std::int64_t slots);

  // Views from host memory into the slots [slot, slot + views). The pixels must stay until the stream has passed.
  void send(const float* pixels, const Matrix* matrices, std::int64_t slot, std::int64_t views, cudaStream_t stream);
  Pictures pictures() const;

private:
  Held held_;
  std::int64_t columns_, rows_;
  cuda::DeviceBuffer<Matrix> matrices_;
  cuda::DeviceBuffer<float> pixels_;
  cuda::Array array_;
  cuda::Texture texture_;
};

}  // namespace lepus::ladder
