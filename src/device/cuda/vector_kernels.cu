// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/vector_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/cuda/devices.h"

namespace lepus::cuda {
namespace {

constexpr int vector_threads = 256;

// Blocks walk over the vector: as many as fill a card, whatever its length.
unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t maximum = 132 * 16;
  return static_cast<unsigned>(std::clamp<std::int64_t>((n + vector_threads - 1) / vector_threads, 1, maximum));
}

template <class Body>
__global__ void __launch_bounds__(vector_threads) each_kernel(std::int64_t n, const Body body) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * vector_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * vector_threads + threadIdx.x; i < n; i += step) body(i);
}

template <class Body>
void each(std::int64_t n, Queue& queue, const Body& body) {
  if (n == 0) return;
  each_kernel<<<blocks_for(n), vector_threads, 0, stream_of(queue)>>>(n, body);
  check_launch("a kernel of vectors");
}

// out[i] = value(i), which may read out[i]: several values are under way before the first is written.
template <class Value>
__global__ void __launch_bounds__(vector_threads) put_kernel(float* out, std::int64_t n, const Value value) {
  constexpr int at_once = 4;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * vector_threads;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * vector_threads + threadIdx.x;
  for (; i + (at_once - 1) * step < n; i += at_once * step) {
    float values[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) values[k] = value(i + k * step);
#pragma unroll
    for (int k = 0; k < at_once; ++k) out[i + k * step] = values[k];
  }
  for (; i < n; i += step) out[i] = value(i);
}

template <class Value>
void put(float* out, std::int64_t n, Queue& queue, const Value& value) {
  if (n == 0) return;
  put_kernel<<<blocks_for(n), vector_threads, 0, stream_of(queue)>>>(out, n, value);
  check_launch("a kernel of vectors");
}

// What a sum and a maximum are made of; NaN is the largest of all.
struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Largest {
  __device__ double operator()(double a, double b) const { return b > a || isnan(b) ? b : a; }
};

// One number for the values of each chunk of this length: the order of a sum depends on the length alone.
constexpr std::int64_t sum_chunk = 1 << 16;

template <class Join>
__device__ double join_block(double value, const Join& join) {
  __shared__ double parts[vector_threads / 32];
  for (int distance = 16; distance > 0; distance /= 2) value = join(value, __shfl_down_sync(~0u, value, distance));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 1; i < vector_threads / 32; ++i) value = join(value, parts[i]);
  return value;
}

template <class Join, class Value>
__global__ void __launch_bounds__(vector_threads)
    join_chunks(std::int64_t n, const Value value, const Join join, double* parts) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sum_chunk, last = min(first + sum_chunk, n);
  double mine = 0;
#pragma unroll 4
  for (std::int64_t i = first + threadIdx.x; i < last; i += vector_threads) mine = join(mine, value(i));
  mine = join_block(mine, join);
  if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

template <class Join>
__global__ void __launch_bounds__(vector_threads) join_parts(int count, const Join join, double* parts) {
  double mine = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += vector_threads) mine = join(mine, parts[i]);
  mine = join_block(mine, join);
  if (threadIdx.x == 0) parts[0] = mine;
}

template <class Join, class Value>
double joined(std::int64_t n, Queue& queue, const Join& join, const Value& value) {
  if (n == 0) return 0;
  const auto count = static_cast<int>((n + sum_chunk - 1) / sum_chunk);
  const ScratchScope scope(queue);
  auto* const parts = queue.scratch<double>(count);
  join_chunks<<<static_cast<unsigned>(count), vector_threads, 0, stream_of(queue)>>>(n, value, join, parts);
  join_parts<<<1, vector_threads, 0, stream_of(queue)>>>(count, join, parts);
  check_launch("a sum over a vector");
  double result = 0;
  check(cudaMemcpyAsync(&result, parts, sizeof(double), cudaMemcpyDeviceToHost, stream_of(queue)), "copy a sum");
  queue.wait();
  return result;
}

// Of the dual fast gradient method's steps, one after the other: none in the first two.
class Momentum {
public:
  float next() {
    const auto momentum = static_cast<float>(momentum_);
    const double next_t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2;
    momentum_ = (t_ - 1) / next_t;
    t_ = next_t;
    return momentum;
  }

private:
  double t_ = 1, momentum_ = 0;
};

class CudaVectorKernels final : public VectorKernels {
public:
  explicit CudaVectorKernels(int device) : device_(device) {}

  void fill(float* out, float value, std::int64_t n, Queue& queue) override {
    use_device(device_);
    put(out, n, queue, [=] __device__(std::int64_t) { return value; });
  }
  void combine(float* out, float a, const float* x, float b, const float* y, std::int64_t n, Queue& queue) override {
    use_device(device_);
    put(out, n, queue, [=] __device__(std::int64_t i) { return a * x[i] + b * y[i]; });
  }
  void multiply(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    use_device(device_);
    put(out, n, queue, [=] __device__(std::int64_t i) { return x[i] * y[i]; });
  }
  void divide(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    use_device(device_);
    put(out, n, queue, [=] __device__(std::int64_t i) { return y[i] == 0.0f ? 0.0f : x[i] / y[i]; });
  }
  void clamp(float* out, const float* x, float low, float high, std::int64_t n, Queue& queue) override {
    use_device(device_);
    put(out, n, queue, [=] __device__(std::int64_t i) {
      const float value = x[i];  // a NaN stays one
      return value < low ? low : value > high ? high : value;
    });
  }

