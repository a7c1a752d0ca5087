// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/row_filter_cufft.h"

#include "device/cuda/cufft_library.h"

namespace lepus::cuda {

struct RowTransforms::Plans : CufftPlans {};

RowTransforms::RowTransforms(std::int64_t length, std::int64_t rows) : plans_(std::make_unique<Plans>()) {
  int n = static_cast<int>(length), reals = n + 2, frequencies = n / 2 + 1;
  const int batch = static_cast<int>(rows);
  check_cufft(cufft_library().plan_many(&plans_->forward, 1, &n, &reals, 1, reals, &frequencies, 1, frequencies,
                                        CUFFT_R2C, batch),
              "plan a transform");
  plans_->has_forward = true;
  check_cufft(cufft_library().plan_many(&plans_->backward, 1, &n, &frequencies, 1, frequencies, &reals, 1, reals,
                                        CUFFT_C2R, batch),
              "plan a transform");
  plans_->has_backward = true;
}

RowTransforms::~RowTransforms() = default;

void RowTransforms::there(cudaStream_t stream, float* lines) {
  check_cufft(cufft_library().set_stream(plans_->forward, stream), "use a stream");
  check_cufft(cufft_library().there(plans_->forward, lines, reinterpret_cast<cufftComplex*>(lines)), "transform rows");
}

void RowTransforms::back(cudaStream_t stream, float* lines) {
  check_cufft(cufft_library().set_stream(plans_->backward, stream), "use a stream");
  check_cufft(cufft_library().back(plans_->backward, reinterpret_cast<cufftComplex*>(lines), lines),
              "transform rows back");
}

}  // namespace lepus::cuda
