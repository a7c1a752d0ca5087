// SPDX-License-Identifier: Apache-2.0
// Morphology and distances of bits on a CUDA device: the same bits as on the host, and how long 512^3 voxels take.
#include <cstdio>

#include <gtest/gtest.h>

#include "device/cuda/device.h"
#include "device/host/device.h"
#include "device/volume_kernels_cases_test.h"
#include "need_device.h"

namespace lepus {
namespace {

using namespace volume_kernels_test;

TEST(VolumeKernelsOnDevice, AreThoseOfTheHost) {
  NEED_DEVICE();
  ThreadPool threads(2);
  const auto card = cuda::make_device(0, Precision::exact, 0), host = host::make_device("cpu", threads);
  for (const double radius : {0.0, 1.0, 2.5, 5.0, 31.0})
    for (const BitShape& s : {shape_of(70, 40, 37), shape_of(31, 12, 5, 1), shape_of(256, 33, 20)})
      for (const double share : {0.001, 0.5, 0.999}) {
        const Words bits = random_bits(s, share, 7);
        EXPECT_EQ(run_on(*card, bits, s, radius), run_on(*host, bits, s, radius)) << radius << " " << share;
      }
}

// Random bits would end the search for a zero at once; in ones with pores most words see every row of the ball.
TEST(VolumeKernelsOnDevice, TimesAt512) {
  NEED_DEVICE();
  const auto card = cuda::make_device(0, Precision::exact, 0);
  const BitShape s = shape_of(512, 512, 512);
  const auto queue = card->make_queue();
  const Block in = card->allocate(s.words() * 4), out = card->allocate(s.words() * 4),
              far = card->allocate(s.voxels() * 4);
  auto* const bits = reinterpret_cast<std::uint32_t*>(in.get());
  auto* const to = reinterpret_cast<std::uint32_t*>(out.get());
  // Sparse zeros grown to balls: a volume of ones with pores, some 8 % of it.
  const Words seeds = random_bits(s, 1 - 2e-5, 9);
  card->copy(in.get(), seeds.data(), s.words() * 4, *queue);
  card->volume_kernels()->erode(bits, to, s, 10, *queue);
  card->copy(in.get(), out.get(), s.words() * 4, *queue);
  const auto milliseconds = [&](auto&& work) {
    work();
    const auto begin = card->make_event(Timing::on), end = card->make_event(Timing::on);
    begin->mark(*queue);
    for (int i = 0; i < 10; ++i) work();
    end->mark(*queue);
    end->wait();
    return end->seconds_since(*begin) * 100;
  };
  VolumeKernels& kernels = *card->volume_kernels();
  const double erosion = milliseconds([&] { kernels.erode(bits, to, s, 5, *queue); });
  const double dilation = milliseconds([&] { kernels.dilate(bits, to, s, 5, *queue); });
  const double wide = milliseconds([&] { kernels.erode(bits, to, s, 20, *queue); });
  const double distances =
      milliseconds([&] { kernels.squared_distances(bits, reinterpret_cast<std::int32_t*>(far.get()), s, *queue); });
  std::printf("512^3, %s: erosion by 5: %.3f ms, dilation by 5: %.3f ms, erosion by 20: %.3f ms, distances: %.3f ms\n",
              card->info().name.c_str(), erosion, dilation, wide, distances);
  EXPECT_LT(erosion, 30);
}

}  // namespace
}  // namespace lepus
