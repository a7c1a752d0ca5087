// SPDX-License-Identifier: Apache-2.0
// What total variation needs of a volume: differences, their transpose, and the proximal map (the minimiser of
// |x - volume|^2 / 2 + strength TV(x)) by its dual. Each voxel is computed by itself, so threads change no bit.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/host/device.h"
#include "device/host/vector_kernels.h"

namespace lepus::host {
namespace {

// body(z, y, first index of the row) for every row of voxels.
template <class Body>
void each_row(const VolumeShape& shape, Queue& queue, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, shape.nx));
  threads_of(queue).parallel_for(0, shape.ny * shape.nz, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) body(row / shape.ny, row % shape.ny, row * shape.nx);
  });
}

void scale_to(float& a, float& b, float& c, float limit) {
  const float length = std::sqrt(a * a + b * b + c * c);
  const float factor = length > limit ? limit / length : 1;
  a *= factor;
  b *= factor;
  c *= factor;
}

// Where the neighbours along y and z lie; the row itself where there is none, so that differences are zero.
struct Neighbours {
  Neighbours(const VolumeShape& shape, std::int64_t z, std::int64_t y)
      : after_y(y + 1 < shape.ny ? shape.nx : 0), after_z(z + 1 < shape.nz ? shape.nx * shape.ny : 0) {}
  std::int64_t after_y, after_z;
};

// The divergence of a row, by the transpose of differences: what lies at an axis' last voxel does not count.
class RowDivergence {
public:
  RowDivergence(const float* const in[3], const VolumeShape& shape, std::int64_t z, std::int64_t y, std::int64_t row)
      : x_(in[0] + row),
        y_(in[1] + row),
        z_(in[2] + row),
        y_before_(y > 0 ? y_ - shape.nx : nullptr),
        z_before_(z > 0 ? z_ - shape.nx * shape.ny : nullptr),
        last_x_(shape.nx - 1),
        has_y_(y + 1 < shape.ny),
        has_z_(z + 1 < shape.nz) {}
  float operator()(std::int64_t i) const {
    float sum = (i < last_x_ ? x_[i] : 0) - (i > 0 ? x_[i - 1] : 0);
    sum += (has_y_ ? y_[i] : 0) - (y_before_ ? y_before_[i] : 0);
    sum += (has_z_ ? z_[i] : 0) - (z_before_ ? z_before_[i] : 0);
    return sum;
  }

private:
  const float *x_, *y_, *z_, *y_before_, *z_before_;
  std::int64_t last_x_;
  bool has_y_, has_z_;
};

}  // namespace

void gradient(const float* volume, float* const out[3], const VolumeShape& shape, Queue& queue) {
  each_row(shape, queue, [&](std::int64_t z, std::int64_t y, std::int64_t row) {
    const Neighbours next(shape, z, y);
    const float* v = volume + row;
    for (std::int64_t i = 0; i < shape.nx; ++i) {
      out[0][row + i] = i + 1 < shape.nx ? v[i + 1] - v[i] : 0;
      out[1][row + i] = v[i + next.after_y] - v[i];
      out[2][row + i] = v[i + next.after_z] - v[i];
    }
  });
}

void divergence(const float* const in[3], float* volume, const VolumeShape& shape, Queue& queue) {
  each_row(shape, queue, [&](std::int64_t z, std::int64_t y, std::int64_t row) {
    const RowDivergence divergence_at(in, shape, z, y, row);
    for (std::int64_t i = 0; i < shape.nx; ++i) volume[row + i] = divergence_at(i);
  });
}

void limit_length(float* const out[3], const float* const in[3], float scale, float limit, std::int64_t n,
                  Queue& queue) {
  threads_of(queue).parallel_for(0, n, 32768, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      float a = scale * in[0][i], b = scale * in[1][i], c = scale * in[2][i];
      scale_to(a, b, c, limit);
      out[0][i] = a;
      out[1][i] = b;
      out[2][i] = c;
    }
  });
}

void move_and_clamp(const float* volume, float strength, const float* const field[3], float low, float high, float* out,
                    const VolumeShape& shape, Queue& queue) {
  each_row(shape, queue, [&](std::int64_t z, std::int64_t y, std::int64_t row) {
    const RowDivergence divergence_at(field, shape, z, y, row);
    for (std::int64_t i = 0; i < shape.nx; ++i)
      out[row + i] = std::min(std::max(volume[row + i] + strength * divergence_at(i), low), high);
  });
}

void dual_steps(const DualSteps& work, int first, int last, const VolumeShape& shape, Queue& queue) {
  float* const* const r = work.ahead;
  float* const* const dual = work.dual;
  const float rise = 1 / (12 * work.strength);  // 12: the largest eigenvalue of -div grad
  double t = 1;
  for (int step = 0; step < last; ++step) {
    const double next_t = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    const auto momentum = static_cast<float>((t - 1) / next_t);
    t = next_t;
    if (step < first) continue;
    move_and_clamp(work.volume, work.strength, r, work.low, work.high, work.out, shape, queue);
    each_row(shape, queue, [&](std::int64_t z, std::int64_t y, std::int64_t row) {
      const Neighbours next(shape, z, y);
      const float* v = work.out + row;
      for (std::int64_t i = 0; i < shape.nx; ++i) {
        const std::int64_t at = row + i;
        float a = r[0][at] + rise * (i + 1 < shape.nx ? v[i + 1] - v[i] : 0);
        float b = r[1][at] + rise * (v[i + next.after_y] - v[i]);
        float c = r[2][at] + rise * (v[i + next.after_z] - v[i]);
        scale_to(a, b, c, 1);
        r[0][at] = a + momentum * (a - dual[0][at]);
        r[1][at] = b + momentum * (b - dual[1][at]);
        r[2][at] = c + momentum * (c - dual[2][at]);
        dual[0][at] = a;
        dual[1][at] = b;
        dual[2][at] = c;
      }
    });
  }
}

void total_variation_step(const float* volume, float strength, float low, float high, int steps, float* const dual[3],
                          float* out, const VolumeShape& shape, Queue& queue) {
  const std::int64_t n = shape.voxels();
  const ScratchScope scope(queue);
  float* const ahead = queue.scratch<float>(3 * n);
  float* const r[3] = {ahead, ahead + n, ahead + 2 * n};
  for (int axis = 0; axis < 3; ++axis) std::memcpy(r[axis], dual[axis], static_cast<std::size_t>(n) * sizeof(float));
  if (strength > 0) dual_steps({volume, strength, low, high, r, dual, out}, 0, steps, shape, queue);
  move_and_clamp(volume, strength, dual, low, high, out, shape, queue);
}

}  // namespace lepus::host
