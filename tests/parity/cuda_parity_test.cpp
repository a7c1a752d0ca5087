// SPDX-License-Identifier: Apache-2.0
// Backprojection: the backend cuda against the double-precision reference, on the cases of the CPU's parity test.
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "device/cuda/cuda_backend.h"
#include "../gpu/need_device.h"
#include "harness.h"

namespace lepus::parity {
namespace {

class CudaParity : public ::testing::TestWithParam<Interpolation> {
protected:
  void SetUp() override { NEED_DEVICE(); }
};

// fast and half interpolate with weights of 8 bits, which err by up to 1/512 of the step between neighbouring pixels;
// the cases' views are noise of amplitude 1 on a wave of amplitude 1, and the sum over views averages little of it.
struct Bars {
  double rms, largest;
};
Bars bars(Precision precision, Interpolation interpolation) {
  if (precision == Precision::exact || interpolation != Interpolation::linear) return {rms_bar, largest_bar};
  return {2e-3, 5e-3};
}

TEST_P(CudaParity, EveryPrecisionAgreesWithTheReferenceOnEveryCase) {
  for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
    double worst_rms = 0, worst = 0;
    for (const Case& c : all_cases()) {
      const Views views(c.geometry, whole_views(c.geometry));
      const auto reference_kernel = make_backend("reference")->make_backprojector(c.geometry, c.grid, GetParam());
      const auto reference = backproject(*reference_kernel, c.grid, views, {});
      const auto kernel = make_cuda_backend(0, precision)->make_backprojector(c.geometry, c.grid, GetParam());
      const auto volume = backproject(*kernel, c.grid, views, {});
      const Difference d = difference(c, volume, reference, GetParam() == Interpolation::nearest);
      EXPECT_TRUE(d.rms <= bars(precision, GetParam()).rms) << c.name << ": " << d.rms;
      EXPECT_TRUE(d.largest <= bars(precision, GetParam()).largest) << c.name << ": " << d.largest;
      worst_rms = std::max(worst_rms, d.rms);
      worst = std::max(worst, d.largest);
    }
    std::printf("worst of all cases, %s: rms %.2e, largest %.2e\n",
                precision == Precision::exact  ? "exact"
                : precision == Precision::fast ? "fast"
                                               : "half",
                worst_rms, worst);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaParity,
                         ::testing::Values(Interpolation::linear, Interpolation::cubic, Interpolation::nearest));

using CudaCuts = CudaParity;
TEST_P(CudaCuts, TheSameBitsForEverySlabAndWedge) {
  for (const Case& c : all_cases()) {
    const Views views(c.geometry, whole_views(c.geometry));
    for (const Precision precision : {Precision::exact, Precision::fast, Precision::half}) {
      const auto kernel = make_cuda_backend(0, precision)->make_backprojector(c.geometry, c.grid, GetParam());
      const auto whole = backproject(*kernel, c.grid, views, {});
      for (const Cut& cut : {Cut{16, 1 << 20}, Cut{32, kernel->view_block()}}) {
        const auto parts = backproject(*kernel, c.grid, views, cut);
        EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(float)), 0) << c.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaCuts, ::testing::Values(Interpolation::linear, Interpolation::cubic));

}  // namespace
}  // namespace lepus::parity
