// SPDX-License-Identifier: Apache-2.0
// The exact median on a device, along rows and of volumes. A block takes a piece of a row with all that its masks see,
// column by column, so that the mask of each pixel is one run of that sequence. It sorts the values, replaces them by
// their ranks, and builds a wavelet matrix of these in shared memory (Inf. Syst. 47, 15-32, 2015): level by level, from
// the highest bit of the rank, the sequence is parted into zeros and ones, and the count of zeros before each place is
// known. The k-th smallest of any run is then found bit by bit, with two counts per bit, whatever the run's length.
// Masks so large that no piece fits are searched bit by bit in global memory.
#include <cub/block/block_radix_sort.cuh>

#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/device_medians.cuh"

namespace lepus::filters {
namespace {

constexpr int bits_of(int size) { return size <= 1 ? 0 : 1 + bits_of(size / 2); }

// Which of the 32 places of a word hold a zero, and how many zeros come before the word.
struct alignas(8) Zeros {
  std::uint32_t places, before;
};

template <int Threads, int Items>
struct WaveletBlock {
  static constexpr int size = Threads * Items, levels = bits_of(size), words = size / 32;
  using Sort = cub::BlockRadixSort<std::uint32_t, Threads, Items, std::uint16_t>;

  std::uint32_t sorted[size];
  std::uint16_t ranks[2][size];
  Zeros zeros[levels][words + 1];
};

template <int Threads, int Items>
union WaveletMemory {
  typename WaveletBlock<Threads, Items>::Sort::TempStorage sort;
  WaveletBlock<Threads, Items> block;
};

// From ranks[0], by place. Ranks are all numbers below `size`, so that each bit is zero in half of them.
template <int Threads, int Items>
__device__ void build_wavelet(WaveletBlock<Threads, Items>& block) {
  using Block = WaveletBlock<Threads, Items>;
  constexpr int size = Block::size, words = Block::words, levels = Block::levels;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int level = 0; level < levels; ++level) {
    const std::uint16_t* from = block.ranks[level % 2];
    std::uint16_t* to = block.ranks[(level + 1) % 2];
    const int bit = levels - 1 - level;
    Zeros* zeros = block.zeros[level];
    for (int i = thread; i < size; i += Threads) {
      const std::uint32_t places = __ballot_sync(0xffffffffu, (from[i] >> bit & 1) == 0);
      if (lane == 0) zeros[i / 32].places = places;
    }
    __syncthreads();
    if (thread < 32) {
      constexpr int each = words / 32;
      std::uint32_t mine = 0;
      for (int w = lane * each; w < (lane + 1) * each; ++w) mine += __popc(zeros[w].places);
      std::uint32_t up_to = mine;
      for (int step = 1; step < 32; step *= 2) {
        const std::uint32_t lower = __shfl_up_sync(0xffffffffu, up_to, step);
        if (lane >= step) up_to += lower;
      }
      std::uint32_t before = up_to - mine;
      for (int w = lane * each; w < (lane + 1) * each; ++w) {
        zeros[w].before = before;
        before += __popc(zeros[w].places);
      }
      if (lane == 31) zeros[words] = {0, before};
    }
    __syncthreads();
    if (level + 1 < levels)
      for (int i = thread; i < size; i += Threads) {
        const std::uint16_t rank = from[i];
        const Zeros word = zeros[i / 32];
        const int zeros_before = static_cast<int>(word.before) + __popc(word.places & ((1u << lane) - 1));
        to[(rank >> bit & 1) == 0 ? zeros_before : size / 2 + i - zeros_before] = rank;
      }
    __syncthreads();
  }
}

// The k-th smallest rank of places [first, last).
template <int Threads, int Items>
__device__ int find_rank(const WaveletBlock<Threads, Items>& block, int first, int last, int k) {
  using Block = WaveletBlock<Threads, Items>;
  int rank = 0;
  for (int level = 0; level < Block::levels; ++level) {
    const auto zeros_before = [&](int place) {
      const Zeros word = block.zeros[level][place >> 5];
      return static_cast<int>(word.before) + __popc(word.places & ((1u << (place & 31)) - 1));
    };
    const int zeros_first = zeros_before(first), zeros_last = zeros_before(last), zeros = zeros_last - zeros_first;
    rank *= 2;
    if (k < zeros) {
      first = zeros_first, last = zeros_last;
    } else {
      k -= zeros;
      first += Block::size / 2 - zeros_first, last += Block::size / 2 - zeros_last;
      ++rank;
    }
  }
  return rank;
}

// A block per piece of a row: `piece` pixels, each column of the masks `mask_rows` * `mask_planes` values.
template <int Threads, int Items>
__global__ void __launch_bounds__(Threads) median_kernel(const __grid_constant__ DeviceJob job, int pieces, int piece) {
  using Block = WaveletBlock<Threads, Items>;
  extern __shared__ uint4 median_shared[];
  auto& memory = *reinterpret_cast<WaveletMemory<Threads, Items>*>(median_shared);
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width;
  const Place place = row_place(pass, blockIdx.x / pieces);
  const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x % pieces) * piece;
  const int n = static_cast<int>(x0 + piece < width ? piece : width - x0);
  const int thread = static_cast<int>(threadIdx.x);
  const bool kept_row = row_is_kept(pass, job.to, place.plane, place.y);
  const int reach = static_cast<int>(pass.reach_u), mask_rows = static_cast<int>(2 * pass.reach_v + 1);
  const int high = mask_rows * static_cast<int>(2 * pass.reach_z + 1), wide = n + 2 * reach;
  if (!kept_row) {
    std::uint32_t keys[Items];
    std::uint16_t places[Items];
#pragma unroll
    for (int item = 0; item < Items; ++item) {
      const int i = item * Threads + thread, line = i / wide, column = i % wide;  // neighbouring threads along the row
      keys[item] = absent;
      places[item] = static_cast<std::uint16_t>(i);
      if (i >= wide * high) continue;
      const float* row = found_row(pass, job.from, place.plane - pass.reach_z + line / mask_rows,
                                   place.y - pass.reach_v + line % mask_rows);
      keys[item] = key_at(pass, job.from, row, x0 - reach + column);
      places[item] = static_cast<std::uint16_t>(column * high + line);
    }
    typename Block::Sort(memory.sort).Sort(keys, places);
    __syncthreads();
#pragma unroll
    for (int item = 0; item < Items; ++item) {
      const int rank = thread * Items + item;
      memory.block.sorted[rank] = keys[item];
      memory.block.ranks[0][places[item]] = static_cast<std::uint16_t>(rank);
    }
    __syncthreads();
    build_wavelet(memory.block);
  }
  float* out = job.to.row(place.plane, place.y) + x0;
  for (int i = thread; i < n; i += Threads) {
    if (kept_row || column_is_kept(pass, x0 + i, width)) {
      out[i] = job.original.row(place.plane, place.y)[x0 + i];
      continue;
    }
    const auto k = static_cast<int>(median_rank(pass, job.from, place, x0 + i));
    const int rank = find_rank(memory.block, i * high, (i + 2 * reach + 1) * high, k);
    out[i] = __uint_as_float(float_bits_of(memory.block.sorted[rank]));
  }
}

