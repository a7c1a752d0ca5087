// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "core/memory.h"
#include "filter/ramp.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus {
namespace {

const std::vector<Window> all_windows{Window::ram_lak, Window::shepp_logan, Window::cosine, Window::hamming,
                                      Window::hann};

std::vector<RampOptions> many_options() {
  std::vector<RampOptions> all;
  for (const Window window : all_windows)
    for (const double cutoff : {1.0, 0.73, 0.4})
      for (const int samples : {0, 5})
        for (const double extrapolate : {0.0, 0.3})
          all.push_back(
              {.window = window, .cutoff = cutoff, .spatial_hamming_samples = samples, .extrapolate = extrapolate});
  return all;
}

std::vector<double> random_row(std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 3);
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (double& value : row) value = static_cast<float>(uniform(random));
  return row;
}

std::vector<float> filtered(const RampFilter& filter, const std::vector<double>& row) {
  std::vector<float> out(row.begin(), row.end());
  Buffer<float> scratch(filter.scratch_floats());
  filter.apply(out.data(), scratch.data());
  return out;
}

// The projection of a uniform disc of radius r pixels, centred on column c, parallel beam.
std::vector<double> disc(std::int64_t columns, double c, double r) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < columns; ++i) {
    const double s = static_cast<double>(i) - c;
    row.push_back(2 * std::sqrt(std::max(0.0, r * r - s * s)));
  }
  return row;
}

TEST(Ramp, KernelIsTheTextbookOne) {
  const RampOptions ram_lak;
  // The closed form is a difference of two sincs of order one: a few roundings of 1/2 remain.
  const double tolerance = 4 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(ramp_kernel(ram_lak, 0), 0.25, tolerance);
  for (int n = 1; n < 3000; ++n)
    ASSERT_NEAR(ramp_kernel(ram_lak, n), n % 2 ? -1 / (pi * n * pi * n) : 0.0, tolerance) << n;
  const RampOptions shepp_logan{
      .window = Window::shepp_logan, .cutoff = 1, .spatial_hamming_samples = 0, .extrapolate = 0};
  for (int n = 0; n < 3000; ++n)
    ASSERT_NEAR(ramp_kernel(shepp_logan, n), -2 / (pi * pi * (4.0 * n * n - 1)), tolerance) << n;
}

// The kernel is the inverse transform of the response: by quadrature at every lag, for all options. Simpson's rule with
// 4000 intervals on a smooth integrand with at most 40 periods: (pi 40 * 2 / 4000)^4 / 180 < 1e-7 relative, times 1/8.
TEST(Ramp, KernelIsTheInverseTransformOfTheResponse) {
  for (const RampOptions& options : many_options()) {
    const double edge = options.cutoff / 2 * (1 - 1e-15);
    for (const int lag : {0, 1, 2, 3, 7, 16, 41}) {
      constexpr int intervals = 4000;
      double sum = 0;
      for (int i = 0; i <= intervals; ++i) {
        const double f = edge * i / intervals;
        const double weight = i == 0 || i == intervals ? 1 : (i % 2 ? 4 : 2);
        sum += weight * 2 * ramp_response(options, f) * std::cos(2 * pi * f * lag);
      }
      ASSERT_NEAR(ramp_kernel(options, lag), sum * edge / intervals / 3, 2e-8) << lag;
    }
  }
}

