// SPDX-License-Identifier: Apache-2.0
// Every method of ring removal on the kind of stripes it is for: a simulated scan, a fault of which the truth is known,
// ring energy before and after, and what happens to the clean scan. Prints the figures of docs/corrections/rings.md
// and, where LEPUS_PICTURES names a folder, writes its pictures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "analysis/picture.h"
#include "core/memory.h"
#include "correct/rings/choose_method.h"
#include "correct/rings/ring_energy.h"
#include "correct/rings/rings.h"
#include "filter/ramp.h"
#include "simulate/builtin_phantoms.h"
#include "simulate/random.h"
#include <lepus/math.h>

namespace lepus {
namespace {

constexpr std::int64_t columns = 1024, views = 240;
constexpr double field_mm = 100, photons = 1e5;

struct Sinogram {
  std::vector<float> values = std::vector<float>(static_cast<std::size_t>(columns * views));
  float& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * columns + x)]; }
  Planes planes() { return {values.data(), columns, views, columns, 1, columns * views}; }
};

ThreadPool& pool() {
  static ThreadPool threads;
  return threads;
}

// A body off the axis with pores and grains, parallel beam, a full turn, 2 samples to a pixel, photon noise.
const Sinogram& clean_scan() {
  static const Sinogram scan = [] {
    std::vector<Shape> shapes{ellipsoid({7, 4, 0}, {36, 28, 50}, 0.04)};
    for (std::uint64_t i = 0; i < 14; ++i) {
      Random random(7, 1, 0, i);
      const double angle = 2 * pi * random.uniform(), distance = 20 * std::sqrt(random.uniform());
      const double size = 2 + 4 * random.uniform();
      shapes.push_back(sphere({7 + distance * std::cos(angle), 4 + distance * std::sin(angle), 0}, size,
                              random.uniform() < 0.5 ? -0.025 : 0.03));
    }
    const Phantom phantom("rings", Combine::add, shapes);
    Sinogram s;
    pool().parallel_for(0, views, 1, [&](std::int64_t begin, std::int64_t end, int) {
      Phantom::Scratch scratch;
      for (std::int64_t y = begin; y < end; ++y) {
        const double a = 2 * pi * static_cast<double>(y) / static_cast<double>(views);
        for (std::int64_t x = 0; x < columns; ++x) {
          double p = 0;
          for (const double part : {-0.25, 0.25}) {
            const double u = (static_cast<double>(x) + part - 0.5 * (columns - 1)) * field_mm / columns;
            const Vec3 through{u * std::cos(a), u * std::sin(a), 0}, along{-std::sin(a), std::cos(a), 0};
            p += 0.5 * phantom.line_integral({through, along}, scratch);
          }
          Random random(3, 2, static_cast<std::uint32_t>(y), static_cast<std::uint64_t>(x));
          const auto counted = static_cast<double>(std::max<std::uint64_t>(random.poisson(photons * std::exp(-p)), 1));
          s.at(x, y) = static_cast<float>(-std::log(counted / photons));
        }
      }
    });
    return s;
  }();
  return scan;
}

enum class Fault { gains, sparse, large, broken };

Sinogram with_fault(Fault fault) {
  Sinogram s = clean_scan();
  std::vector<float> stripe(columns, 0.0F);
  Random random(11, 3, static_cast<std::uint32_t>(fault), 0);
  if (fault == Fault::gains)  // every column 5 % off
    for (float& value : stripe) value = static_cast<float>(0.05 * random.normal());
  if (fault == Fault::sparse || fault == Fault::broken)  // one column in 20, up to 3 wide
    for (int i = 0; i < 50; ++i) {
      const auto first = static_cast<std::size_t>(10 + random.uniform() * (columns - 20));
      for (std::size_t k = 0; k < 1 + first % 3; ++k) stripe[first + k] = static_cast<float>(0.15 * random.normal());
    }
  if (fault == Fault::large || fault == Fault::broken)
    for (const std::int64_t first : {215, 420, 650, 800})
      for (std::int64_t k = 0; k < 8 + first % 7; ++k)
        stripe[static_cast<std::size_t>(first + k)] = first % 20 == 0 ? 0.15F : -0.15F;
  for (std::int64_t y = 0; y < views; ++y)
    for (std::int64_t x = 0; x < columns; ++x) s.at(x, y) += stripe[static_cast<std::size_t>(x)];
  if (fault == Fault::broken)
    for (std::int64_t y = 0; y < views; ++y) {
      for (const std::int64_t x : {300, 301, 302, 540, 711}) s.at(x, y) = 1.5F;  // dead
      for (const std::int64_t x : {365, 366, 590}) {                             // fluctuating
        Random noise(13, 4, static_cast<std::uint32_t>(y), static_cast<std::uint64_t>(x));
        s.at(x, y) += static_cast<float>(0.4 * noise.normal());
      }
    }
  return s;
}

