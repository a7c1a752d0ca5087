// SPDX-License-Identifier: Apache-2.0
// Ring removal on the device against the reference, over the cases of the CPU's tests, and its speed.
#include <cstdio>

#include <gtest/gtest.h>

#include "correct/rings/ring_cases_test.h"
#include "need_device.h"
#include "test_card.h"

namespace lepus {
namespace {

using ring_cases::Case;
using ring_cases::Stack;

void on_device(Stack& stack, const RingOptions& options, TestCard& card) {
  const Block memory = card.upload(stack.memory);
  Planes device = stack.planes;
  device.data = TestCard::floats(memory);
  card.kernels().remove_rings(device, options, card.queue());
  card.download(memory.get(), stack.memory);
}

TEST(RingsGpu, DeviceIsTheReference) {
  NEED_DEVICE();
  TestCard card;
  for (const Case& c : ring_cases::cases()) {
    const Stack before(c);
    Stack expected(before), got(before);
    reference::remove_rings(expected.planes, c.options);
    on_device(got, c.options, card);
    EXPECT_LE(ring_cases::difference(got.planes, expected.planes), ring_cases::tolerance)
        << c.name << " " << c.width << " x " << c.height;
    EXPECT_TRUE(got.gaps_untouched()) << c.name;
  }
}

TEST(RingsGpu, SameBitsForAnyCut) {
  NEED_DEVICE();
  TestCard card;
  for (const RingMethod method :
       {RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting, RingMethod::combined}) {
    const Case many{"", ring_cases::options_for(method, 130), 130, 35, 5};
    const Stack before(many);
    Stack whole(before);
    on_device(whole, many.options, card);
    const Case single{"", many.options, 130, 35, 1};
    for (std::int64_t plane = 0; plane < 5; ++plane) {
      Stack one(single);
      std::copy_n(before.planes.row(plane, 0), one.memory.size(), one.memory.data());
      on_device(one, many.options, card);
      EXPECT_TRUE(std::equal(one.memory.begin(), one.memory.end(), whole.planes.row(plane, 0))) << name_of(method);
    }
  }
}

// More views than shared memory sorts; and so many that several columns do not fit it together.
TEST(RingsGpu, ManyViews) {
  NEED_DEVICE();
  TestCard card;
  ThreadPool threads;
  for (const std::int64_t views : {std::int64_t{3000}, std::int64_t{16384}, std::int64_t{20000}})
    for (const RingMethod method : {RingMethod::sorting, RingMethod::combined}) {
      const Case c{"", ring_cases::options_for(method, 70), 70, views, 2};
      const Stack before(c);
      Stack expected(before), got(before);
      remove_rings(expected.planes, c.options, threads);
      on_device(got, c.options, card);
      EXPECT_LE(ring_cases::difference(got.planes, expected.planes), ring_cases::tolerance) << views;
    }
}

// 450 sinograms of 1400 x 360, resident on the device. Measured on one H200: trend 3.6, wavelet-fourier 12.6, sorting
// 28.6, combined 65.5 ms; the limits are twice that, for a busy card.
TEST(RingsGpu, Speed) {
  NEED_DEVICE();
  TestCard card;
  constexpr std::int64_t width = 1400, height = 360, count = 450;
  const Case tile{"", {}, width, height, 1};
  const Stack one(tile);
  std::vector<float> packed;
  for (std::int64_t y = 0; y < height; ++y)
    packed.insert(packed.end(), one.planes.row(0, y), one.planes.row(0, y) + width);
  const auto bytes = static_cast<std::int64_t>(packed.size() * sizeof(float));
  const Block memory = card.device().allocate(bytes * count);
  const Planes device{TestCard::floats(memory), width, height, width, count, width * height};
  const auto begin = card.device().make_event(Timing::on), end = card.device().make_event(Timing::on);
  struct Method {
    RingMethod method;
    float limit_ms;
  };
  for (const auto& [method, limit_ms] : {Method{RingMethod::trend, 7.2F},
                                         {RingMethod::wavelet_fourier, 25},
                                         {RingMethod::sorting, 57},
                                         {RingMethod::combined, 131}}) {
    RingOptions options;
    options.method = method;
    float best = 1e9F;
    for (int run = 0; run < 3; ++run) {  // the first takes the scratch memory
      for (std::int64_t plane = 0; plane < count; ++plane)
        card.device().copy(device.row(plane, 0), packed.data(), bytes, card.queue());
      begin->mark(card.queue());
      card.kernels().remove_rings(device, options, card.queue());
      end->mark(card.queue());
      end->wait();
      best = std::min(best, static_cast<float>(1e3 * end->seconds_since(*begin)));
    }
    std::printf("%-16s 450 sinograms of 1400 x 360: %.1f ms\n", name_of(method).c_str(), static_cast<double>(best));
    EXPECT_LT(best, limit_ms) << name_of(method);
  }
}

}  // namespace
}  // namespace lepus