// The other way round: what the fast filter does to a wave is what ramp_response says, at every frequency. An impulse
// in the middle of 2N+1 columns shows the kernel up to lag N; the lags that are cut off add up to less than
// 1/(pi^2 N) where the response is continuous, and to jump/(pi N sin(pi distance)) at a distance from a jump.
TEST(Ramp, ImpulseShowsTheResponse) {
  constexpr std::int64_t half = 2000;
  for (const Window window : all_windows)
    for (const double cutoff : {1.0, 0.6})
      for (const int samples : {0, 7}) {
        const RampOptions options{
            .window = window, .cutoff = cutoff, .spatial_hamming_samples = samples, .extrapolate = 0};
        const RampFilter filter(2 * half + 1, options);
        std::vector<double> impulse(2 * half + 1, 0.0);
        impulse[half] = 1;
        const std::vector<float> kernel = filtered(filter, impulse);
        for (double f = 0; f <= 0.5; f += 0.0101) {
          const double distance = std::abs(f - cutoff / 2);
          if (distance < 0.01) continue;
          double sum = 0;
          for (std::int64_t n = -half; n <= half; ++n)
            sum += kernel[static_cast<std::size_t>(half + n)] * std::cos(2 * pi * f * static_cast<double>(n));
          const double jump = ramp_response(options, cutoff / 2 * (1 - 1e-12));
          const double tail = 1 / (pi * pi * half) + (cutoff < 1 ? jump / (pi * half * std::sin(pi * distance)) : 0);
          const double rounding = std::numeric_limits<float>::epsilon() * std::log2(4 * half);
          ASSERT_NEAR(sum, ramp_response(options, f), tail + rounding) << f << " cutoff " << cutoff;
        }
      }
}

TEST(Ramp, NothingPassesAboveTheCutoff) {
  for (const Window window : all_windows) {
    const RampOptions options{.window = window, .cutoff = 0.5, .spatial_hamming_samples = 0, .extrapolate = 0};
    EXPECT_GT(ramp_response(options, 0.2), 0);
    EXPECT_EQ(ramp_response(options, 0.2501), 0);
    EXPECT_EQ(ramp_response(options, -0.3), 0);
    EXPECT_EQ(ramp_response(options, 0), 0);
  }
  // Hann is nothing at the cut-off itself, Hamming keeps 8 %.
  EXPECT_NEAR(ramp_response({.window = Window::hann, .cutoff = 1, .spatial_hamming_samples = 0, .extrapolate = 0}, 0.5),
              0, 1e-16);
  EXPECT_NEAR(
      ramp_response({.window = Window::hamming, .cutoff = 1, .spatial_hamming_samples = 0, .extrapolate = 0}, 0.5),
      0.04, 1e-15);
}

// Single-precision transforms: the error's 2-norm is below eps * log2(length) * (largest response) * (the row's norm);
// two transforms and the rounded response make three such terms.
TEST(Ramp, FastAgreesWithReference) {
  for (const RampOptions& options : many_options())
    for (const std::int64_t columns : {1, 2, 3, 17, 333, 640}) {
      const std::vector<double> row = random_row(columns, static_cast<unsigned>(columns));
      const std::vector<double> expected = ramp_filter_reference(row, options);
      const RampFilter filter(columns, options);
      EXPECT_GE(filter.padded_length(), 2 * columns);
      const std::vector<float> got = filtered(filter, row);
      double norm2 = 0;
      for (const double value : row) norm2 += value * value;
      const double limit = 3 * std::numeric_limits<float>::epsilon() / 2 * 0.5 *
                           (1 + std::log2(static_cast<double>(filter.padded_length()))) *
                           std::sqrt(norm2 * (1 + 2 * options.extrapolate));
      for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], limit) << i << " of " << columns << " cutoff " << options.cutoff;
    }
}

// A constant row is a box: in its middle the filter leaves what the lags beyond its ends would have taken away,
// 2/pi^2 (1/n1^2 + ...) over the odd lags that are missing: small, positive, not zero. Wrapping around would make it
// zero.
TEST(Ramp, ConstantRowIsNotWrappedAround) {
  constexpr std::int64_t columns = 641;
  const std::vector<float> got = filtered(RampFilter(columns, {}), std::vector<double>(columns, 1.0));
  double expected = 0.25;
  for (int n = 1; n <= 320; n += 2) expected -= 2 / (pi * n * pi * n);
  EXPECT_NEAR(got[320], expected, 1e-6);
  EXPECT_NEAR(expected, 1 / (pi * pi * 320), 1e-6);  // the tail's integral: this is the scale of the effect
}

