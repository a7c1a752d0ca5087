// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_check.h"
#include "correct/stage_kernels.h"

namespace lepus::cuda {
namespace {

// A block per row and view, threads along the columns; value = what(pixel of the detector, value).
template <class What>
__global__ void change_values(SinogramBand band, What what) {
  for (std::int64_t line = blockIdx.x; line < (band.rows.last - band.rows.first) * band.views; line += gridDim.x) {
    const std::int64_t row = band.rows.first + line / band.views;
    float* values = band.data + line * band.columns;
    for (std::int64_t i = threadIdx.x; i < band.columns; i += blockDim.x)
      values[i] = what(row * band.columns + i, values[i]);
  }
}

template <class What>
void launch(const SinogramBand& band, const What& what, cudaStream_t stream) {
  const std::int64_t lines = band.rows.size() * band.views;
  if (lines == 0) return;
  change_values<<<static_cast<unsigned>(lines < 65536 ? lines : 65536), 256, 0, stream>>>(band, what);
  check_launch("the stage of a band");
}

__device__ float counts(const BandNormalisation& n, std::int64_t pixel, float value) {
  return fmaxf(n.dark ? value - n.dark[pixel] : value, n.clip);
}
__device__ float log_of_open_beam(const BandNormalisation& n, std::int64_t pixel) {
  return n.log_i0 ? n.log_i0[pixel] : n.log_i0_everywhere;
}

struct ToGrey {
  BandNormalisation n;
  __device__ float operator()(std::int64_t pixel, float value) const {
    return counts(n, pixel, value) * expf(-log_of_open_beam(n, pixel));
  }
};
struct ToLine {
  BandNormalisation n;
  __device__ float operator()(std::int64_t pixel, float value) const {
    return log_of_open_beam(n, pixel) - logf(counts(n, pixel, value));
  }
};
struct Exponential {
  __device__ float operator()(std::int64_t, float value) const { return expf(-value); }
};
struct Logarithm {
  float least;
  __device__ float operator()(std::int64_t, float value) const { return -logf(fmaxf(value, least)); }
};

}  // namespace

void launch_to_grey_levels(const SinogramBand& band, const BandNormalisation& normalisation, cudaStream_t stream) {
  launch(band, ToGrey{normalisation}, stream);
}
void launch_to_line_integrals(const SinogramBand& band, const BandNormalisation& normalisation, cudaStream_t stream) {
  launch(band, ToLine{normalisation}, stream);
}
void launch_exponential(const SinogramBand& band, cudaStream_t stream) { launch(band, Exponential{}, stream); }
void launch_logarithm(const SinogramBand& band, float least_grey, cudaStream_t stream) {
  launch(band, Logarithm{least_grey}, stream);
}

}  // namespace lepus::cuda
