// SPDX-License-Identifier: Apache-2.0
// Long vectors of fp32 in the memory of a linear map's device, and the operations on them that methods are written in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/vector_kernels.h"
#include "operators/linear_map.h"
#include "ranks/agree.h"

namespace lepus {

// A handle: copies share their memory.
class Vector {
public:
  Vector() = default;
  Vector(LinearMap& map, std::int64_t size) : memory_(map.vector_block(size)), size_(size), capacity_(size) {
    map.home().vector_kernels().fill(data(), 0, size, map.queue());
  }
  // Of memory that someone else keeps for longer.
  static Vector borrowed(float* values, std::int64_t size) {
    Vector vector;
    vector.memory_ = {reinterpret_cast<std::byte*>(values), [](std::byte*) {}};
    vector.size_ = vector.capacity_ = size;
    return vector;
  }
  static Vector of_volume(LinearMap& map) { return {map, map.voxels()}; }
  static Vector of_line_integrals(LinearMap& map) {
    Vector vector(map, map.values());
    vector.shared_out_ = map.ranks() != nullptr;
    return vector;
  }
  float* data() { return reinterpret_cast<float*>(memory_.get()); }
  const float* data() const { return reinterpret_cast<const float*>(memory_.get()); }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(float)); }
  // To less than the memory that it has; it may grow again up to that.
  void resize(std::int64_t size) { size_ = std::min(size, capacity_); }
  std::int64_t capacity() const { return capacity_; }
  // Elements [first, first + size), in the same memory.
  Vector part(std::int64_t first, std::int64_t size) const {
    Vector some = *this;
    some.memory_ = {memory_, memory_.get() + first * static_cast<std::int64_t>(sizeof(float))};
    some.size_ = some.capacity_ = size;
    return some;
  }
  // It has this rank's part of the line integrals; else all ranks have the same.
  bool shared_out() const { return shared_out_; }
  explicit operator bool() const { return memory_ != nullptr; }

private:
  Block memory_;
  std::int64_t size_ = 0, capacity_ = 0;
  bool shared_out_ = false;
};

// The kernels of one map's device, with its queue; sizes are those of the first vector. Where ranks share out the line
// integrals, a number that is made of a vector is the same on all of them: the sum of their parts in the order of the
// ranks, and rank 0's of a volume (another kind of processor may round differently), so that all take the same turns.
class Algebra {
public:
  explicit Algebra(LinearMap& map)
      : device_(map.home()),
        kernels_(device_.vector_kernels()),
        queue_(map.queue()),
        shape_(map.shape()),
        ranks_(map.ranks()) {}

  void fill(Vector& out, float value) { kernels_.fill(out.data(), value, out.size(), queue_); }
  void copy(Vector& out, const Vector& x) { device_.copy(out.data(), x.data(), x.bytes(), queue_); }
  // out = a x + b y
  void combine(Vector& out, double a, const Vector& x, double b, const Vector& y) {
    kernels_.combine(out.data(), static_cast<float>(a), x.data(), static_cast<float>(b), y.data(), out.size(), queue_);
  }
  void scale(Vector& x, double a) { combine(x, a, x, 0, x); }
  void multiply(Vector& out, const Vector& x, const Vector& y) {
    kernels_.multiply(out.data(), x.data(), y.data(), out.size(), queue_);
  }
  void divide(Vector& out, const Vector& x, const Vector& y) {
    kernels_.divide(out.data(), x.data(), y.data(), out.size(), queue_);
  }
  void clamp(Vector& x, double low, double high) {
    kernels_.clamp(x.data(), x.data(), static_cast<float>(low), static_cast<float>(high), x.size(), queue_);
  }
  double dot(const Vector& x, const Vector& y) { return sum(kernels_.dot(x.data(), y.data(), x.size(), queue_), x); }
  double squared(const Vector& x) { return dot(x, x); }
  double count(const Vector& x) { return sum(static_cast<double>(x.size()), x); }  // of its elements
  double largest_magnitude(const Vector& volume) {
    return sum(kernels_.largest_magnitude(volume.data(), volume.size(), queue_), volume);
  }
  // Whether it holds on any rank.
  bool anywhere(bool here) const {
    if (!ranks_) return here;
    const std::vector<double> all = numbers_of_all(*ranks_, here ? 1 : 0);
    return std::ranges::find(all, 1.0) != all.end();
  }

  void gradient(const Vector& volume, Vector (&out)[3]) {
    float* const parts[3] = {out[0].data(), out[1].data(), out[2].data()};
    kernels_.gradient(volume.data(), parts, shape_, queue_);
  }
  void divergence(const Vector (&field)[3], Vector& volume) {
    const float* const parts[3] = {field[0].data(), field[1].data(), field[2].data()};
    kernels_.divergence(parts, volume.data(), shape_, queue_);
  }
  // field = scale * field, shortened to `limit` where it is longer.
  void limit_length(Vector (&field)[3], double scale, double limit) {
    float* const parts[3] = {field[0].data(), field[1].data(), field[2].data()};
    kernels_.limit_length(parts, parts, static_cast<float>(scale), static_cast<float>(limit), field[0].size(), queue_);
  }
  void total_variation_step(const Vector& volume, double strength, double low, double high, int steps,
                            Vector (&dual)[3], Vector& out) {
    float* const parts[3] = {dual[0].data(), dual[1].data(), dual[2].data()};
    kernels_.total_variation_step(volume.data(), static_cast<float>(strength), static_cast<float>(low),
                                  static_cast<float>(high), steps, parts, out.data(), shape_, queue_);
  }

  // To, from or between memory of the host; done when it returns.
  void copy_values(float* to, const float* from, std::int64_t count) {
    device_.copy(to, from, count * static_cast<std::int64_t>(sizeof(float)), queue_);
    queue_.wait();
  }

private:
  // Of what this rank found in a vector.
  double sum(double mine, const Vector& vector) const {
    if (!ranks_) return mine;
    const std::vector<double> all = numbers_of_all(*ranks_, mine);
    return vector.shared_out() ? std::accumulate(all.begin(), all.end(), 0.0) : all.front();
  }

  Device& device_;
  VectorKernels& kernels_;
  Queue& queue_;
  VolumeShape shape_;
  Ranks* ranks_;
};

}  // namespace lepus
