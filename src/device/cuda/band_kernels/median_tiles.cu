// SPDX-License-Identifier: Apache-2.0
// The exact median of a picture on a device. A block sorts a tile with all that its masks see and replaces every value
// by its rank: no two are the same. Each warp then slides along a row of the tile and holds the ranks under the mask as
// a set of bits (T. S. Huang et al., IEEE Trans. ASSP 27, 13-18, 1979, for histograms): a step clears one column of the
// mask and sets one, 32 at a time, and looks for the k-th bit near the place of the last one. A pixel costs in
// proportion to the radius, and little: 2 (2 r + 1) / 32 steps, and the sort's share.
#include <cub/block/block_radix_sort.cuh>

#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/device_medians.cuh"

namespace lepus::filters {
namespace {

constexpr unsigned all_lanes = 0xffffffffu;

template <int Threads, int Items>
struct TileBlock {
  static constexpr int size = Threads * Items, words = size / 32, warps = Threads / 32;
  using Sort = cub::BlockRadixSort<std::uint32_t, Threads, Items, std::uint16_t>;

  std::uint32_t sorted[size];
  std::uint16_t ranks[size];         // [column][row] of what the masks see
  std::uint32_t sets[warps][words];  // of each warp
};

template <int Threads, int Items>
union TileMemory {
  typename TileBlock<Threads, Items>::Sort::TempStorage sort;
  TileBlock<Threads, Items> block;
};

// The ranks under a mask. `before` of them are in words below `base`.
struct RankSet {
  std::uint32_t* words;
  int count, lane, base, before;

  // Takes out or puts in `n` ranks.
  __device__ void toggle(const std::uint16_t* ranks, int n, int sign) {
    for (int i = lane; i - lane < n; i += 32) {
      const int rank = i < n ? ranks[i] : count * 32;
      if (i < n) atomicXor(words + (rank >> 5), 1u << (rank & 31));
      before += sign * __popc(__ballot_sync(all_lanes, rank >> 5 < base));
    }
  }