double rms_of(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

RingOptions recommended(RingMethod method) {
  RingOptions options;  // the scan file's defaults; the range of the line integrals as the correction takes it
  options.method = method;
  std::vector<float> sorted = clean_scan().values;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return static_cast<double>(sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]);
  };
  options.sigma_value = bilateral_range_share * (at(0.995) - at(0.005));
  return options;
}

Sinogram corrected(Sinogram s, const RingOptions& options) {
  remove_rings(s.planes(), options, pool());
  return s;
}

constexpr std::array all_methods{RingMethod::trend, RingMethod::wavelet_fourier, RingMethod::sorting,
                                 RingMethod::combined};

TEST(RingFaults, ACleanScanChangesByLessThanOnePercent) {
  const std::vector<float> zeros(clean_scan().values.size(), 0.0F);
  for (const RingMethod method : all_methods) {
    const Sinogram after = corrected(clean_scan(), recommended(method));
    const double change = rms_of(after.values, clean_scan().values) / rms_of(clean_scan().values, zeros);
    std::printf("%-16s changes the clean scan by %.2f %%\n", name_of(method).c_str(), 100 * change);
    EXPECT_LT(change, 0.01) << name_of(method);
  }
}

// The bars: 20 dB less ring energy by the methods that are meant for the fault, and auto within 1 dB of the best.
void check_fault(Fault fault, const char* name, const std::vector<RingMethod>& meant) {
  Sinogram before = with_fault(fault);
  const double error_before = rms_of(before.values, clean_scan().values);
  const RingChoice choice = choose_ring_method(before.planes(), recommended(RingMethod::trend), pool());
  double best = 0, chosen = 0;
  for (const RingTrial& t : choice.trials) {
    const RingMethod method = t.options.method;
    const double error = rms_of(corrected(before, recommended(method)).values, clean_scan().values) / error_before;
    const bool is_meant = std::find(meant.begin(), meant.end(), method) != meant.end();
    std::printf("%-30s %-16s ring energy %6.1f dB, error after / before %.3f, disturbed %.2f %%%s\n", name,
                name_of(method).c_str(), t.left_db, error, 100 * t.disturbed, is_meant ? "" : "  (not meant for it)");
    if (is_meant) {
      EXPECT_LE(t.left_db, -20) << name_of(method);
      EXPECT_LT(error, 0.7) << name_of(method);
    }
    if (t.disturbed < most_disturbed) best = std::min(best, t.left_db);
    if (method == choice.options.method) chosen = t.left_db;
  }
  std::printf("%-30s auto: %s, %.1f dB, best %.1f dB\n", name, name_of(choice.options.method).c_str(), chosen, best);
  EXPECT_LE(chosen, best + 1);
  EXPECT_LE(chosen, -20);
}

using enum RingMethod;
TEST(RingFaults, GainErrorsOfAllColumns) {
  check_fault(Fault::gains, "gain 5 % in all columns", {trend, wavelet_fourier});
}
TEST(RingFaults, SparseStripes) {
  check_fault(Fault::sparse, "sparse, 1 to 3 wide", {trend, wavelet_fourier, sorting, combined});
}
TEST(RingFaults, LargeStripes) { check_fault(Fault::large, "large, 8 to 14 wide", {combined}); }
TEST(RingFaults, DeadAndFluctuatingColumnsAmongOthers) {
  check_fault(Fault::broken, "all kinds, dead, fluctuating", {combined});
}

