// SPDX-License-Identifier: Apache-2.0
// Every method of ring removal on the kind of stripes it is for: a simulated scan, a fault of which the truth is known,
// ring energy before and after, and what happens to the clean scan. Prints the figures of docs/corrections/rings.md
// and, where LEPUS_PICTURES names a folder, writes its pictures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "analysis/picture.h"
#include "correct/rings/choose_method.h"
#include "correct/rings/ring_energy.h"
#include "device/host/band_kernels/rings.h"
#include "parallel_scan.h"
#include "parallel_slice.h"
#include <lepus/math.h>

namespace lepus {
namespace {

constexpr std::int64_t views = 240;
constexpr double field_mm = 100;

ThreadPool& pool() {
  static ThreadPool threads;
  return threads;
}

const Sinogram& clean_scan(std::int64_t columns) {
  static std::map<std::int64_t, Sinogram> scans;
  const auto found = scans.find(columns);
  if (found != scans.end()) return found->second;
  Sinogram made = parallel_scan(porous_body(), {.columns = columns, .views = views, .field_mm = field_mm}, pool());
  return scans.emplace(columns, std::move(made)).first->second;
}

enum class Fault { gains, sparse, large, broken };

// Positions and the widths of large stripes are those of 1024 columns; in shorter rows, the same share of the row.
Sinogram with_fault(Fault fault, std::int64_t columns) {
  Sinogram s = clean_scan(columns);
  const auto place = [&](std::int64_t x) { return x * columns / 1024; };
  std::vector<float> stripe(static_cast<std::size_t>(columns), 0.0F);
  Random random(11, 3, static_cast<std::uint32_t>(fault), 0);
  if (fault == Fault::gains)  // every column 5 % off
    for (float& value : stripe) value = static_cast<float>(0.05 * random.normal());
  if (fault == Fault::sparse || fault == Fault::broken)  // one column in 20, up to 3 wide
    for (std::int64_t i = 0; i < columns * 50 / 1024; ++i) {
      const auto first = static_cast<std::size_t>(10 + random.uniform() * static_cast<double>(columns - 20));
      for (std::size_t k = 0; k < 1 + first % 3; ++k) stripe[first + k] = static_cast<float>(0.15 * random.normal());
    }
  if (fault == Fault::large || fault == Fault::broken)
    for (const std::int64_t first : {215, 420, 650, 800})
      for (std::int64_t k = 0; k < place(8 + first % 7); ++k)
        stripe[static_cast<std::size_t>(place(first) + k)] = first % 20 == 0 ? 0.15F : -0.15F;
  for (std::int64_t y = 0; y < views; ++y)
    for (std::int64_t x = 0; x < columns; ++x) s.at(x, y) += stripe[static_cast<std::size_t>(x)];
  if (fault == Fault::broken)
    for (std::int64_t y = 0; y < views; ++y) {
      for (const std::int64_t x : {place(300), place(300) + 1, place(300) + 2, place(540), place(711)})
        s.at(x, y) = 1.5F;                                                     // dead
      for (const std::int64_t x : {place(365), place(365) + 1, place(590)}) {  // fluctuating
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

RingOptions recommended(RingMethod method, std::int64_t columns) {
  RingOptions options =
      default_windows(columns);  // the scan file's defaults; the range of the line integrals as the correction takes it
  options.method = method;
  std::vector<float> sorted = clean_scan(columns).values;
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

class RingFaults : public testing::TestWithParam<std::int64_t> {};  // of so many columns
INSTANTIATE_TEST_SUITE_P(Columns, RingFaults, testing::Values(400, 1024));

TEST_P(RingFaults, ACleanScanChangesByLessThanOnePercent) {
  const std::vector<float>& clean = clean_scan(GetParam()).values;
  const std::vector<float> zeros(clean.size(), 0.0F);
  for (const RingMethod method : all_methods) {
    const Sinogram after = corrected(clean_scan(GetParam()), recommended(method, GetParam()));
    const double change = rms_of(after.values, clean) / rms_of(clean, zeros);
    std::printf("%lld columns: %-16s changes the clean scan by %.2f %%\n", static_cast<long long>(GetParam()),
                name_of(method).c_str(), 100 * change);
    EXPECT_LT(change, 0.01) << name_of(method);
    if (GetParam() >= 1024) continue;
    RingOptions wide = recommended(method, 1024);
    wide.sigma_value = recommended(method, GetParam()).sigma_value;
    std::printf("  with the windows of 1024 columns by %.2f %%\n",
                100 * rms_of(corrected(clean_scan(GetParam()), wide).values, clean) / rms_of(clean, zeros));
  }
}

// The bars: 20 dB less ring energy by the methods that are meant for the fault, and auto's error at most a fifth more
// than that of the best method.
void check_fault(Fault fault, std::int64_t columns, const char* name, const std::vector<RingMethod>& meant) {
  Sinogram before = with_fault(fault, columns);
  const std::vector<float>& clean = clean_scan(columns).values;
  const double error_before = rms_of(before.values, clean);
  RingOptions parameters = recommended(RingMethod::trend, columns);
  parameters.iterations = 0;
  const RingChoice choice =
      choose_ring_method({before.planes(), false, 0.5 * static_cast<double>(columns - 1)}, parameters, pool());
  const double over_15_before = ring_energy(before.planes(), pool(), 15).total();
  double best = 1, chosen = 1, chosen_db = 0;
  for (const RingTrial& t : choice.trials) {
    RingOptions options = recommended(t.options.method, columns);
    options.iterations = t.options.iterations;
    Sinogram after = corrected(before, options);
    const double error = rms_of(after.values, clean) / error_before;
    const double over_15 = decibels(ring_energy(after.planes(), pool(), 15).total(), over_15_before);
    const bool is_meant = std::find(meant.begin(), meant.end(), t.options.method) != meant.end();
    std::printf(
        "%lld: %-30s %-16s x%d ring energy %6.1f dB (radius 15: %6.1f dB), error after / before %.3f, disturbed %.2f "
        "%%%s\n",
        static_cast<long long>(columns), name, name_of(t.options.method).c_str(), options.iterations, t.verdict.left_db,
        over_15, error, 100 * t.verdict.disturbed, is_meant ? "" : "  (not meant for it)");
    if (is_meant && options.iterations == 1) {
      EXPECT_LE(t.verdict.left_db, -20) << name_of(t.options.method);
      EXPECT_LT(error, 0.7) << name_of(t.options.method);
    }
    best = std::min(best, error);
    if (choice.options && t.options.method == choice.options->method &&
        options.iterations == choice.options->iterations) {
      chosen = error;
      chosen_db = t.verdict.left_db;
    }
  }
  ASSERT_TRUE(choice.options.has_value()) << choice.why_none;
  std::printf("%lld: %-30s auto: %s x%d, %.1f dB, error %.3f, best %.3f\n", static_cast<long long>(columns), name,
              name_of(choice.options->method).c_str(), choice.options->iterations, chosen_db, chosen, best);
  EXPECT_LE(chosen, 1.2 * best);
  EXPECT_LE(chosen_db, -20);
}

using enum RingMethod;
TEST_P(RingFaults, GainErrorsOfAllColumns) {
  check_fault(Fault::gains, GetParam(), "gain 5 % in all columns", {trend, wavelet_fourier});
}
TEST_P(RingFaults, SparseStripes) {
  check_fault(Fault::sparse, GetParam(), "sparse, 1 to 3 wide", {trend, wavelet_fourier, sorting, combined});
}
TEST_P(RingFaults, LargeStripes) { check_fault(Fault::large, GetParam(), "large, 0.8 to 1.4 %", {combined}); }
TEST_P(RingFaults, DeadAndFluctuatingColumnsAmongOthers) {
  check_fault(Fault::broken, GetParam(), "all kinds, dead, fluctuating", {combined});
}

constexpr std::int64_t wide = 1024;

Slice slice_of(const Sinogram& s, std::int64_t n, double step) {
  return parallel_slice(s.values, wide, field_mm / wide, n, step, pool());
}

double rings_in(Slice& slice) {
  return slice_ring_energy({slice.values.data(), slice.width, slice.height, slice.width, 1, 0},
                           0.5 * static_cast<double>(slice.width - 1), 0.5 * static_cast<double>(slice.height - 1));
}

TEST(RingSlices, TheSliceLosesItsRingsToo) {
  const char* folder = std::getenv("LEPUS_PICTURES");
  Sinogram before = with_fault(Fault::gains, wide);
  // The middle of the slice in pixels of the detector's pitch, where rings of one column show.
  const auto middle = [](const Sinogram& s) { return slice_of(s, 256, field_mm / wide); };
  Slice rings = middle(before), mended = middle(corrected(before, recommended(trend, wide))),
        clean = middle(clean_scan(wide));
  const double left = decibels(rings_in(mended), rings_in(rings));
  std::printf("slice, gain 5 %% in all columns, trend: ring energy %.1f dB (clean %.1f dB)\n", left,
              decibels(rings_in(clean), rings_in(rings)));
  EXPECT_LE(left, -20);
  if (!folder) return;
  constexpr std::int64_t n = 256;
  const auto whole = [&](const Sinogram& s) { return slice_of(s, n, field_mm / n); };
  const auto pair = [&](const Slice& left_slice, const Slice& right_slice, const std::string& name) {
    save_png(side_by_side(left_slice, right_slice, {-0.01, 0.09}), std::filesystem::path(folder) / name, true);
  };
  pair(whole(before), whole(corrected(before, recommended(trend, wide))), "rings-trend.png");
  before = with_fault(Fault::sparse, wide);
  pair(whole(before), whole(corrected(before, recommended(sorting, wide))), "rings-sorting.png");
  pair(whole(before), whole(corrected(before, recommended(wavelet_fourier, wide))), "rings-wavelet-fourier.png");
  before = with_fault(Fault::broken, wide);
  pair(whole(before), whole(corrected(before, recommended(combined, wide))), "rings-combined.png");
}

}  // namespace
}  // namespace lepus
