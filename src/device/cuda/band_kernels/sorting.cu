// SPDX-License-Identifier: Apache-2.0
// Sorting the columns of sinograms on the device: bitonic, several columns of one sinogram to a block so that every
// view is read in pieces of whole sectors; in shared memory where the views fit, else in global memory by the same
// code. Compiled without contraction: the columns that are found faulty are the host's.
#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/ring_kernels.h"
#include "project/sorted_keys.h"
#include "project/stripe_columns.h"

namespace lepus::rings {
namespace {

constexpr int sort_threads = 512;
constexpr int maximum_columns = 8;            // 32 bytes of a view
constexpr std::int64_t keys_together = 4096;  // 32 KiB: as many blocks as a multiprocessor takes threads of

__host__ __device__ std::int64_t power_of_two(std::int64_t n) {
  std::int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}
int columns_together(std::int64_t padded) {
  int columns = maximum_columns;
  while (columns > 1 && columns * padded > keys_together) columns /= 2;
  return columns;
}
bool fits_shared(std::int64_t padded) {
  int device = 0, bytes = 0;
  cuda::check(cudaGetDevice(&device), "find the device");
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "ask the device");
  return padded * 8 <= bytes;
}

// `lists` lists of n keys (a power of two), one after the other, each into ascending order.
template <class Key>
__device__ void bitonic_sort(Key* keys, std::int64_t n, int lists) {
  for (std::int64_t size = 2; size <= n; size *= 2)
    for (std::int64_t stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (std::int64_t i = threadIdx.x; i < lists * n / 2; i += blockDim.x) {
        const std::int64_t low = 2 * i - (i & (stride - 1)), high = low + stride;
        const Key a = keys[low], b = keys[high];
        const bool ascending = (low & (n - 1) & size) == 0;
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  __syncthreads();
}

enum class Sorted { values, bends };

template <Sorted What>
__global__ void __launch_bounds__(sort_threads)
    sort_columns(Planes sinograms, Planes sorted, std::uint32_t* views, double* medians, std::uint64_t* global_keys,
                 std::int64_t padded, int columns) {
  extern __shared__ std::uint64_t local_keys[];
  const std::int64_t first = std::int64_t{blockIdx.x} * columns, height = sinograms.height;
  const std::int64_t count = What == Sorted::values ? height : height - 2;
  std::uint64_t* keys =
      global_keys ? global_keys + (std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x) * columns * padded : local_keys;
  for (std::int64_t plane = blockIdx.y; plane < sinograms.count; plane += gridDim.y) {
    for (std::int64_t i = threadIdx.x; i < columns * padded; i += blockDim.x) {
      const std::int64_t x = first + i % columns, y = i / columns;
      std::uint64_t key = ~std::uint64_t{0};
      if (x < sinograms.width && y < count) {
        const float value = sinograms.row(plane, y)[x];
        const float wanted = What == Sorted::values
                                 ? value + 0.0F  // no negative zero
                                 : bend(value, sinograms.row(plane, y + 1)[x], sinograms.row(plane, y + 2)[x]);
        key = sort_key(__float_as_uint(wanted), static_cast<std::uint32_t>(y));
      }
      keys[i % columns * padded + y] = key;
    }
    bitonic_sort(keys, padded, columns);
    if (What == Sorted::values) {
      for (std::int64_t i = threadIdx.x; i < columns * height; i += blockDim.x) {
        const std::int64_t x = first + i % columns, rank = i / columns;
        if (x >= sinograms.width) continue;
        const std::uint64_t key = keys[i % columns * padded + rank];
        sorted.row(plane, rank)[x] = __uint_as_float(value_bits(key));
        views[(plane * height + rank) * sinograms.width + x] = view_of(key);
      }
    } else if (threadIdx.x < columns && first + threadIdx.x < sinograms.width) {
      const std::uint64_t key = keys[threadIdx.x * padded + (count - 1) / 2];
      medians[plane * sinograms.width + first + threadIdx.x] = finite_or_zero(__uint_as_float(value_bits(key)));
    }
    __syncthreads();
  }
}

template <Sorted What>
void launch_sort(const Planes& sinograms, const Planes& sorted, std::uint32_t* views, double* medians,
                 std::uint64_t* keys, cudaStream_t stream) {
  const std::int64_t padded = power_of_two(sinograms.height);
  const int columns = columns_together(padded);
  const std::size_t bytes = fits_shared(padded) ? static_cast<std::size_t>(columns * padded) * 8 : 0;
  cuda::check(
      cudaFuncSetAttribute(sort_columns<What>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "reserve shared memory for sorting");
  // Keys in global memory are one sinogram's: its blocks then take the sinograms in turn.
  const dim3 blocks(blocks_for(sinograms.width, columns), bytes == 0 ? 1 : capped(sinograms.count));
  sort_columns<What><<<blocks, sort_threads, bytes, stream>>>(sinograms, sorted, views, medians,
                                                              bytes == 0 ? keys : nullptr, padded, columns);
  cuda::check_launch("sort_columns");
}

__global__ void put_back(Planes sinograms, Planes smooth, const std::uint32_t* views) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= sinograms.width) return;
  for (std::int64_t line = blockIdx.y; line < sinograms.count * sinograms.height; line += gridDim.y) {
    const std::int64_t plane = line / sinograms.height;
    sinograms.row(plane, views[line * sinograms.width + x])[x] = smooth.row(plane, line % sinograms.height)[x];
  }
}

__global__ void medians_around(const double* flutter, double* around, std::int64_t width, std::int64_t planes,
                               std::int64_t radius) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= width) return;
  for (std::int64_t plane = blockIdx.y; plane < planes; plane += gridDim.y)
    around[plane * width + x] = local_median(flutter + plane * width, width, x, radius);
}

