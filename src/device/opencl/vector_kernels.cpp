// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/vector_kernels.h"

#include <cmath>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "core/format.h"
#include "device/opencl/program.h"
#include "device/opencl/queue.h"

namespace lepus::opencl {
namespace {

constexpr std::int64_t each_items = 64;  // of a group, where each value is worked on by itself
constexpr std::int64_t sum_items = 256;  // of a group that joins a chunk
constexpr std::int64_t sum_chunk = 1 << 16;

class OpenclVectorKernels final : public VectorKernels {
public:
  explicit OpenclVectorKernels(Context& context) : context_(context) {}

  void fill(float* out, float value, std::int64_t n, Queue& queue) override {
    each(kernel("fill").memory(out).value(value), n, queue);
  }
  void combine(float* out, float a, const float* x, float b, const float* y, std::int64_t n, Queue& queue) override {
    each(kernel("combine").memory(out).value(a).memory(x).value(b).memory(y), n, queue);
  }
  void multiply(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    each(kernel("multiply").memory(out).memory(x).memory(y), n, queue);
  }
  void divide(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    each(kernel("divide").memory(out).memory(x).memory(y), n, queue);
  }
  void clamp(float* out, const float* x, float low, float high, std::int64_t n, Queue& queue) override {
    each(kernel("clamp_values").memory(out).memory(x).value(low).value(high), n, queue);
  }

  double dot(const float* x, const float* y, std::int64_t n, Queue& queue) override {
    return total(chunks("dot_chunks", {x, y}, n, queue));
  }
  double sum(const float* x, std::int64_t n, Queue& queue) override {
    return total(chunks("sum_chunks", {x}, n, queue));
  }
  double largest_magnitude(const float* x, std::int64_t n, Queue& queue) override {
    double largest = 0;
    for (const double part : chunks("largest_of_chunks", {x}, n, queue))
      if (part > largest || std::isnan(part)) largest = part;  // NaN is the largest of all
    return largest;
  }

  void gradient(const float* volume, float* const out[3], const VolumeShape& shape, Queue& queue) override {
    opencl::gradient(volume, out, shape, queue);
  }
  void divergence(const float* const in[3], float* volume, const VolumeShape& shape, Queue& queue) override {
    opencl::divergence(in, volume, shape, queue);
  }
  void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                    Queue& queue) override {
    KernelCall call = kernel("limit_length");
    for (int axis = 0; axis < 3; ++axis) call.memory(out[axis]);
    for (int axis = 0; axis < 3; ++axis) call.memory(in[axis]);
    each(call.value(scale).value(limit), n, queue);
  }
  void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                            float* out, const VolumeShape& shape, Queue& queue) override {
    opencl::total_variation_step({volume, strength, low, high, steps}, dual, out, shape, queue);
  }

private:
  KernelCall kernel(const std::string& name) {
    return {context_, context_.program("vectors", format("-DGROUP={} -DCHUNK={}", sum_items, sum_chunk)), name};
  }
  static void each(KernelCall& call, std::int64_t n, Queue& queue) {
    call.value(static_cast<cl_long>(n))
        .run(opencl_queue(queue).get(), {(n + each_items - 1) / each_items, 1, 1}, {each_items, 1, 1});
  }

  // One number for each chunk.
  std::vector<double> chunks(const char* name, std::initializer_list<const float*> vectors, std::int64_t n,
                             Queue& queue) {
    const std::int64_t count = (n + sum_chunk - 1) / sum_chunk;
    std::vector<double> parts(static_cast<std::size_t>(count));
    const ScratchScope scope(queue);
    auto* const on_device = queue.scratch<double>(count);
    {
      KernelCall call = kernel(name);
      for (const float* vector : vectors) call.memory(vector);
      call.memory(on_device)
          .value(static_cast<cl_long>(n))
          .run(opencl_queue(queue).get(), {count, 1, 1}, {sum_items, 1, 1});
    }
    queue.device().copy(parts.data(), on_device, count * std::int64_t{sizeof(double)}, queue);
    queue.wait();
    return parts;
  }
  static double total(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

  Context& context_;
};

}  // namespace

std::unique_ptr<VectorKernels> make_vector_kernels(Context& context) {
  return std::make_unique<OpenclVectorKernels>(context);
}

}  // namespace lepus::opencl