  double dot(const float* x, const float* y, std::int64_t n, Queue& queue) override {
    use_device(device_);
    return joined(n, queue, Sum{},
                  [=] __device__(std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
  }
  double sum(const float* x, std::int64_t n, Queue& queue) override {
    use_device(device_);
    return joined(n, queue, Sum{}, [=] __device__(std::int64_t i) { return static_cast<double>(x[i]); });
  }
  double largest_magnitude(const float* x, std::int64_t n, Queue& queue) override {
    use_device(device_);
    return joined(n, queue, Largest{}, [=] __device__(std::int64_t i) { return static_cast<double>(fabsf(x[i])); });
  }

  void gradient(const float* volume, float* const out[3], const VolumeShape& shape, Queue& queue) override {
    use_device(device_);
    launch_gradient(volume, out, shape, stream_of(queue));
  }
  void divergence(const float* const in[3], float* volume, const VolumeShape& shape, Queue& queue) override {
    use_device(device_);
    launch_divergence(in, volume, shape, stream_of(queue));
  }
  void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                    Queue& queue) override {
    use_device(device_);
    float *const ox = out[0], *const oy = out[1], *const oz = out[2];
    const float *const ix = in[0], *const iy = in[1], *const iz = in[2];
    each(n, queue, [=] __device__(std::int64_t i) {
      const float a = scale * ix[i], b = scale * iy[i], c = scale * iz[i], length = sqrtf(a * a + b * b + c * c);
      const float factor = length > limit ? limit / length : 1.0f;
      ox[i] = a * factor;
      oy[i] = b * factor;
      oz[i] = c * factor;
    });
  }

  // Steps go in pairs, which read two duals and write two others. Two pairs end where they began, in `dual`, and so do
  // the first two steps one by one: without momentum yet they read one dual alone.
  void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                            float* out, const VolumeShape& shape, Queue& queue) override {
    use_device(device_);
    const std::int64_t n = shape.voxels();
    if (n == 0) return;
    const ScratchScope scope(queue);
    float* buffer[4][3] = {{dual[0], dual[1], dual[2]}, {}, {}, {}};
    int now = 0, before = 1;
    if (strength > 0 && steps > 0) {
      const int single = steps % 4, buffers = steps >= 4 ? 4 : steps == 3 ? 3 : 2;
      for (int b = 1; b < buffers; ++b)
        for (float*& axis : buffer[b]) axis = queue.scratch<float>(n);
      Momentum momentum;
      const auto step_to = [&](int next) {
        DualStep job{.volume = volume,
                     .now = {buffer[now][0], buffer[now][1], buffer[now][2]},
                     .before = {buffer[before][0], buffer[before][1], buffer[before][2]},
                     .next = {buffer[next][0], buffer[next][1], buffer[next][2]},
                     .strength = strength,
                     .rise = 1 / (12 * strength),  // 12: the largest eigenvalue of -div grad
                     .momentum = momentum.next(),
                     .low = low,
                     .high = high,
                     .nx = static_cast<int>(shape.nx),
                     .ny = static_cast<int>(shape.ny),
                     .nz = static_cast<int>(shape.nz)};
        before = std::exchange(now, next);
        return job;
      };
      for (int step = 0; step < single; ++step)
        launch_dual_step(step_to(step == 1 ? 0 : step == 0 ? 1 : 2), stream_of(queue));
      for (int step = single; step < steps; step += 2) {
        int other[2] = {}, found = 0;
        for (int b = 0; b < 4; ++b)
          if (b != now && b != before) other[found++] = b;
        DualStepPair pair{.first = step_to(other[1]), .next = {}, .momentum = momentum.next()};
        for (int axis = 0; axis < 3; ++axis) pair.next[axis] = buffer[other[0]][axis];
        launch_dual_step_pair(pair, stream_of(queue));
        before = std::exchange(now, other[0]);
      }
    }
    launch_move_and_clamp(volume, strength, buffer[now], low, high, out, shape, stream_of(queue));
    for (int axis = 0; now != 0 && axis < 3; ++axis)
      check(cudaMemcpyAsync(dual[axis], buffer[now][axis], static_cast<std::size_t>(n) * sizeof(float),
                            cudaMemcpyDeviceToDevice, stream_of(queue)),
            "copy the dual of total variation");
  }

private:
  int device_;
};

}  // namespace

std::unique_ptr<VectorKernels> make_vector_kernels(int device) { return std::make_unique<CudaVectorKernels>(device); }

}  // namespace lepus::cuda
