// SPDX-License-Identifier: Apache-2.0
#include "device/host/vector_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "device/host/device.h"

namespace lepus::host {
namespace {

constexpr std::int64_t block = sum_block;  // and of a thread's piece

// body(i) for every i < n.
template <class Body>
void each(std::int64_t n, Queue& queue, const Body& body) {
  threads_of(queue).parallel_for(0, n, block, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

// `before` and the sum of value(i): eight sums run beside each other in a block, blocks are added in their order,
// whichever thread they were summed on.
template <class Value>
double sum_of(double before, std::int64_t n, Queue& queue, const Value& value) {
  constexpr int lanes = 8;
  std::vector<double> sums(static_cast<std::size_t>((n + block - 1) / block));
  threads_of(queue).parallel_for(0, static_cast<std::int64_t>(sums.size()), 1,
                                 [&](std::int64_t first, std::int64_t last, int) {
                                   for (std::int64_t b = first; b < last; ++b) {
                                     std::array<double, lanes> lane{};
                                     const std::int64_t end = std::min(n, (b + 1) * block);
                                     std::int64_t i = b * block;
                                     for (; i + lanes <= end; i += lanes)
                                       for (int k = 0; k < lanes; ++k)
                                         lane[static_cast<std::size_t>(k)] += value(i + k);
                                     for (; i < end; ++i) lane[0] += value(i);
                                     double& sum = sums[static_cast<std::size_t>(b)];
                                     for (const double part : lane) sum += part;
                                   }
                                 });
  for (const double sum : sums) before += sum;
  return before;
}

bool larger(float value, float found) { return value > found || std::isnan(value); }  // NaN is the largest of all

class HostVectorKernels final : public VectorKernels {
public:
  void fill(float* out, float value, std::int64_t n, Queue& queue) override {
    each(n, queue, [=](std::int64_t i) { out[i] = value; });
  }
  void combine(float* out, float a, const float* x, float b, const float* y, std::int64_t n, Queue& queue) override {
    each(n, queue, [=](std::int64_t i) { out[i] = a * x[i] + b * y[i]; });
  }
  void multiply(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    each(n, queue, [=](std::int64_t i) { out[i] = x[i] * y[i]; });
  }
  void divide(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    each(n, queue, [=](std::int64_t i) { out[i] = y[i] == 0 ? 0 : x[i] / y[i]; });
  }
  void clamp(float* out, const float* x, float low, float high, std::int64_t n, Queue& queue) override {
    each(n, queue, [=](std::int64_t i) { out[i] = std::min(std::max(x[i], low), high); });
  }

  double dot(const float* x, const float* y, std::int64_t n, Queue& queue) override {
    return dot_after(0, x, y, n, queue);
  }
  double sum(const float* x, std::int64_t n, Queue& queue) override { return sum_after(0, x, n, queue); }
  double largest_magnitude(const float* x, std::int64_t n, Queue& queue) override {
    ThreadPool& threads = threads_of(queue);
    std::vector<float> largest(static_cast<std::size_t>(threads.size()));
    threads.parallel_for(0, n, block, [&](std::int64_t begin, std::int64_t end, int worker) {
      float& found = largest[static_cast<std::size_t>(worker)];
      for (std::int64_t i = begin; i < end; ++i)
        if (larger(std::abs(x[i]), found)) found = std::abs(x[i]);
    });
    float found = 0;
    for (const float one : largest)
      if (larger(one, found)) found = one;
    return found;
  }

  void gradient(const float* volume, float* const out[3], const VolumeShape& shape, Queue& queue) override {
    host::gradient(volume, out, shape, queue);
  }
  void divergence(const float* const in[3], float* volume, const VolumeShape& shape, Queue& queue) override {
    host::divergence(in, volume, shape, queue);
  }
  void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                    Queue& queue) override {
    host::limit_length(out, in, scale, limit, n, queue);
  }
  void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                            float* out, const VolumeShape& shape, Queue& queue) override {
    host::total_variation_step(volume, strength, low, high, steps, dual, out, shape, queue);
  }
};

}  // namespace

double dot_after(double before, const float* x, const float* y, std::int64_t n, Queue& queue) {
  return sum_of(before, n, queue,
                [=](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}
double sum_after(double before, const float* x, std::int64_t n, Queue& queue) {
  return sum_of(before, n, queue, [=](std::int64_t i) { return static_cast<double>(x[i]); });
}

std::unique_ptr<VectorKernels> make_vector_kernels() { return std::make_unique<HostVectorKernels>(); }

}  // namespace lepus::host
