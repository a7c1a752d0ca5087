// SPDX-License-Identifier: Apache-2.0
// The transforms of the CUDA row filter, run thread by thread on the host, against sums in double precision.
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "device/cuda/row_filter_fft.h"
#include <lepus/math.h>

namespace lepus::cuda {
namespace {

using Wide = std::complex<double>;

template <class Fft>
std::vector<Complex> roots(std::int64_t n, int count) {
  std::vector<Complex> table;
  for (const int power : {1, 4})
    for (int j = 0; j < count; ++j) {
      const Wide w = std::polar(1.0, -2 * pi * power * j / static_cast<double>(n));
      table.push_back({static_cast<float>(w.real()), static_cast<float>(w.imag())});
    }
  return table;
}

// What the kernel does with one complex row, whose upper half is zero where Half.
template <class Fft, bool Half>
std::vector<Complex> filtered(const std::vector<Complex>& row, const std::vector<float>& response) {
  const std::vector<Complex> roots1 = roots<Fft>(Fft::length, Fft::stride1), roots2 = roots<Fft>(Fft::stride1, 16);
  std::vector<Complex> line(Fft::places), result(Fft::length);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int j = 0; j < Fft::stride1; ++j) {
    Complex v[Fft::first];
    for (int k = 0; k < Fft::first; ++k) v[k] = row[at(j + k * Fft::stride1)];
    Fft::template there1<Half>(v, j, roots1.data(), line.data());
  }
  for (int j = 0; j < Fft::length / Fft::second; ++j) Fft::there2(j, roots2.data(), line.data());
  for (int j = 0; j < Fft::length / 16; ++j) Fft::turn(j, response.data(), line.data());
  for (int j = 0; j < Fft::length / Fft::second; ++j) Fft::back2(j, roots2.data(), line.data());
  for (int j = 0; j < Fft::stride1; ++j) {
    Complex v[Fft::first];
    Fft::back1(v, j, roots1.data(), line.data());
    for (int k = 0; k < Fft::first; ++k) result[at(j + k * Fft::stride1)] = v[k];
  }
  return result;
}

template <class Fft>
class RowFftTest : public testing::Test {};
using Lengths = testing::Types<RowFft<16, 4>, RowFft<16, 6>, RowFft<16, 8>, RowFft<16, 10>, RowFft<16, 12>,
                               RowFft<16, 16>, RowFft<16, 20>, RowFft<16, 24>, RowFft<16, 32>, RowFft<32, 24>>;
TYPED_TEST_SUITE(RowFftTest, Lengths);

// The circular convolution with a kernel of a few lags is known without any transform: its response is
// sum of a[m] cos(2 pi f m / N), the convolution sum of a[m] (x[n-m] + x[n+m]) / 2.
TYPED_TEST(RowFftTest, IsTheConvolution) {
  constexpr int n = TypeParam::length;
  const std::vector<double> a{0.3, -0.2, 0.5, 0.1};
  const std::vector<int> lags{0, 1, 7, n / 3};
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> response(n);
  for (int i = 0; i < n; ++i) {
    double h = 0;
    for (std::size_t m = 0; m < a.size(); ++m)
      h +=
          a[m] * std::cos(2 * pi *
                          static_cast<double>(static_cast<std::int64_t>(TypeParam::frequency_at(i)) * lags[m] % n) / n);
    response[static_cast<std::size_t>(i % 16 * (n / 16) + i / 16)] = static_cast<float>(h / n);
  }
  for (const bool half : {false, true}) {
    std::vector<Complex> row(n, Complex{0, 0});
    for (int i = 0; i < (half ? n / 2 : n); ++i) row[static_cast<std::size_t>(i)] = {uniform(random), uniform(random)};
    const std::vector<Complex> result =
        half ? filtered<TypeParam, true>(row, response) : filtered<TypeParam, false>(row, response);
    double error = 0, size = 0;
    for (int i = 0; i < n; ++i) {
      Wide sum = 0;
      for (std::size_t m = 0; m < a.size(); ++m)
        for (const int lag : {lags[m], -lags[m]}) {
          const Complex x = row[static_cast<std::size_t>((i + lag + n) % n)];
          sum += 0.5 * a[m] * Wide(static_cast<double>(x.x), static_cast<double>(x.y));
        }
      const Complex y = result[static_cast<std::size_t>(i)];
      error += std::norm(sum - Wide(static_cast<double>(y.x), static_cast<double>(y.y)));
      size += std::norm(sum);
    }
    // About eight roundings of 2^-24 in each of six steps, adding up as random ones do: sqrt(48) * 6e-8 = 4e-7.
    EXPECT_LT(std::sqrt(error / size), 4e-7) << "length " << n << (half ? ", half of it zero" : "");
  }
}

TEST(RowFft, EveryFrequencyOnce) {
  using Fft = RowFft<16, 10>;
  std::vector<int> seen(Fft::length);
  for (int i = 0; i < Fft::length; ++i) ++seen[static_cast<std::size_t>(Fft::frequency_at(i))];
  for (const int count : seen) EXPECT_EQ(count, 1);
}

// 16 neighbouring threads must meet 16 banks of 8 bytes in every step.
TEST(RowFft, NoBankIsMetTwice) {
  using Fft = RowFft<16, 10>;
  const auto distinct = [](auto place) {
    unsigned banks = 0;
    for (int thread = 0; thread < 16; ++thread) banks |= 1U << (place(thread) % 16);
    return banks == 0xFFFFU;
  };
  for (int first = 0; first < 160; first += 16) {
    EXPECT_TRUE(distinct([&](int t) { return Fft::place(first + t); }));
    EXPECT_TRUE(distinct([&](int t) { return (first + t) / 16 * Fft::place(Fft::stride1) + (first + t) % 16; }));
    EXPECT_TRUE(distinct([&](int t) { return 17 * (first + t); }));
  }
}

}  // namespace
}  // namespace lepus::cuda
