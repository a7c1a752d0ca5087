// SPDX-License-Identifier: Apache-2.0
// Vectors in a file: the bits of the host's kernels, whatever part of them is in memory and however they are cut.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "device/files/device.h"
#include "device/files/slabs.h"
#include "device/host/test_host.h"
#include "device/test_values.h"
#include "device/vector_kernels.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using Values = std::vector<float>;
using files::float_bytes;

// Vectors of a device, and what is left in them.
class Vectors {
public:
  Vectors(Device& device, Queue& queue) : device_(device), queue_(queue) {}
  VectorKernels& kernels() { return device_.vector_kernels(); }
  Queue& queue() { return queue_; }
  float* add(const Values& values) {
    blocks_.push_back(device_.allocate(std::ssize(values) * float_bytes));
    auto* const at = reinterpret_cast<float*>(blocks_.back().get());
    device_.copy(at, values.data(), std::ssize(values) * float_bytes, queue_);
    all_.push_back({at, std::ssize(values)});
    return at;
  }
  std::vector<Values> read() {
    std::vector<Values> found;
    for (const auto& [at, size] : all_) {
      found.emplace_back(static_cast<std::size_t>(size));
      device_.copy(found.back().data(), at, size * float_bytes, queue_);
    }
    return found;
  }

private:
  Device& device_;
  Queue& queue_;
  std::vector<Block> blocks_;
  std::vector<std::pair<float*, std::int64_t>> all_;
};

bool same_bits(const std::vector<Values>& a, const std::vector<Values>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i)
    same = a[i].size() == b[i].size() && std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) == 0;
  return same;
}

// `work` returns numbers, which count as well.
void compare(std::int64_t memory_bytes, std::int64_t work_bytes,
             const std::function<std::vector<double>(Vectors&)>& work) {
  TestHost host(2);
  const files::Setup setup{testing::TempDir(), 1 << 23, memory_bytes, work_bytes};
  const auto device = files::make_device(setup, host.threads);
  const auto queue = device->make_queue();
  Vectors plain(host.device(), host.queue()), filed(*device, *queue);
  EXPECT_EQ(work(filed), work(plain)) << memory_bytes << ", " << work_bytes;
  EXPECT_TRUE(same_bits(plain.read(), filed.read())) << memory_bytes << ", " << work_bytes;
}

TEST(Files, VectorsHaveTheBitsOfTheHost) {
  const std::int64_t n = 600003;  // nine blocks of a sum, and some more
  Values y = random_values(n, 2);
  y[7] = 0;
  // Nothing in memory; a part of the first vector; all of the first and a part of the second; all.
  for (const std::int64_t memory : {0, 1 << 18, 1 << 20, 1 << 24})
    for (const std::int64_t work : {1, 1 << 25})
      compare(memory, work, [&](Vectors& v) {
        float *const a = v.add(random_values(n, 1)), *const b = v.add(y), *const out = v.add(Values(y.size(), 9.0F));
        VectorKernels& kernels = v.kernels();
        kernels.combine(v.add(y), 2, a, -3, b, n, v.queue());
        kernels.multiply(v.add(y), a, b, n, v.queue());
        kernels.clamp(v.add(y), a, -0.25F, 0.5F, n, v.queue());
        kernels.fill(v.add(y), 3, n - 1, v.queue());
        kernels.divide(out, a, b, n, v.queue());
        kernels.combine(out, 1, out, 0.5F, out, n, v.queue());
        float* const field[3] = {a, b, out};
        kernels.limit_length(field, field, 2, 1, n, v.queue());
        return std::vector<double>{kernels.dot(a, out, n, v.queue()), kernels.sum(b, n, v.queue()),
                                   kernels.largest_magnitude(out, n, v.queue())};
      });
}

TEST(Files, NanIsTheLargest) {
  Values x = random_values(200003, 3);
  x[77] = NAN;
  TestHost host(2);
  const auto device = files::make_device({testing::TempDir(), 1 << 20, 0, 1}, host.threads);
  const auto queue = device->make_queue();
  Vectors filed(*device, *queue);
  EXPECT_TRUE(std::isnan(filed.kernels().largest_magnitude(filed.add(x), std::ssize(x), *queue)));
}

