// SPDX-License-Identifier: Apache-2.0
#include "device/files/vector_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "device/files/slabs.h"
#include "device/host/device.h"
#include "device/host/vector_kernels.h"

namespace lepus::files {
namespace {

// Of each vector, while some of them are worked on element by element: blocks of a sum, and no more than are read at
// the speed of larger ones.
std::int64_t piece_of(std::int64_t work_bytes) {
  constexpr std::int64_t largest = 16, share = 64;
  return std::clamp<std::int64_t>(work_bytes / share / float_bytes / host::sum_block, 1, largest) * host::sum_block;
}

class FilesVectorKernels final : public VectorKernels {
public:
  FilesVectorKernels(std::shared_ptr<FileMemory> memory, VectorKernels& host, std::int64_t work_bytes)
      : memory_(std::move(memory)), host_(host), work_bytes_(work_bytes), piece_(piece_of(work_bytes)) {}

  void fill(float* out, float value, std::int64_t n, Queue& queue) override {
    pieces<0, 1>(n, {}, {out}, queue,
                 [&](auto&, auto& to, std::int64_t count) { host_.fill(to[0], value, count, queue); });
  }
  void combine(float* out, float a, const float* x, float b, const float* y, std::int64_t n, Queue& queue) override {
    pieces<2, 1>(n, {x, y}, {out}, queue, [&](auto& in, auto& to, std::int64_t count) {
      host_.combine(to[0], a, in[0], b, in[1], count, queue);
    });
  }
  void multiply(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    pieces<2, 1>(n, {x, y}, {out}, queue,
                 [&](auto& in, auto& to, std::int64_t count) { host_.multiply(to[0], in[0], in[1], count, queue); });
  }
  void divide(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) override {
    pieces<2, 1>(n, {x, y}, {out}, queue,
                 [&](auto& in, auto& to, std::int64_t count) { host_.divide(to[0], in[0], in[1], count, queue); });
  }
  void clamp(float* out, const float* x, float low, float high, std::int64_t n, Queue& queue) override {
    pieces<1, 1>(n, {x}, {out}, queue,
                 [&](auto& in, auto& to, std::int64_t count) { host_.clamp(to[0], in[0], low, high, count, queue); });
  }

  double dot(const float* x, const float* y, std::int64_t n, Queue& queue) override {
    double sum = 0;
    pieces<2, 0>(n, {x, y}, {}, queue,
                 [&](auto& in, auto&, std::int64_t count) { sum = host::dot_after(sum, in[0], in[1], count, queue); });
    return sum;
  }
  double sum(const float* x, std::int64_t n, Queue& queue) override {
    double sum = 0;
    pieces<1, 0>(n, {x}, {}, queue,
                 [&](auto& in, auto&, std::int64_t count) { sum = host::sum_after(sum, in[0], count, queue); });
    return sum;
  }
  double largest_magnitude(const float* x, std::int64_t n, Queue& queue) override {
    double found = 0;
    pieces<1, 0>(n, {x}, {}, queue, [&](auto& in, auto&, std::int64_t count) {
      const double one = host_.largest_magnitude(in[0], count, queue);
      if (one > found || std::isnan(one)) found = one;
    });
    return found;
  }