// One thread per sinogram sums in the host's order.
__global__ void contrasts(const double* flutter, const double* around, double* contrast, std::int64_t width,
                          std::int64_t planes) {
  const std::int64_t plane = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (plane >= planes) return;
  const std::int64_t start = plane * width;
  double mean = 0;
  for (std::int64_t x = start; x < start + width; ++x) mean += around[x];
  const double floor = 0.1 * mean / static_cast<double>(width);
  for (std::int64_t x = 0; x < width; ++x)
    contrast[start + x] = flutter_contrast(flutter + start, width, x, around[start + x], floor);
}

__global__ void offsets_of(Planes sorted, Planes smooth, bool relative, double* offsets) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, left_out = sorted.height / 20;
  if (x >= sorted.width) return;
  for (std::int64_t plane = blockIdx.y; plane < sorted.count; plane += gridDim.y) {
    double sum = 0, smooth_sum = 0;
    for (std::int64_t rank = left_out; rank < sorted.height - left_out; ++rank) {
      sum += sorted.row(plane, rank)[x];
      smooth_sum += smooth.row(plane, rank)[x];
    }
    offsets[plane * sorted.width + x] = stripe_offset(sum, smooth_sum, sorted.height - 2 * left_out, relative);
  }
}

// A block per sinogram: sorts a copy of the list, then one thread judges.
__global__ void __launch_bounds__(sort_threads)
    mark(const double* list, double* ascending, std::int64_t width, std::int64_t padded, std::int64_t planes,
         double snr, std::int64_t longest, unsigned char* mask) {
  for (std::int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    double* sorted = ascending + plane * padded;
    for (std::int64_t x = threadIdx.x; x < padded; x += blockDim.x)
      sorted[x] = x < width ? list[plane * width + x] : 1e308;
    bitonic_sort(sorted, padded, 1);
    if (threadIdx.x == 0) mark_columns(list + plane * width, sorted, width, snr, longest, mask + plane * width);
  }
}