// Filtered backprojection, parallel beam: n x n pixels of 1/mm about the axis, `step` mm apart.
Slice slice_of(Sinogram s, std::int64_t n, double step) {
  const double pitch = field_mm / columns;
  RampOptions options;
  options.cutoff = std::min(1.0, pitch / step);  // no finer than the pixels
  RampFilter ramp(columns, options);
  Slice slice;
  slice.width = slice.height = n;
  slice.pixel_width_mm = slice.pixel_height_mm = step;
  std::vector<float> image(static_cast<std::size_t>(n * n), 0.0F);
  Buffer<float> scratch(ramp.scratch_floats());
  for (std::int64_t y = 0; y < views; ++y) ramp.apply(s.planes().row(0, y), scratch.data());
  const double middle = 0.5 * static_cast<double>(n - 1);
  pool().parallel_for(0, n, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t y = 0; y < views; ++y) {
      const float* row = s.planes().row(0, y);
      const double a = 2 * pi * static_cast<double>(y) / static_cast<double>(views);
      const double across = std::cos(a) * step / pitch, down = std::sin(a) * step / pitch;
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          const double u = (static_cast<double>(i) - middle) * across + (static_cast<double>(j) - middle) * down +
                           0.5 * (columns - 1);
          const auto c = static_cast<std::int64_t>(std::floor(u));
          if (c < 0 || c + 1 >= columns) continue;
          const auto f = static_cast<float>(u - static_cast<double>(c));
          image[static_cast<std::size_t>(j * n + i)] += (1 - f) * row[c] + f * row[c + 1];
        }
    }
  });
  for (float& value : image) value *= static_cast<float>(pi / static_cast<double>(views) / pitch);
  slice.values = image;
  return slice;
}

double rings_in(Slice& slice) {
  return slice_ring_energy({slice.values.data(), slice.width, slice.height, slice.width, 1, 0},
                           0.5 * static_cast<double>(slice.width - 1), 0.5 * static_cast<double>(slice.height - 1));
}

TEST(RingFaults, TheSliceLosesItsRingsToo) {
  const char* folder = std::getenv("LEPUS_PICTURES");
  Sinogram before = with_fault(Fault::gains);
  // The middle of the slice in pixels of the detector's pitch, where rings of one column show.
  const auto middle = [](const Sinogram& s) { return slice_of(s, 256, field_mm / columns); };
  Slice rings = middle(before), mended = middle(corrected(before, recommended(trend))), clean = middle(clean_scan());
  const double left = decibels(rings_in(mended), rings_in(rings));
  std::printf("slice, gain 5 %% in all columns, trend: ring energy %.1f dB (clean %.1f dB)\n", left,
              decibels(rings_in(clean), rings_in(rings)));
  EXPECT_LE(left, -20);
  if (!folder) return;
  constexpr std::int64_t n = 256;
  const auto whole = [&](const Sinogram& s) { return slice_of(s, n, field_mm / n); };
  const auto pair = [&](const Slice& left_slice, const Slice& right_slice, const std::string& name) {
    const GreyWindow window{-0.01, 0.09};
    Picture both(2 * n + 8, n, {255, 255, 255});
    both.paste(draw_slice(left_slice, window, ColourMap::grey, field_mm / n), 0, 0);
    both.paste(draw_slice(right_slice, window, ColourMap::grey, field_mm / n), n + 8, 0);
    save_png(both, std::filesystem::path(folder) / name, true);
  };
  pair(whole(before), whole(corrected(before, recommended(trend))), "rings-trend.png");
  before = with_fault(Fault::sparse);
  pair(whole(before), whole(corrected(before, recommended(sorting))), "rings-sorting.png");
  pair(whole(before), whole(corrected(before, recommended(wavelet_fourier))), "rings-wavelet-fourier.png");
  before = with_fault(Fault::broken);
  pair(whole(before), whole(corrected(before, recommended(combined))), "rings-combined.png");
}

}  // namespace
}  // namespace lepus
