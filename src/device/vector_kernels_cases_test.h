// SPDX-License-Identifier: Apache-2.0
// For tests of every device: its vectors and total variation against the host's kernels.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/threads.h"
#include "device/device.h"
#include "device/test_values.h"
#include "device/vector_kernels.h"

namespace lepus::vector_kernels_test {

using Values = std::vector<float>;

// Some vectors in a device's memory.
class Vectors {
public:
  explicit Vectors(const std::string& backend) : devices_(open_devices(compute_on(backend), threads_)) {}
  VectorKernels& kernels() { return device().vector_kernels(); }
  Queue& queue() { return *queue_; }
  float* add(const Values& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
    blocks_.push_back(device().allocate(bytes));
    device().copy(blocks_.back().get(), values.data(), bytes, queue());
    return reinterpret_cast<float*>(blocks_.back().get());
  }
  Values read(const float* from, std::int64_t n) {
    Values values(static_cast<std::size_t>(n));
    device().copy(values.data(), from, n * 4, queue());
    queue().wait();
    return values;
  }

private:
  Device& device() { return *devices_.front(); }
  ThreadPool threads_{2};
  Devices devices_;
  std::unique_ptr<Queue> queue_ = device().make_queue();
  std::vector<Block> blocks_;
};

inline void expect_near(const Values& found, const Values& expected, double limit) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])), limit) << i;
}

// What `work` leaves in the vector it returns, on both.
inline void compare(const std::string& backend, std::int64_t n, double limit,
                    const std::function<float*(Vectors&)>& work) {
  Vectors host("cpu"), card(backend);
  const Values expected = host.read(work(host), n);
  expect_near(card.read(work(card), n), expected, limit);
}

inline void element_by_element(const std::string& backend) {
  const std::int64_t n = 200003;
  const Values x = random_values(n, 1);
  Values y = random_values(n, 2);
  y[7] = 0;
  constexpr double rounding = 1e-6;
  const auto with_two = [&](const auto& work) {
    compare(backend, n, rounding, [&](Vectors& v) {
      float* const out = v.add(Values(x.size(), 99.0F));
      work(v, out, v.add(x), v.add(y));
      return out;
    });
  };
  with_two([&](Vectors& v, float* out, float* a, float* b) { v.kernels().combine(out, 2, a, -3, b, n, v.queue()); });
  with_two([&](Vectors& v, float* out, float* a, float* b) { v.kernels().multiply(out, a, b, n, v.queue()); });
  with_two([&](Vectors& v, float* out, float* a, float*) { v.kernels().clamp(out, a, -0.25F, 0.5F, n, v.queue()); });
  with_two([&](Vectors& v, float* out, float*, float*) { v.kernels().fill(out, 3, n, v.queue()); });
  Vectors card(backend);
  float* const out = card.add(x);
  card.kernels().divide(out, out, card.add(y), n, card.queue());
  const Values ratio = card.read(out, n);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_FLOAT_EQ(ratio[i], i == 7 ? 0 : x[i] / y[i]);
}

inline void sums(const std::string& backend) {
  const std::int64_t n = 3000001;
  const Values x = random_values(n, 3), y = random_values(n, 4);
  double dot = 0, sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    dot += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    sum += static_cast<double>(x[i]);
  }
  Vectors card(backend);
  float *const a = card.add(x), *const b = card.add(y);
  const double found = card.kernels().dot(a, b, n, card.queue());
  EXPECT_NEAR(found, dot, 1e-8);
  EXPECT_NEAR(card.kernels().sum(a, n, card.queue()), sum, 1e-8);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(card.kernels().dot(a, b, n, card.queue()), found);
  Values large = x;
  large[1234567] = -4;
  EXPECT_EQ(card.kernels().largest_magnitude(card.add(large), n, card.queue()), 4);
  large[77] = NAN;
  EXPECT_TRUE(std::isnan(card.kernels().largest_magnitude(card.add(large), n, card.queue())));
}

inline const VolumeShape shapes[] = {{136, 33, 70}, {131, 33, 70}, {7, 5, 3},   {1, 4, 6},
                                     {33, 1, 1},    {4, 1, 130},   {512, 15, 1}};

inline void differences(const std::string& backend) {
  for (const VolumeShape& shape : shapes) {
    const std::int64_t n = shape.voxels();
    const Values x = random_values(n, 6), field = random_values(3 * n, 7);
    compare(backend, 3 * n, 1e-6, [&](Vectors& v) {
      float* const out = v.add(Values(3 * x.size(), 99.0F));
      float* const axes[3] = {out, out + n, out + 2 * n};
      v.kernels().gradient(v.add(x), axes, shape, v.queue());
      return out;
    });
    compare(backend, n, 1e-6, [&](Vectors& v) {
      float *const out = v.add(x), *const in = v.add(field);
      const float* const axes[3] = {in, in + n, in + 2 * n};
      v.kernels().divergence(axes, out, shape, v.queue());
      return out;
    });
    compare(backend, 3 * n, 1e-6, [&](Vectors& v) {
      float* const in = v.add(field);
      float* const axes[3] = {in, in + n, in + 2 * n};
      v.kernels().limit_length(axes, axes, 2, 1, n, v.queue());
      return in;
    });
  }
}

// Steps may go in pairs and take turns in several buffers; the dual is compared as well, and used again.
inline void total_variation(const std::string& backend) {
  for (const VolumeShape& shape : shapes)
    for (const int steps : {0, 1, 2, 3, 4, 5, 6, 7, 20}) {
      const std::int64_t n = shape.voxels();
      const Values x = random_values(n, 8);
      // Rounding of single precision, which no step makes larger: it minimises.
      compare(backend, 4 * n, 2e-5, [&](Vectors& v) {
        float* const out = v.add(Values(4 * x.size()));
        float* const dual[3] = {out + n, out + 2 * n, out + 3 * n};
        float* const volume = v.add(x);
        v.kernels().total_variation_step(volume, 0.3F, -0.7F, 0.8F, steps, dual, out, shape, v.queue());
        v.kernels().total_variation_step(volume, 0.3F, -0.7F, 0.8F, steps, dual, out, shape, v.queue());
        return out;
      });
    }
}

}  // namespace lepus::vector_kernels_test
