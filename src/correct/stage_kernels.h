// SPDX-License-Identifier: Apache-2.0
// From counts to grey levels or line integrals, and from one to the other, for a band in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include "correct/planes.h"

namespace lepus::cuda {

// As preprocess/normalise.h; device pointers of the whole detector, null where there is none.
struct BandNormalisation {
  const float* dark = nullptr;
  const float* log_i0 = nullptr;
  float log_i0_everywhere = 0, clip = 1;
};

void launch_to_grey_levels(const SinogramBand& band, const BandNormalisation& normalisation, cudaStream_t stream);
void launch_to_line_integrals(const SinogramBand& band, const BandNormalisation& normalisation, cudaStream_t stream);
void launch_exponential(const SinogramBand& band, cudaStream_t stream);                  // g = exp(-p)
void launch_logarithm(const SinogramBand& band, float least_grey, cudaStream_t stream);  // p = -ln max(g, least)

}  // namespace lepus::cuda