// f = 1 inside a disc makes its filtered projection 1/pi everywhere inside. The square-root edges are sampled at whole
// pixels: their error at a distance d pixels decays like sqrt(r) / d^(5/2), 1e-4 relative at half the radius.
TEST(Ramp, DiscBecomesFlat) {
  constexpr double r = 300;
  for (const double c : {319.5, 400.2}) {
    const std::vector<float> got = filtered(RampFilter(760, {}), disc(760, c, r));
    for (std::int64_t i = 0; i < 760; ++i)
      if (std::abs(static_cast<double>(i) - c) < r / 2) {
        ASSERT_NEAR(got[static_cast<std::size_t>(i)] * pi, 1, 2e-4) << i;
      }
  }
}

// A disc wider than the detector: cutting the row off makes a bright rim; the smooth continuation must take most of it
// away.
TEST(Ramp, ExtrapolationTamesTruncation) {
  constexpr std::int64_t columns = 400;
  const std::vector<double> row = disc(columns, 199.5, 260);
  const auto worst = [&](double extrapolate) {
    const RampOptions options{
        .window = Window::ram_lak, .cutoff = 1, .spatial_hamming_samples = 0, .extrapolate = extrapolate};
    const std::vector<float> got = filtered(RampFilter(columns, options), row);
    double largest = 0;
    for (std::size_t i = 10; i < 390; ++i) largest = std::max(largest, std::abs(got[i] * pi - 1));
    return largest;
  };
  EXPECT_GT(worst(0), 1.0);  // ten pixels from the edge the rim is more than twice the truth
  EXPECT_LT(worst(0.3), 0.2 * worst(0));
}

TEST(Ramp, SameBitsWhateverCameBeforeAndOnEveryThread) {
  const RampOptions options{.window = Window::hann, .cutoff = 0.8, .spatial_hamming_samples = 3, .extrapolate = 0.1};
  const RampFilter filter(333, options);
  const std::vector<double> row = random_row(333, 7);
  const std::vector<float> alone = filtered(filter, row);
  const auto run = [&](unsigned seed) {
    Buffer<float> scratch(filter.scratch_floats());
    for (unsigned k = 0; k < 50; ++k) {
      const std::vector<double> other = random_row(333, seed * 1000 + k);
      std::vector<float> rest(other.begin(), other.end());
      filter.apply(rest.data(), scratch.data());
      std::vector<float> again(row.begin(), row.end());
      filter.apply(again.data(), scratch.data());
      ASSERT_EQ(again, alone);
      // Another plan of the same size, made while other threads transform, gives the same bits.
      if (k % 16 == 0) {
        ASSERT_EQ(filtered(RampFilter(333, options), row), alone);
      }
    }
  };
  std::thread second(run, 2);
  run(1);
  second.join();
}

TEST(Ramp, PaddedLengthsHaveSmallFactors) {
  for (std::int64_t columns = 1; columns < 5000; columns = columns * 5 / 4 + 1) {
    std::int64_t rest = RampFilter(columns, {}).padded_length();
    EXPECT_GE(rest, 2 * columns);
    EXPECT_LE(rest, 2 * columns * 5 / 4 + 32);
    for (const std::int64_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    EXPECT_EQ(rest, 1) << columns;
  }
}

TEST(Ramp, RefusesOptionsThatMeanNothing) {
  EXPECT_THROW(RampFilter(10, {.window = Window::hann, .cutoff = 0, .spatial_hamming_samples = 0, .extrapolate = 0}),
               Error);
  EXPECT_THROW(RampFilter(10, {.window = Window::hann, .cutoff = 1.5, .spatial_hamming_samples = 0, .extrapolate = 0}),
               Error);
  EXPECT_THROW(RampFilter(10, {.window = Window::hann, .cutoff = 1, .spatial_hamming_samples = 4, .extrapolate = 0}),
               Error);
  EXPECT_THROW(RampFilter(10, {.window = Window::hann, .cutoff = 1, .spatial_hamming_samples = 0, .extrapolate = -1}),
               Error);
  EXPECT_THROW(RampFilter(0, {}), Error);
}

}  // namespace
}  // namespace lepus