TEST(Files, VolumesHaveTheBitsOfTheHost) {
  for (const VolumeShape& shape : {VolumeShape{13, 9, 70}, VolumeShape{7, 5, 3}, VolumeShape{4, 1, 130},
                                   VolumeShape{33, 2, 1}, VolumeShape{1, 4, 60}}) {
    const std::int64_t n = shape.voxels(), slice = shape.nx * shape.ny * float_bytes;
    const std::int64_t smallest = files::smallest_work_bytes(shape);
    // From the least that will do to all of the volume.
    for (const std::int64_t slices : {0, 60, 150, 2000})
      for (const int steps : {0, 1, 5, 20})
        for (const float strength : {0.3F, 0.0F})
          compare(n * float_bytes, smallest + slices * slice, [&](Vectors& v) {
            float *const x = v.add(random_values(n, 8)), *const out = v.add(random_values(n, 5));
            float* const dual[3] = {v.add(random_values(n, 9)), v.add(random_values(n, 10)),
                                    v.add(random_values(n, 11))};
            v.kernels().limit_length(dual, dual, 1, 1, n, v.queue());
            for (int i = 0; i < 2; ++i)
              v.kernels().total_variation_step(x, strength, -0.7F, 0.8F, steps, dual, out, shape, v.queue());
            float* const difference[3] = {v.add(Values(static_cast<std::size_t>(n))),
                                          v.add(Values(static_cast<std::size_t>(n))),
                                          v.add(Values(static_cast<std::size_t>(n)))};
            v.kernels().gradient(x, difference, shape, v.queue());
            v.kernels().divergence(dual, v.add(Values(static_cast<std::size_t>(n))), shape, v.queue());
            return std::vector<double>{};
          });
  }
}

TEST(Files, TooLittleMemoryForSlicesIsRefused) {
  const VolumeShape shape{16, 16, 200};
  TestHost host(1);
  const std::int64_t work = files::smallest_work_bytes(shape) - 1;
  const auto device = files::make_device({testing::TempDir(), 1 << 22, 0, work}, host.threads);
  const auto queue = device->make_queue();
  Vectors filed(*device, *queue);
  const Values zeros(static_cast<std::size_t>(shape.voxels()));
  float *const x = filed.add(zeros), *const out = filed.add(zeros);
  float* const dual[3] = {filed.add(zeros), filed.add(zeros), filed.add(zeros)};
  EXPECT_THROW(filed.kernels().total_variation_step(x, 1, 0, 1, 3, dual, out, shape, *queue), Error);
}

TEST(Files, SpaceIsUsedAgainAndGrows) {
  TestHost host(1);
  const std::int64_t piece = 1 << 16;
  const auto device = files::make_device({testing::TempDir(), 4 * piece, piece, 1}, host.threads);
  const Block first = device->allocate(piece);
  Block second = device->allocate(2 * piece), third = device->allocate(piece);
  std::byte* const hole = second.get();
  second.reset();
  Block half = device->allocate(piece);  // in the hole
  EXPECT_EQ(half.get(), hole);
  second = device->allocate(2 * piece);  // in none: the file grows
  EXPECT_GE(second.get() - first.get(), 4 * piece);
  third.reset();
  half.reset();
  EXPECT_EQ(device->allocate(3 * piece).get(), hole);  // three that lie beside each other
}

TEST(Files, NoSpaceAndNoFolderAreErrorsAtOnce) {
  TestHost host(1);
  const auto refused = [&](const files::Setup& setup) {
    try {
      files::make_device(setup, host.threads);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::disk;
    }
    return false;
  };
  EXPECT_TRUE(refused({testing::TempDir(), std::int64_t{1} << 60, 0, 1}));
  EXPECT_TRUE(refused({std::filesystem::path(testing::TempDir()) / "no-such-folder", 1 << 20, 0, 1}));
}

}  // namespace
}  // namespace lepus