  void gradient(const float* volume, float* const out[3], const VolumeShape& shape, Queue& queue) override {
    slabs<1, 3>({volume}, {out[0], out[1], out[2]}, shape, queue,
                [&](auto& in, auto& to, const VolumeShape& part) { host_.gradient(in[0], to.data(), part, queue); });
  }
  void divergence(const float* const in[3], float* volume, const VolumeShape& shape, Queue& queue) override {
    slabs<3, 1>({in[0], in[1], in[2]}, {volume}, shape, queue, [&](auto& from, auto& to, const VolumeShape& part) {
      host_.divergence(from.data(), to[0], part, queue);
    });
  }
  void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                    Queue& queue) override {
    pieces<3, 3>(n, {in[0], in[1], in[2]}, {out[0], out[1], out[2]}, queue,
                 [&](auto& from, auto& to, std::int64_t count) {
                   host_.limit_length(to.data(), from.data(), scale, limit, count, queue);
                 });
  }
  void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                            float* out, const VolumeShape& shape, Queue& queue) override {
    files::total_variation_step({volume, strength, low, high, steps, dual, out, shape}, *memory_, work_bytes_, queue);
  }

private:
  // body(in, out, count) for pieces of vectors of n elements: where they lie in memory, else copies.
  template <std::size_t In, std::size_t Out, class Body>
  void pieces(std::int64_t n, const std::array<const float*, In>& in, const std::array<float*, Out>& out, Queue& queue,
              const Body& body) {
    ThreadPool& threads = host::threads_of(queue);
    for (std::int64_t at = 0; at < n; at += piece_) {
      const std::int64_t count = std::min(piece_, n - at), bytes = count * float_bytes;
      std::array<const float*, In> from{};
      std::array<float*, Out> to{};
      for (std::size_t i = 0; i < In; ++i) {
        from[i] = in[i] + at;
        if (!memory_->in_file(from[i], bytes)) continue;
        float* const copy = buffer(i);
        memory_->copy(copy, from[i], bytes, threads);
        from[i] = copy;
      }
      for (std::size_t i = 0; i < Out; ++i) to[i] = memory_->in_file(out[i] + at, bytes) ? buffer(In + i) : out[i] + at;
      body(from, to, count);
      for (std::size_t i = 0; i < Out; ++i) memory_->copy(out[i] + at, to[i], bytes, threads);
    }
  }
  float* buffer(std::size_t i) {
    while (buffers_.size() <= i) buffers_.emplace_back(piece_);
    return buffers_[i].data();
  }

  // body(in, out, shape) for slabs, with a slice more on each side where there is one.
  template <std::size_t In, std::size_t Out, class Body>
  void slabs(const std::array<const float*, In>& in, const std::array<float*, Out>& out, const VolumeShape& shape,
             Queue& queue, const Body& body) {
    constexpr std::int64_t halo = 1;
    const std::int64_t slice = shape.nx * shape.ny, held = work_bytes_ / (slice * float_bytes) / (In + Out);
    const std::int64_t slices = held >= shape.nz ? shape.nz : held - 2 * halo;
    if (slices < 1) refuse_slices(shape, work_bytes_);
    std::vector<Buffer<float>> copies;
    for (std::size_t i = 0; i < In + Out; ++i) copies.emplace_back(std::min(shape.nz, slices + 2 * halo) * slice);
    ThreadPool& threads = host::threads_of(queue);
    each_slab(shape.nz, slices, halo, [&](const Slab& slab) {
      std::array<const float*, In> from{};
      std::array<float*, Out> to{};
      for (std::size_t i = 0; i < In; ++i) {
        from[i] = copies[i].data();
        memory_->copy(copies[i].data(), in[i] + slab.first * slice, slab.held() * slice * float_bytes, threads);
      }
      for (std::size_t i = 0; i < Out; ++i) to[i] = copies[In + i].data();
      body(from, to, {shape.nx, shape.ny, slab.held()});
      for (std::size_t i = 0; i < Out; ++i)
        memory_->copy(out[i] + slab.z0 * slice, to[i] + (slab.z0 - slab.first) * slice,
                      (slab.z1 - slab.z0) * slice * float_bytes, threads);
    });
  }

  std::shared_ptr<FileMemory> memory_;
  VectorKernels& host_;
  std::int64_t work_bytes_, piece_;
  std::vector<Buffer<float>> buffers_;
};

}  // namespace

std::unique_ptr<VectorKernels> make_vector_kernels(std::shared_ptr<FileMemory> memory, VectorKernels& host,
                                                   std::int64_t work_bytes) {
  return std::make_unique<FilesVectorKernels>(std::move(memory), host, work_bytes);
}

}  // namespace lepus::files