__global__ void bridge(Planes sinograms, const unsigned char* mask) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, width = sinograms.width;
  if (x >= width) return;
  for (std::int64_t line = blockIdx.y; line < sinograms.count * sinograms.height; line += gridDim.y) {
    const std::int64_t plane = line / sinograms.height;
    const unsigned char* marked = mask + plane * width;
    if (!marked[x]) continue;
    std::int64_t left = x, right = x;
    while (left >= 0 && marked[left]) --left;
    while (right < width && marked[right]) ++right;
    float* row = sinograms.row(plane, line % sinograms.height);
    row[x] = bridged(row, left, x, right, width);  // good pixels alone are read, marked ones alone written
  }
}

__global__ void replace(Planes sorted, Planes smooth, const unsigned char* mask) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= sorted.width) return;
  for (std::int64_t line = blockIdx.y; line < sorted.count * sorted.height; line += gridDim.y) {
    const std::int64_t plane = line / sorted.height, rank = line % sorted.height;
    if (mask[plane * sorted.width + x]) sorted.row(plane, rank)[x] = smooth.row(plane, rank)[x];
  }
}

constexpr unsigned row_threads = 128;
dim3 row_blocks(std::int64_t width, std::int64_t lines) { return dim3(blocks_for(width, row_threads), capped(lines)); }

}  // namespace

std::int64_t sort_keys_needed(const Planes& sinograms) {
  const std::int64_t padded = power_of_two(sinograms.height);
  return fits_shared(padded) ? 0 : padded * sinograms.width;
}

void launch_sort_columns(const Planes& sinograms, const Planes& sorted, std::uint32_t* views, std::uint64_t* keys,
                         cudaStream_t stream) {
  launch_sort<Sorted::values>(sinograms, sorted, views, nullptr, keys, stream);
}

void launch_flutter(const Planes& sinograms, double* flutter, std::uint64_t* keys, cudaStream_t stream) {
  launch_sort<Sorted::bends>(sinograms, {}, nullptr, flutter, keys, stream);
}

void launch_put_back(const Planes& sinograms, const Planes& smooth, const std::uint32_t* views, cudaStream_t stream) {
  put_back<<<row_blocks(sinograms.width, sinograms.count * sinograms.height), row_threads, 0, stream>>>(sinograms,
                                                                                                        smooth, views);
  cuda::check_launch("put_back");
}

void launch_flutter_contrast(const double* flutter, double* around, double* contrast, std::int64_t width,
                             std::int64_t planes, std::int64_t radius, cudaStream_t stream) {
  medians_around<<<row_blocks(width, planes), row_threads, 0, stream>>>(flutter, around, width, planes, radius);
  cuda::check_launch("medians_around");
  contrasts<<<blocks_for(planes, 32), 32, 0, stream>>>(flutter, around, contrast, width, planes);
  cuda::check_launch("contrasts");
}

void launch_offsets(const Planes& sorted, const Planes& smooth, bool relative, double* offsets, cudaStream_t stream) {
  offsets_of<<<row_blocks(sorted.width, sorted.count), row_threads, 0, stream>>>(sorted, smooth, relative, offsets);
  cuda::check_launch("offsets_of");
}

std::int64_t ascending_size(std::int64_t width) { return power_of_two(width); }

void launch_mark(const double* list, double* ascending, std::int64_t width, std::int64_t planes, double snr,
                 std::int64_t longest, unsigned char* masks, cudaStream_t stream) {
  mark<<<capped(planes), sort_threads, 0, stream>>>(list, ascending, width, power_of_two(width), planes, snr, longest,
                                                    masks);
  cuda::check_launch("mark");
}

void launch_bridge(const Planes& sinograms, const unsigned char* mask, cudaStream_t stream) {
  bridge<<<row_blocks(sinograms.width, sinograms.count * sinograms.height), row_threads, 0, stream>>>(sinograms, mask);
  cuda::check_launch("bridge");
}

void launch_replace(const Planes& sorted, const Planes& smooth, const unsigned char* mask, cudaStream_t stream) {
  replace<<<row_blocks(sorted.width, sorted.count * sorted.height), row_threads, 0, stream>>>(sorted, smooth, mask);
  cuda::check_launch("replace");
}

}  // namespace lepus::rings
