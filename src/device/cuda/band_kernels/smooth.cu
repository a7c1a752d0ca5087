// SPDX-License-Identifier: Apache-2.0
// Box and Gaussian along rows on a device. A block loads some rows into shared memory, the next ones while it works on
// these, and each thread makes 20 neighbouring pixels from registers: every value that it loads serves 20 sums, so that
// a Gaussian of 61 taps stays near the speed of a copy. Threads 20 floats apart meet no bank twice with vectors of 4.
// A box sums what its 20 masks share, and adds the ends. Sums run in the order of the mask, or over these 20, counted
// from the row's first pixel: they do not depend on bands.
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "device/cuda/cuda_check.h"
#include "device/cuda/band_kernels/smooth_mask.cuh"
#include <lepus/error.h>

namespace lepus::filters {
namespace {

constexpr int maximum_threads = 224, minimum_blocks = 4, each = 20;

// How rows are cut. A line is a piece of a row with what its masks see, from `left` before it; pitch floats apart. The
// weights are those of taps from -left: zeros first, so that lines and masks begin at multiples of 4, and zeros last.
struct Cut {
  int line_threads, lines;  // threads of a line, lines of a block at a time
  int pitch, left, weights;
  int pieces, piece, rounds;
  std::int64_t plane0;
  int stages;  // 1 or 2, of lines * pitch floats each
};

__device__ inline void take_four(float4 four, float* to) {
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__device__ inline void weighted_sums(const float4* line, const float* weights, int taps, float* sums) {
  constexpr int held = each + 4;  // values[i % held] is value i of those that the masks see
  float values[held];
#pragma unroll
  for (int i = 0; i < each / 4; ++i) take_four(line[i], values + 4 * i);
  const float4* next = line + each / 4;
  const float4* weight = reinterpret_cast<const float4*>(weights);
  for (int k = 0; k < taps; k += held, next += held / 4, weight += held / 4)
#pragma unroll
    for (int group = 0; group < held / 4; ++group) {
      if (k + 4 * group >= taps) break;
      take_four(next[group], values + (each + 4 * group) % held);
      float w[4];
      take_four(weight[group], w);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sums[j] = fmaf(w[i], values[(4 * group + i + j) % held], sums[j]);
    }
}

// Masks of at least minimum_box taps that begin `offset` floats after the line does; they end where 1 - offset says.
constexpr int minimum_box = each + 8;
template <int offset>
__device__ inline void box_sums(const float4* line, int taps, float* sums) {
  constexpr int shared_first = offset + each - 1, middle = (shared_first + 3) / 4;
  constexpr int end = (1 - offset + 4) % 4, end_fours = (end + each - 1 + 3) / 4;
  float values[each + 4];
#pragma unroll
  for (int i = 0; i < middle; ++i) take_four(line[i], values + 4 * i);
  sums[each - 1] = 0;
#pragma unroll
  for (int j = each - 2; j >= 0; --j) sums[j] = sums[j + 1] + values[offset + j];
  float all = 0;
#pragma unroll
  for (int i = shared_first; i < 4 * middle; ++i) all += values[i];
  const float4 *next = line + middle, *last = line + (offset + taps) / 4;
  float4 four = *next++;
  for (; next < last; ++next) {
    const float4 more = *next;
    four.x += more.x, four.y += more.y, four.z += more.z, four.w += more.w;
  }
  all += (four.x + four.y) + (four.z + four.w);
#pragma unroll
  for (int i = 0; i < end_fours; ++i) take_four(last[i], values + 4 * i);
#pragma unroll
  for (int i = 0; i < end; ++i) all += values[i];
  sums[0] += all;
  float added = 0;
#pragma unroll
  for (int j = 1; j < each; ++j) {
    added += values[end + j - 1];
    sums[j] = (sums[j] + added) + all;
  }
}

// Blocks along x: rows, in rounds of as many as there are blocks; y: planes; z: pieces. Shared: weights, `stages` times
// the lines, the result. `vectors`: rows begin at multiples of 16 bytes.
template <bool is_box, bool vectors>
__global__ void __launch_bounds__(maximum_threads, minimum_blocks)
    smooth_rows(const __grid_constant__ DeviceJob job, const Mask mask, const __grid_constant__ Cut cut) {
  extern __shared__ float4 rows_shared[];
  float* weights = reinterpret_cast<float*>(rows_shared);
  float* stages = weights + cut.weights;
  float4* result = reinterpret_cast<float4*>(stages + cut.stages * cut.lines * cut.pitch);
  const Pass& pass = job.pass;
  const auto width = static_cast<int>(job.from.part.width);
  const int thread = static_cast<int>(threadIdx.x), line = thread / cut.line_threads, own = thread % cut.line_threads;
  const int x0 = static_cast<int>(blockIdx.z) * cut.piece;
  const std::int64_t plane = pass.planes.first + cut.plane0 + blockIdx.y;
  const int n = min(cut.piece, width - x0);
  const bool partial = pass.border == FilterBorder::partial;
  // Vectors of 4 pixels in [inner0, inner1) of the piece are stored as they are.
  const int edge = static_cast<int>(partial ? mask.reach : pass.kept_u);
  const int inner0 = edge - x0, inner1 = min(width - edge - x0, n) - 3;
  // Nothing waits for global memory but the asynchronous copies, or all warps of the block would wait with it.
  const bool sees_beyond = pass.kept_u < mask.reach, first_pass = job.original.part.data == job.from.part.data;
  const auto row_of = [&](int round) {
    return pass.rows.first + (std::int64_t{blockIdx.x} + std::int64_t{round} * gridDim.x) * cut.lines + line;
  };
  const auto line_of = [&](int round) { return stages + ((round & (cut.stages - 1)) * cut.lines + line) * cut.pitch; };
  const auto load = [&](int round) {
    const std::int64_t y = row_of(round);
    if (line < cut.lines && y < pass.rows.last) {
      const float* row = job.from.row(plane, y);
      float* to = line_of(round);
      for (int four = own; four < cut.pitch / 4; four += cut.line_threads) {
        const int x = x0 - cut.left + 4 * four;
        if (vectors && x >= 0 && x + 4 <= width) {
          __pipeline_memcpy_async(to + 4 * four, row + x, sizeof(float4));
          continue;
        }
        if (vectors && !sees_beyond && (x + 4 <= 0 || x >= width)) {  // black, and stays so
          if (round < cut.stages) *reinterpret_cast<float4*>(to + 4 * four) = make_float4(0, 0, 0, 0);
          continue;
        }
        for (int i = 0; i < 4; ++i) {
          int at = x + i;
          if (at < 0 || at >= width)
            at = !sees_beyond || at < -mask.reach || at >= width + mask.reach
                     ? -1
                     : static_cast<int>(border_index(pass.border, at, width));
          if (at < 0)
            to[4 * four + i] = 0;
          else
            __pipeline_memcpy_async(to + 4 * four + i, row + at, sizeof(float));
        }
      }
    }
    __pipeline_commit();
  };
  load(0);
  for (int k = thread; k < cut.weights; k += static_cast<int>(blockDim.x))
    weights[k] = mask.weight(k - (cut.left - mask.reach));
  for (int round = 0; round < cut.rounds; ++round) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the lines are there, and whoever used the other stage and the result has done so
    if (round + 1 < cut.rounds) load(round + 1);
    const std::int64_t y = row_of(round);
    const bool works = line < cut.lines && y < pass.rows.last;
    if (works) {
      const auto* fours = reinterpret_cast<const float4*>(line_of(round) + each * own);
      float sums[each] = {};
      if constexpr (is_box) {
        switch (cut.left - mask.reach) {
          case 0:
            box_sums<0>(fours, mask.taps(), sums);
            break;
          case 1:
            box_sums<1>(fours, mask.taps(), sums);
            break;
          case 2:
            box_sums<2>(fours, mask.taps(), sums);
            break;
          default:
            box_sums<3>(fours, mask.taps(), sums);
        }
#pragma unroll
        for (int j = 0; j < each; ++j) sums[j] *= mask.scale;
      } else {
        weighted_sums(fours, weights, cut.weights, sums);
      }
#pragma unroll
      for (int j = 0; j < each; j += 4)
        result[thread * (each / 4) + j / 4] = make_float4(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]);
    }
    __syncthreads();
    if (!works) continue;
    float* out = job.to.row(plane, y) + x0;
    const float* original = first_pass ? line_of(round) + cut.left : job.original.row(plane, y) + x0;
    const float4* made = result + line * cut.line_threads * (each / 4);
#pragma unroll
    for (int part = 0; part < each / 4; ++part) {
      const int four = part * cut.line_threads + own, first = 4 * four;
      if (first >= n) break;
      if (vectors && first >= inner0 && first < inner1) {
        *reinterpret_cast<float4*>(out + first) = made[four];
        continue;
      }
      float values[4];
      take_four(made[four], values);
      if (vectors && first_pass && !partial && first + 4 <= n) {
        float kept[4];
        take_four(*reinterpret_cast<const float4*>(original + first), kept);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (first + i < inner0 || first + i >= inner1 + 3) values[i] = kept[i];
        *reinterpret_cast<float4*>(out + first) = make_float4(values[0], values[1], values[2], values[3]);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (first + i >= n) break;
        const int x = x0 + first + i;
        if (partial && !full_mask(x, width, mask.reach))
          values[i] /= weight_inside(mask, weights + cut.left - mask.reach, x, width);
        if (column_is_kept(pass, x, width)) values[i] = original[first + i];
      }
      if (vectors && first + 4 <= n) {
        *reinterpret_cast<float4*>(out + first) = make_float4(values[0], values[1], values[2], values[3]);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (first + i < n) out[first + i] = values[i];
    }
  }
}

bool aligned(const Planes& planes) {
  return reinterpret_cast<std::uintptr_t>(planes.data) % sizeof(float4) == 0 && planes.row_stride % 4 == 0 &&
         planes.plane_stride % 4 == 0;
}

template <class Integer>
Integer up_to(Integer n, Integer multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace

Mask mask_of(const Pass& pass, std::int64_t reach) {
  const bool box = pass.kind == FilterKind::box;
  const double per_distance2 = box ? 0 : 0.5 / (pass.sigma * pass.sigma);
  double sum = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) sum += std::exp(-per_distance2 * static_cast<double>(k * k));
  return {static_cast<int>(reach), static_cast<float>(per_distance2), static_cast<float>(1 / sum)};
}

void make_room(const void* kernel, std::int64_t bytes) {
  const int most = largest_shared_bytes();
  if (bytes > most)
    throw Error(ErrorKind::unsupported, {.what = "the mask of a filter is too wide for this device",
                                         .where = "filter",
                                         .why = "it takes " + std::to_string(bytes) +
                                                " bytes of shared memory, there are " + std::to_string(most),
                                         .hint = "take a smaller radius, or the backend cpu"});
  if (bytes > 48 * 1024)
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "make room for a filter in shared memory");
}

void smooth_rows_on_device(const DeviceJob& job, const Mask& mask, cudaStream_t stream) {
  const Pass& pass = job.pass;
  const std::int64_t width = job.from.part.width, rows = pass.rows.size(), planes = pass.planes.size();
  Cut cut{};
  cut.left = up_to(mask.reach, 4);
  cut.weights = up_to(cut.left + mask.reach + 1, 4);
  const std::int64_t pieces = (width + each * maximum_threads - 1) / (each * maximum_threads);
  cut.pieces = static_cast<int>(pieces);
  cut.piece = up_to(static_cast<int>((width + pieces - 1) / pieces), each);
  cut.line_threads = cut.piece / each;
  cut.lines = static_cast<int>(std::clamp<std::int64_t>(maximum_threads / cut.line_threads, 1, rows));
  cut.pitch = cut.piece + cut.weights;
  const int threads = up_to(cut.lines * cut.line_threads, 32);
  const std::int64_t tiles = (rows + cut.lines - 1) / cut.lines;
  constexpr std::int64_t wanted_rounds = 8;
  cut.rounds = static_cast<int>(std::min(wanted_rounds, tiles));
  cut.stages = cut.rounds > 1 ? 2 : 1;
  const auto bytes_of = [&](int stages) {
    return static_cast<std::int64_t>(sizeof(float)) *
           (cut.weights + std::int64_t{stages} * cut.lines * cut.pitch + each * threads);
  };
  if (bytes_of(cut.stages) > largest_shared_bytes()) cut.rounds = cut.stages = 1;
  const std::int64_t bytes = bytes_of(cut.stages);
  const bool box = pass.kind == FilterKind::box && mask.taps() >= minimum_box;
  const bool vectors = aligned(job.from.part) && aligned(job.to.part);
  const auto kernel = box ? (vectors ? &smooth_rows<true, true> : &smooth_rows<true, false>)
                          : (vectors ? &smooth_rows<false, true> : &smooth_rows<false, false>);
  make_room(reinterpret_cast<const void*>(kernel), bytes);
  constexpr std::int64_t maximum_layers = 65535;  // of a grid
  for (; cut.plane0 < planes; cut.plane0 += maximum_layers) {
    const dim3 grid(static_cast<unsigned>((tiles + cut.rounds - 1) / cut.rounds),
                    static_cast<unsigned>(std::min(maximum_layers, planes - cut.plane0)),
                    static_cast<unsigned>(cut.pieces));
    kernel<<<grid, threads, static_cast<std::size_t>(bytes), stream>>>(job, mask, cut);
    cuda::check_launch("smoothing along rows");
  }
}

void smooth_on_device(const DeviceJob& job, cudaStream_t stream) {
  const Pass& pass = job.pass;
  const Mask mask = mask_of(pass, std::max({pass.reach_u, pass.reach_v, pass.reach_z}));
  if (pass.reach_u > 0)
    smooth_rows_on_device(job, mask, stream);
  else
    smooth_across_on_device(job, mask, stream);
}

}  // namespace lepus::filters
