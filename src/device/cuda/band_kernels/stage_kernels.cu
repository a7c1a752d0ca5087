// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_check.h"
#include "project/grey_levels.h"
#include "device/cuda/band_kernels/stage_kernels.h"

namespace lepus::cuda {
namespace {

unsigned blocks_for(std::int64_t lines) { return static_cast<unsigned>(lines < 65536 ? lines : 65536); }

// What becomes of the values of a pixel of the detector.
struct StageOfPixel {
  BandStage to;
  float dark, open, clip;  // open: its log of the open beam, or one over the open beam

  __device__ StageOfPixel(const BandStaging& staging, std::int64_t pixel)
      : to(staging.to),
        dark(staging.dark ? staging.dark[pixel] : 0.0F),
        open(staging.log_i0 ? staging.log_i0[pixel] : staging.log_i0_everywhere),
        clip(staging.clip) {
    if (to == BandStage::counts_to_grey) open = grey_factor(open);
  }
  __device__ float operator()(float value) const {
    switch (to) {
      case BandStage::counts_to_grey:
        return counts_above_dark(value, dark, clip) * open;
      case BandStage::counts_to_line:
        return line_of_counts(counts_above_dark(value, dark, clip), open);
      case BandStage::line_to_grey:
        return grey_of_line(value);
      case BandStage::as_it_is:
        return value;
    }
    return value;
  }
};

// A thread has a column of eight views, all on their way to it at once.
constexpr int views_at_once = 8;

template <class Pixel>
__global__ void to_stage(const Pixel* recorded, std::int64_t views, SinogramBand band, BandStaging staging) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, columns = band.columns;
  const std::int64_t rows = band.rows.last - band.rows.first;
  for (std::int64_t row = blockIdx.y; row < rows && x < columns; row += gridDim.y) {
    const StageOfPixel stage(staging, (band.rows.first + row) * columns + x);
    for (std::int64_t view0 = std::int64_t{blockIdx.z} * views_at_once; view0 < views;
         view0 += std::int64_t{gridDim.z} * views_at_once) {
      const Pixel* from = recorded + (view0 * rows + row) * columns + x;
      float* to = band.data + (row * band.views + staging.first_view + view0) * columns + x;
      float values[views_at_once];
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (view0 + i < views) values[i] = static_cast<float>(from[i * rows * columns]);
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (view0 + i < views) to[i * columns] = stage(values[i]);
    }
  }
}

__global__ void take_logarithm(SinogramBand band, BandStaging staging, float lowest_of_lines) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, columns = band.columns;
  const std::int64_t rows = band.rows.last - band.rows.first;
  for (std::int64_t row = blockIdx.y; row < rows && x < columns; row += gridDim.y) {
    const std::int64_t pixel = (band.rows.first + row) * columns + x;
    const float open = staging.log_i0 ? staging.log_i0[pixel] : staging.log_i0_everywhere;
    const float lowest = staging.to == BandStage::as_it_is ? lowest_of_lines : staging.clip * grey_factor(open);
    for (std::int64_t view0 = std::int64_t{blockIdx.z} * views_at_once; view0 < band.views;
         view0 += std::int64_t{gridDim.z} * views_at_once) {
      float* values = band.data + (row * band.views + view0) * columns + x;
      float grey[views_at_once];
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (view0 + i < band.views) grey[i] = values[i * columns];
#pragma unroll
      for (int i = 0; i < views_at_once; ++i)
        if (view0 + i < band.views) values[i * columns] = line_of_grey(grey[i], lowest);
    }
  }
}

__global__ void take_views(SinogramBand band, RowBand rows, const std::int64_t* views, std::int64_t count, float* out) {
  const std::int64_t height = rows.last - rows.first;
  for (std::int64_t line = blockIdx.x; line < height * count; line += gridDim.x) {
    const std::int64_t row = rows.first - band.rows.first + line % height;
    const float* __restrict__ values = band.data + (row * band.views + views[line / height]) * band.columns;
    float* __restrict__ taken = out + line * band.columns;
#pragma unroll 4
    for (std::int64_t i = threadIdx.x; i < band.columns; i += blockDim.x) taken[i] = values[i];
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

// Threads along columns, blocks of them along rows and views.
dim3 blocks_of(const SinogramBand& band) {
  const auto most = [](std::int64_t n) { return static_cast<unsigned>(n < 65535 ? n : 65535); };
  return {static_cast<unsigned>((band.columns + 255) / 256), most(band.rows.size()),
          most((band.views + views_at_once - 1) / views_at_once)};
}

template <class Pixel>
void launch_from(const void* recorded, const SinogramBand& band, const BandStaging& staging, cudaStream_t stream) {
  const std::int64_t views = staging.views > 0 ? staging.views : band.views;
  to_stage<<<blocks_of(band), 256, 0, stream>>>(static_cast<const Pixel*>(recorded), views, band, staging);
  check_launch("the stage of a band");
}

}  // namespace

void launch_to_stage(PixelType type, const void* recorded, const SinogramBand& band, const BandStaging& staging,
                     cudaStream_t stream) {
  if (band.floats() == 0) return;
  switch (type) {
    case PixelType::u8:
      return launch_from<std::uint8_t>(recorded, band, staging, stream);
    case PixelType::i8:
      return launch_from<std::int8_t>(recorded, band, staging, stream);
    case PixelType::u16:
      return launch_from<std::uint16_t>(recorded, band, staging, stream);
    case PixelType::i16:
      return launch_from<std::int16_t>(recorded, band, staging, stream);
    case PixelType::u32:
      return launch_from<std::uint32_t>(recorded, band, staging, stream);
    case PixelType::i32:
      return launch_from<std::int32_t>(recorded, band, staging, stream);
    case PixelType::f16:
    case PixelType::f32:
    case PixelType::f64:  // whoever reads them makes f32 of them
      return launch_from<float>(recorded, band, staging, stream);
  }
}

void launch_logarithm(const SinogramBand& band, const BandStaging& staging, float lowest_of_lines,
                      cudaStream_t stream) {
  if (band.floats() == 0) return;
  take_logarithm<<<blocks_of(band), 256, 0, stream>>>(band, staging, lowest_of_lines);
  check_launch("the log of a band");
}

void launch_take_views(const SinogramBand& band, RowBand rows, const std::int64_t* views, std::int64_t count,
                       float* out, cudaStream_t stream) {
  if (rows.size() * count == 0) return;
  take_views<<<blocks_for(rows.size() * count), 256, 0, stream>>>(band, rows, views, count, out);
  check_launch("the views of a band");
}

void launch_map_views(const SinogramBand& band, const RowMap& map, RowBand rows, std::int64_t columns,
                      const std::int64_t* views, std::int64_t count, float* out, cudaStream_t stream) {
  constexpr std::int64_t maximum_views = 65535, rows_apart = 64;  // of a grid; of the rows of a thread
  const std::int64_t layers = rows.size() < rows_apart ? rows.size() : rows_apart;
  for (std::int64_t first = 0; first < count && layers > 0; first += maximum_views) {
    const std::int64_t part = count - first < maximum_views ? count - first : maximum_views;
    map_views<<<dim3(static_cast<unsigned>((columns + 127) / 128), static_cast<unsigned>(part),
                     static_cast<unsigned>(layers)),
                128, 0, stream>>>(band, map, rows, columns, views + first, out + first * rows.size() * columns);
    check_launch("the rows of a band");
  }
}

}  // namespace lepus::cuda
