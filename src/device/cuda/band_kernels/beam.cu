// SPDX-License-Identifier: Apache-2.0
// One thread per value, or per column of a sinogram where the views must be taken in order. All are bound by memory:
// what counts is that neighbouring threads touch neighbouring columns.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/beam_kernels.h"

namespace lepus::cuda {
namespace {

constexpr unsigned block_columns = 128;
constexpr unsigned maximum_blocks = 65535;  // of a grid in y and z

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + block_columns - 1) / block_columns); }
unsigned capped(std::int64_t n) { return static_cast<unsigned>(n < maximum_blocks ? n : maximum_blocks); }

// change(value, view, pixel of the band) for every value.
template <class Change>
__global__ void each_value(Planes planes, Change change) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= planes.width) return;
  for (std::int64_t plane = blockIdx.z; plane < planes.count; plane += gridDim.z)
    for (std::int64_t y = blockIdx.y; y < planes.height; y += gridDim.y) {
      float* value = planes.row(plane, y) + x;
      *value = change(*value, y, plane * planes.width + x);
    }
}

struct Scale {
  const float* factors;
  __device__ float operator()(float value, std::int64_t view, std::int64_t) const { return value * factors[view]; }
};

struct Linearise {
  HardeningCurve curve;
  __device__ float operator()(float value, std::int64_t, std::int64_t) const { return linearised(curve, value); }
};

struct InterpolateFlats {
  const float* mean;  // of the band's first pixel on, as planes
  const float* planes;
  std::int64_t pixels;
  const FlatShare* shares;
  __device__ float operator()(float value, std::int64_t view, std::int64_t pixel) const {
    const FlatShare share = shares[view];
    const float flat =
        interpolated_flat(planes[share.before * pixels + pixel], planes[share.after * pixels + pixel], share.share);
    return value * flat_factor(mean[pixel], flat);
  }
};

template <class Change>
void launch_each_value(const Planes& planes, const Change& change, cudaStream_t stream, const char* name) {
  if (planes.width < 1 || planes.height < 1 || planes.count < 1) return;
  const dim3 blocks(blocks_of(planes.width), capped(planes.height), capped(planes.count));
  each_value<<<blocks, block_columns, 0, stream>>>(planes, change);
  check_launch(name);
}

__global__ void remove_lag(Planes planes, LagModel model, LagStart start) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= planes.width) return;
  for (std::int64_t plane = blockIdx.y; plane < planes.count; plane += gridDim.y) {
    float* value = planes.row(plane, 0) + x;
    float state = lag_start(start, *value);
    for (std::int64_t view = 0; view < planes.height; ++view, value += planes.row_stride)
      *value = without_lag(model, *value, state);
  }
}

}  // namespace

void launch_scale_views(const Planes& sinograms, const float* factors, cudaStream_t stream) {
  launch_each_value(sinograms, Scale{factors}, stream, "scale_views");
}

void launch_linearise(const Planes& sinograms, const HardeningCurve& curve, cudaStream_t stream) {
  launch_each_value(sinograms, Linearise{curve}, stream, "linearise");
}

void launch_interpolate_flats(const Planes& sinograms, std::int64_t first_row, const FlatsOfViews& flats,
                              cudaStream_t stream) {
  const std::int64_t first = first_row * sinograms.width;
  launch_each_value(sinograms, InterpolateFlats{flats.mean + first, flats.flats + first, flats.pixels, flats.shares},
                    stream, "interpolate_flats");
}

void launch_remove_lag(const Planes& sinograms, const LagModel& model, LagStart start, cudaStream_t stream) {
  if (sinograms.width < 1 || sinograms.height < 1 || sinograms.count < 1) return;
  const dim3 blocks(blocks_of(sinograms.width), capped(sinograms.count));
  remove_lag<<<blocks, block_columns, 0, stream>>>(sinograms, model, start);
  check_launch("remove_lag");
}

}  // namespace lepus::cuda
