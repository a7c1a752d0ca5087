// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/band_kernels/frame_transforms.h"

#include "device/cuda/cufft_library.h"

namespace lepus::cuda {

struct FrameTransforms::Plans : CufftPlans {};

FrameTransforms::FrameTransforms(std::int64_t height, std::int64_t width, std::int64_t frames)
    : plans_(std::make_unique<Plans>()) {
  const int rows = static_cast<int>(height), half = static_cast<int>(width / 2 + 1), batch = static_cast<int>(frames);
  int size[2] = {rows, static_cast<int>(width)}, reals[2] = {rows, 2 * half}, frequencies[2] = {rows, half};
  check_cufft(cufft_library().plan_many(&plans_->forward, 2, size, reals, 1, rows * 2 * half, frequencies, 1,
                                        rows * half, CUFFT_R2C, batch),
              "plan a transform of frames");
  plans_->has_forward = true;
  check_cufft(cufft_library().plan_many(&plans_->backward, 2, size, frequencies, 1, rows * half, reals, 1,
                                        rows * 2 * half, CUFFT_C2R, batch),
              "plan a transform of frames");
  plans_->has_backward = true;
}

FrameTransforms::~FrameTransforms() = default;

void FrameTransforms::there(cudaStream_t stream, float* frames) {
  check_cufft(cufft_library().set_stream(plans_->forward, stream), "use a stream");
  check_cufft(cufft_library().there(plans_->forward, frames, reinterpret_cast<cufftComplex*>(frames)),
              "transform frames");
}

void FrameTransforms::back(cudaStream_t stream, float* frames) {
  check_cufft(cufft_library().set_stream(plans_->backward, stream), "use a stream");
  check_cufft(cufft_library().back(plans_->backward, reinterpret_cast<cufftComplex*>(frames), frames),
              "transform frames back");
}

}  // namespace lepus::cuda