constexpr int search_threads = 128;

// A thread per pixel: the largest key that has at most k smaller ones is the k-th smallest.
__global__ void __launch_bounds__(search_threads) median_search(const __grid_constant__ DeviceJob job, int pieces) {
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width;
  const Place place = row_place(pass, blockIdx.x / pieces);
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x % pieces) * search_threads + threadIdx.x;
  if (x >= width) return;
  float* out = job.to.row(place.plane, place.y) + x;
  if (row_is_kept(pass, job.to, place.plane, place.y) || column_is_kept(pass, x, width)) {
    *out = job.original.row(place.plane, place.y)[x];
    return;
  }
  const std::int64_t k = median_rank(pass, job.from, place, x);
  const int reach = static_cast<int>(pass.reach_u);
  const auto each_key = [&](auto&& use) {
    for (std::int64_t dz = -pass.reach_z; dz <= pass.reach_z; ++dz)
      for (std::int64_t dy = -pass.reach_v; dy <= pass.reach_v; ++dy) {
        const float* row = found_row(pass, job.from, place.plane + dz, place.y + dy);
        for (int dx = -reach; dx <= reach; ++dx) use(key_at(pass, job.from, row, x + dx));
      }
  };
  std::uint32_t same = 0xffffffffu, any = 0;  // bits that are set in all keys, in any
  each_key([&](std::uint32_t key) { same &= key, any |= key; });
  const int differing = 32 - __clz(same ^ any);  // bits below it are to be found
  std::uint32_t median = differing == 32 ? 0 : same >> differing << differing;
  for (int bit = differing - 1; bit >= 0; --bit) {
    const std::uint32_t candidate = median | 1u << bit;
    std::int64_t smaller = 0;
    each_key([&](std::uint32_t key) { smaller += key < candidate; });
    if (smaller <= k) median = candidate;
  }
  *out = __uint_as_float(float_bits_of(median));
}

struct Choice {
  void (*kernel)(DeviceJob, int, int) = nullptr;
  int threads = 0, bytes = 0;
  std::int64_t pieces = 0, piece = 0, cost = 0;
};

// Takes this size of block where it is cheaper than what was chosen before.
template <int Threads, int Items>
void consider(const DeviceJob& job, int maximum_bytes, Choice& best) {
  using Block = WaveletBlock<Threads, Items>;
  constexpr int bytes = static_cast<int>(sizeof(WaveletMemory<Threads, Items>));
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, high = (2 * pass.reach_v + 1) * (2 * pass.reach_z + 1);
  const std::int64_t fits = Block::size / high - 2 * pass.reach_u;
  if (bytes > maximum_bytes || fits < 1) return;
  const std::int64_t pieces = (width + fits - 1) / fits, cost = pieces * Block::size * (Block::levels + 8);
  if (best.kernel && best.cost <= cost) return;
  best = {&median_kernel<Threads, Items>, Threads, bytes, pieces, (width + pieces - 1) / pieces, cost};
}

}  // namespace

void median_on_device(const DeviceJob& job, cudaStream_t stream) {
  if (job.pass.reach_v > 0 && job.pass.reach_z == 0 && median_by_tiles(job, stream)) return;
  const std::int64_t rows = job.pass.rows.size() * job.pass.planes.size();
  const int maximum_bytes = largest_shared_bytes();
  Choice best;
  consider<128, 8>(job, maximum_bytes, best);
  consider<256, 8>(job, maximum_bytes, best);
  consider<512, 8>(job, maximum_bytes, best);
  consider<1024, 8>(job, maximum_bytes, best);
  consider<1024, 16>(job, maximum_bytes, best);
  if (!best.kernel) {
    const std::int64_t pieces = (job.from.part.width + search_threads - 1) / search_threads;
    median_search<<<static_cast<unsigned>(pieces * rows), search_threads, 0, stream>>>(job, static_cast<int>(pieces));
    cuda::check_launch("median of a large mask");
    return;
  }
  cuda::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(best.kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, best.bytes),
              "make room for a median in shared memory");
  best.kernel<<<static_cast<unsigned>(best.pieces * rows), best.threads, best.bytes, stream>>>(
      job, static_cast<int>(best.pieces), static_cast<int>(best.piece));
  cuda::check_launch("median");
}

}  // namespace lepus::filters
