// SPDX-License-Identifier: Apache-2.0
// Operations on long vectors and on volumes in a device's memory: what iterative methods do between two uses of the
// operator. Sums run in double precision in an order that depends on the length alone.
#pragma once

#include <cstdint>

namespace lepus {

class Queue;

struct VolumeShape {
  std::int64_t nx = 0, ny = 0, nz = 0;
  std::int64_t voxels() const { return nx * ny * nz; }
};

class VectorKernels {
public:
  virtual ~VectorKernels() = default;

  virtual void fill(float* out, float value, std::int64_t n, Queue& queue) = 0;
  // out = a x + b y; out may be x or y.
  virtual void combine(float* out, float a, const float* x, float b, const float* y, std::int64_t n, Queue& queue) = 0;
  virtual void multiply(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) = 0;
  virtual void divide(float* out, const float* x, const float* y, std::int64_t n, Queue& queue) = 0;  // 0 where y is 0
  virtual void clamp(float* out, const float* x, float low, float high, std::int64_t n, Queue& queue) = 0;
  // Waits for the queue.
  virtual double dot(const float* x, const float* y, std::int64_t n, Queue& queue) = 0;
  virtual double sum(const float* x, std::int64_t n, Queue& queue) = 0;
  virtual double largest_magnitude(const float* x, std::int64_t n, Queue& queue) = 0;

  // Forward differences, zero at the last voxel of an axis: gradient[0], [1], [2] along x, y, z, and the negative of
  // the transpose.
  virtual void gradient(const float* volume, float* const gradient[3], const VolumeShape& shape, Queue& queue) = 0;
  virtual void divergence(const float* const gradient[3], float* volume, const VolumeShape& shape, Queue& queue) = 0;
  // out = scale * in, voxel by voxel, shortened to the length `limit` where it is longer; out may be in.
  virtual void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                            Queue& queue) = 0;
  // x = argmin |x - volume|^2 / 2 + strength TV(x), low <= x <= high, by `steps` steps of the dual fast gradient
  // method (Beck and Teboulle 2009, IEEE TIP 18:2419). dual[3]: kept between calls as a warm start, zero at first.
  virtual void total_variation_step(const float* volume, float strength, float low, float high, int steps,
                                    float* const dual[3], float* out, const VolumeShape& shape, Queue& queue) = 0;
};

}  // namespace lepus