  // The k-th smallest, k from 0; there are more than k.
  __device__ int find(int k) {
    while (k < before) {  // go down by up to 32 words
      const int lower = base > 32 ? base - 32 : 0, word = lower + lane;
      int here = word < base ? __popc(words[word]) : 0;
      for (int step = 16; step > 0; step /= 2) here += __shfl_xor_sync(all_lanes, here, step);
      before -= here;
      base = lower;
    }
    for (;;) {
      const std::uint32_t bits = base + lane < count ? words[base + lane] : 0;
      int up_to = __popc(bits);
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int lower = __shfl_up_sync(all_lanes, up_to, step);
        if (lane >= step) up_to += lower;
      }
      const unsigned beyond = __ballot_sync(all_lanes, before + up_to > k);
      if (beyond == 0) {
        before += __shfl_sync(all_lanes, up_to, 31);
        base += 32;
        continue;
      }
      const int at = __ffs(static_cast<int>(beyond)) - 1;
      const std::uint32_t word = __shfl_sync(all_lanes, bits, at);
      const int left = k - before - (__shfl_sync(all_lanes, up_to, at) - __popc(word));
      const bool mine = (word >> lane & 1) && __popc(word & ((1u << lane) - 1)) == left;
      return 32 * (base + at) + __ffs(static_cast<int>(__ballot_sync(all_lanes, mine))) - 1;
    }
  }
};

// A block per tile of `wide` x `high` pixels; blocks along x and y: tiles, z: planes.
template <int Threads, int Items>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    median_tiles(const __grid_constant__ DeviceJob job, std::int64_t plane0, int wide, int high) {
  using Block = TileBlock<Threads, Items>;
  extern __shared__ uint4 tile_shared[];
  auto& memory = *reinterpret_cast<TileMemory<Threads, Items>*>(tile_shared);
  Block& block = memory.block;
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, plane = pass.planes.first + plane0 + blockIdx.z;
  const std::int64_t x0 = std::int64_t{blockIdx.x} * wide, y0 = pass.rows.first + std::int64_t{blockIdx.y} * high;
  const int n = static_cast<int>(width - x0 < wide ? width - x0 : wide);
  const int rows = static_cast<int>(pass.rows.last - y0 < high ? pass.rows.last - y0 : high);
  const int reach = static_cast<int>(pass.reach_u), reach_v = static_cast<int>(pass.reach_v);
  const int seen_wide = n + 2 * reach, seen_high = rows + 2 * reach_v, mask_high = 2 * reach_v + 1;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  {
    std::uint32_t keys[Items];
    std::uint16_t places[Items];
#pragma unroll
    for (int item = 0; item < Items; ++item) {
      const int i = item * Threads + thread, line = i / seen_wide, column = i % seen_wide;
      keys[item] = absent;
      places[item] = static_cast<std::uint16_t>(i);
      if (line >= seen_high) continue;
      const float* row = found_row(pass, job.from, plane, y0 - reach_v + line);
      keys[item] = key_at(pass, job.from, row, x0 - reach + column);
      places[item] = static_cast<std::uint16_t>(column * seen_high + line);
    }
    typename Block::Sort(memory.sort).Sort(keys, places);
    __syncthreads();
#pragma unroll
    for (int item = 0; item < Items; ++item) {
      const int rank = thread * Items + item;
      block.sorted[rank] = keys[item];
      block.ranks[places[item]] = static_cast<std::uint16_t>(rank);
    }
    __syncthreads();
  }
  const bool partial = pass.border == FilterBorder::partial;
  const int full_rank = (mask_high * (2 * reach + 1) - 1) / 2;
  RankSet set{block.sets[thread / 32], Block::words, lane, 0, 0};
  for (int line = thread / 32; line < rows; line += Block::warps) {
    const std::int64_t y = y0 + line;
    const bool kept_row = row_is_kept(pass, job.to, plane, y);
    float* out = job.to.row(plane, y) + x0;
    const float* original = job.original.row(plane, y) + x0;
    if (!kept_row) {
      __syncwarp();  // the last row is done with the set
      for (int i = lane; i < set.count; i += 32) set.words[i] = 0;
      set.base = set.count / 2, set.before = 0;
      __syncwarp();
      for (int column = 0; column < 2 * reach; ++column)
        set.toggle(block.ranks + column * seen_high + line, mask_high, 1);
    }
    float mine = 0;
    for (int x = 0; x < n; ++x) {
      if (kept_row || column_is_kept(pass, x0 + x, width)) {
        if (lane == x % 32) mine = original[x];
      }
      if (!kept_row) {
        set.toggle(block.ranks + (x + 2 * reach) * seen_high + line, mask_high, 1);
        __syncwarp();
        if (!column_is_kept(pass, x0 + x, width)) {
          const int k = partial ? static_cast<int>(median_rank(pass, job.from, {plane, y}, x0 + x)) : full_rank;
          const int rank = set.find(k);
          if (lane == x % 32) mine = __uint_as_float(float_bits_of(block.sorted[rank]));
        }
        __syncwarp();
        set.toggle(block.ranks + x * seen_high + line, mask_high, -1);
      }
      if (x % 32 == 31 || x == n - 1) {
        const int first = x / 32 * 32;
        if (first + lane <= x) out[first + lane] = mine;
      }
    }
  }
}

struct TileChoice {
  void (*kernel)(DeviceJob, std::int64_t, int, int) = nullptr;
  int threads = 0, bytes = 0;
  std::int64_t wide = 0, high = 0;
  double cost = 0;
};

// Takes this size of block, with the best shape of tile, where it is cheaper than what was chosen before. Costs are
// instructions of a warp: for a value that is sorted, for a pixel, for 32 ranks put into a set; times `handicap`.
template <int Threads, int Items>
void consider_tile(const DeviceJob& job, int maximum_bytes, double handicap, TileChoice& best) {
  using Block = TileBlock<Threads, Items>;
  constexpr int bytes = static_cast<int>(sizeof(TileMemory<Threads, Items>));
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, rows = pass.rows.size(), mask = 2 * pass.reach_v + 1;
  if (bytes > maximum_bytes) return;
  constexpr double of_value = 300.0 / 32, of_pixel = 60, of_ranks = 10;
  for (std::int64_t high = 1; high <= rows; ++high) {
    const std::int64_t wide = std::min(width, Block::size / (high + 2 * pass.reach_v) - 2 * pass.reach_u);
    if (wide < 1) break;
    const auto columns = static_cast<double>(2 * pass.reach_u + 2 * wide);  // that go into and out of a set, of a row
    const double row =
        static_cast<double>((mask + 31) / 32) * of_ranks * columns + of_pixel * static_cast<double>(wide);
    // Warps take whole rows: the last turn may leave some without one.
    const std::int64_t turns = (high + Block::warps - 1) / Block::warps * Block::warps;
    const auto tiles = static_cast<double>((width + wide - 1) / wide * ((rows + high - 1) / high));
    const double cost = handicap * tiles * (of_value * Block::size + row * static_cast<double>(turns));
    if (best.kernel && best.cost <= cost) continue;
    best = {&median_tiles<Threads, Items>, Threads, bytes, wide, high, cost};
  }
}

}  // namespace

bool median_by_tiles(const DeviceJob& job, cudaStream_t stream) {
  const Pass& pass = job.pass;
  const int maximum_bytes = largest_shared_bytes();
  TileChoice best;
  // Smaller blocks are slower than their instructions say (half as much, seen on an H200): for small pictures, and for
  // devices with less shared memory.
  consider_tile<1024, 16>(job, maximum_bytes, 1, best);
  consider_tile<512, 16>(job, maximum_bytes, 2, best);
  consider_tile<256, 16>(job, maximum_bytes, 2, best);
  if (!best.kernel) return false;
  cuda::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(best.kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, best.bytes),
              "make room for a median in shared memory");
  const std::int64_t planes = pass.planes.size();
  constexpr std::int64_t maximum_layers = 65535;  // of a grid
  for (std::int64_t plane0 = 0; plane0 < planes; plane0 += maximum_layers) {
    const dim3 grid(static_cast<unsigned>((job.from.part.width + best.wide - 1) / best.wide),
                    static_cast<unsigned>((pass.rows.size() + best.high - 1) / best.high),
                    static_cast<unsigned>(std::min(maximum_layers, planes - plane0)));
    best.kernel<<<grid, best.threads, static_cast<std::size_t>(best.bytes), stream>>>(
        job, plane0, static_cast<int>(best.wide), static_cast<int>(best.high));
    cuda::check_launch("median of tiles");
  }
  return true;
}

}  // namespace lepus::filters
