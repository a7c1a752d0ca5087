// SPDX-License-Identifier: Apache-2.0
// Real 2-D transforms of many frames by cuFFT, in place: height rows of width floats, each row padded to
// 2 (width / 2 + 1) floats. The library is looked for when it is needed, so that lepus starts without it.
#pragma once

#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>

namespace lepus::cuda {

class FrameTransforms {
public:
  FrameTransforms(std::int64_t height, std::int64_t width, std::int64_t frames);
  ~FrameTransforms();
  void there(cudaStream_t stream, float* frames);
  void back(cudaStream_t stream, float* frames);  // not divided by height * width

private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace lepus::cuda
