// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_check.h"
#include "correct/stage_kernels.h"

namespace lepus::cuda {
namespace {

unsigned blocks_for(std::int64_t lines) { return static_cast<unsigned>(lines < 65536 ? lines : 65536); }

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
  change_values<<<blocks_for(lines), 256, 0, stream>>>(band, what);
  check_launch("the stage of a band");
}

// A block per row and view.
template <class Pixel>
__global__ void to_floats(const Pixel* recorded, SinogramBand band) {
  const std::int64_t rows = band.rows.last - band.rows.first;
  for (std::int64_t line = blockIdx.x; line < rows * band.views; line += gridDim.x) {
    const std::int64_t row = line % rows, view = line / rows;
    float* values = band.data + (row * band.views + view) * band.columns;
    for (std::int64_t i = threadIdx.x; i < band.columns; i += blockDim.x)
      values[i] = static_cast<float>(recorded[line * band.columns + i]);
  }
}

__global__ void take_views(SinogramBand band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out) {
  const std::int64_t height = rows.last - rows.first;
  for (std::int64_t line = blockIdx.x; line < height * count; line += gridDim.x) {
    const std::int64_t row = rows.first - band.rows.first + line % height;
    const float* values = band.data + (row * band.views + views[line / height]) * band.columns;
    for (std::int64_t i = threadIdx.x; i < band.columns; i += blockDim.x) out[line * band.columns + i] = values[i];
  }
}

// A block per view and strip of columns: what interpolates along the row is the same for all rows.
__global__ void map_views(SinogramBand band, RowMap map, RowBand rows, std::int64_t columns, const std::int64_t* views,
                          float* out) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, view = views[blockIdx.y];
  if (column >= columns) return;
  const std::int64_t height = rows.last - rows.first;
  const ClampedTaps across = taps_across(map, column);
  const auto recorded = [&](std::int64_t row) {
    return band.data + ((row - band.rows.first) * band.views + view) * band.columns;
  };
  for (std::int64_t row = blockIdx.z; row < height; row += gridDim.z)
    out[(blockIdx.y * height + row) * columns + column] =
        mapped_value(map, view, rows.first + row, column, across, recorded);
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

template <class Pixel>
void launch_to_floats_from(const void* recorded, const SinogramBand& band, cudaStream_t stream) {
  to_floats<<<blocks_for(band.rows.size() * band.views), 256, 0, stream>>>(static_cast<const Pixel*>(recorded), band);
  check_launch("the floats of a band");
}

}  // namespace

void launch_to_floats(PixelType type, const void* recorded, const SinogramBand& band, cudaStream_t stream) {
  if (band.floats() == 0) return;
  switch (type) {
    case PixelType::u8:
      return launch_to_floats_from<std::uint8_t>(recorded, band, stream);
    case PixelType::i8:
      return launch_to_floats_from<std::int8_t>(recorded, band, stream);
    case PixelType::u16:
      return launch_to_floats_from<std::uint16_t>(recorded, band, stream);
    case PixelType::i16:
      return launch_to_floats_from<std::int16_t>(recorded, band, stream);
    case PixelType::u32:
      return launch_to_floats_from<std::uint32_t>(recorded, band, stream);
    case PixelType::i32:
      return launch_to_floats_from<std::int32_t>(recorded, band, stream);
    case PixelType::f32:
    case PixelType::f64:  // whoever reads them makes f32 of them
      return launch_to_floats_from<float>(recorded, band, stream);
  }
}

void launch_take_views(const SinogramBand& band, RowBand rows, const std::int64_t* views, std::int64_t count,
                       float* out, cudaStream_t stream) {
  if (rows.size() * count == 0) return;
  take_views<<<blocks_for(rows.size() * count), 256, 0, stream>>>(band, rows, views, count, out);
  check_launch("the views of a band");
}

void launch_map_views(const SinogramBand& band, const RowMap& map, RowBand rows, std::int64_t columns,
                      const std::int64_t* views, std::int64_t count, float* out, cudaStream_t stream) {
  constexpr std::int64_t most_views = 65535, rows_apart = 64;  // of a grid; of the rows of a thread
  const std::int64_t layers = rows.size() < rows_apart ? rows.size() : rows_apart;
  for (std::int64_t first = 0; first < count && layers > 0; first += most_views) {
    const std::int64_t part = count - first < most_views ? count - first : most_views;
    map_views<<<dim3(static_cast<unsigned>((columns + 127) / 128), static_cast<unsigned>(part),
                     static_cast<unsigned>(layers)),
                128, 0, stream>>>(band, map, rows, columns, views + first, out + first * rows.size() * columns);
    check_launch("the rows of a band");
  }
}

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
