// SPDX-License-Identifier: Apache-2.0
// Band kernels of the backend opencl against the references of the corrections.
#include <cmath>
#include <numeric>

#include "correct/pixels/hot_reference.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/rings/ring_cases_test.h"
#include "device/opencl/band_kernels.h"
#include "opencl_fixture.h"

namespace lepus::opencl {
namespace {

class OpenclBandKernels : public OpenclTest {
protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (!IsSkipped() && !kernels().has(BandOperation::hot_pixels)) GTEST_SKIP() << "the device has no double precision";
  }

  BandKernels& kernels() { return device->band_kernels(); }

  // `values` between sentinels on the device; `act` is given the address of the first.
  template <class Act>
  void on_device(std::vector<float>& values, const Act& act) {
    constexpr std::size_t around = 64;
    std::vector<float> guarded(values.size() + 2 * around, -1234.5f);
    std::copy(values.begin(), values.end(), guarded.begin() + around);
    const auto bytes = static_cast<std::int64_t>(guarded.size() * sizeof(float));
    const Block memory = device->allocate(bytes);
    device->copy(memory.get(), guarded.data(), bytes, *queue);
    act(reinterpret_cast<float*>(memory.get()) + around);
    device->copy(guarded.data(), memory.get(), bytes, *queue);
    for (std::size_t i = 0; i < around; ++i)
      EXPECT_TRUE(guarded[i] == -1234.5f && guarded[guarded.size() - 1 - i] == -1234.5f) << "written beside the band";
    std::copy(guarded.begin() + around, guarded.end() - around, values.begin());
  }

  template <class T>
  Block uploaded(const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    Block block = device->allocate(bytes);
    device->copy(block.get(), values.data(), bytes, *queue);
    return block;
  }
};

// The same columns are found, and replaced by the same values but for the rounding of a quotient.
TEST_F(OpenclBandKernels, replace_the_hot_pixels_of_the_reference) {
  std::int64_t replaced = 0;
  for (const HotPixelOptions& one : pixels::hot_option_cases())
    for (const std::int64_t columns : {41, 129, 401})
      for (const std::int64_t views : {33, 100}) {
        const HotPixelOptions options = pixels::hot_options(one);
        const pixels::HotRules rules = pixels::hot_rules(options, views);
        if (columns < (rules.classic ? 7 : 4 * rules.reach())) continue;
        pixels::TestBand got = pixels::noisy_band(columns, views, 5), expected = got;
        std::vector<std::int64_t> found, counts(5);
        for (std::int64_t row = 0; row < 5; ++row) {
          const auto hot = pixels::reference_hot_pixels(rules, 3, expected.band().sinograms({0, 5}), row);
          found.push_back(std::accumulate(hot.begin(), hot.end(), std::int64_t{0}));
          replaced += found.back();
        }
        on_device(got.values, [&](float* data) {
          kernels().hot_pixels(rules, 3, {data, columns, views, columns, 5, views * columns}, counts.data(), *queue);
        });
        EXPECT_EQ(counts, found) << columns << " x " << views << ", window " << rules.weights.window;
        for (std::size_t i = 0; i < got.values.size(); ++i)
          ASSERT_TRUE(std::abs(got.values[i] - expected.values[i]) <= 2e-7f * std::abs(expected.values[i]))
              << columns << " x " << views << ", window " << rules.weights.window << ", value " << i;
      }
  EXPECT_GT(replaced, 100);
}

TEST_F(OpenclBandKernels, take_out_the_stripes_of_the_reference) {
  int tried = 0;
  double worst = 0;
  for (const ring_cases::Case& c : ring_cases::cases()) {
    const bool trend = c.options.method == RingMethod::trend && c.options.filter == FilterKind::bilateral;
    if (!trend && c.options.method != RingMethod::sorting) continue;
    const ring_cases::Stack before(c);
    ring_cases::Stack expected(before), got(before);
    reference::remove_rings(expected.planes, c.options);
    on_device(got.memory, [&](float* data) {
      kernels().remove_rings({data, c.width, c.height, got.planes.row_stride, c.count, got.planes.plane_stride},
                             c.options, *queue);
    });
    const double d = ring_cases::difference(got.planes, expected.planes);
    EXPECT_TRUE(d <= ring_cases::tolerance) << c.name << " " << c.width << " x " << c.height << ": " << d;
    EXPECT_TRUE(got.gaps_untouched()) << c.name;
    worst = std::max(worst, d);
    ++tried;
  }
  EXPECT_GT(tried, 20);
  std::printf("worst of all cases: %.2e\n", worst);
}

// More views than local memory sorts at once are left to the host.
TEST_F(OpenclBandKernels, say_where_a_column_does_not_fit) {
  const RingOptions sorting = ring_cases::options_for(RingMethod::sorting, 130);
  EXPECT_TRUE(kernels().has_rings(sorting, 35));
  EXPECT_FALSE(kernels().has_rings(sorting, context().device().local_bytes));
}

// The limit sees an error: stripes that were left in fail it.
TEST_F(OpenclBandKernels, fail_the_limit_where_stripes_stay) {
  const ring_cases::Case c{"", ring_cases::options_for(RingMethod::sorting, 130), 130, 35, 1};
  const ring_cases::Stack before(c);
  ring_cases::Stack expected(before);
  reference::remove_rings(expected.planes, c.options);
  EXPECT_FALSE(ring_cases::difference(before.planes, expected.planes) <= ring_cases::tolerance);
}

TEST_F(OpenclBandKernels, bring_bands_to_their_stage) {
  constexpr std::int64_t columns = 70, views = 5, detector_rows = 6;
  const RowBand rows{2, 5};
  std::vector<float> dark, log_i0;
  for (std::int64_t i = 0; i < columns * detector_rows; ++i) {
    dark.push_back(static_cast<float>(100 + i % 7));
    log_i0.push_back(static_cast<float>(std::log(50000.0 + static_cast<double>(i))));
  }
  std::vector<std::uint16_t> recorded;  // [view][row][column]
  for (std::int64_t i = 0; i < views * rows.size() * columns; ++i)
    recorded.push_back(static_cast<std::uint16_t>(90 + 37 * i % 50000));
  const Block d = uploaded(dark), l = uploaded(log_i0), r = uploaded(recorded);
  BandStaging staging;
  staging.dark = reinterpret_cast<const float*>(d.get());
  staging.log_i0 = reinterpret_cast<const float*>(l.get());
  const auto expected = [&](BandStage stage, std::int64_t row, std::int64_t view, std::int64_t x) {
    const auto pixel = static_cast<std::size_t>((rows.first + row) * columns + x);
    const auto value =
        static_cast<double>(recorded[static_cast<std::size_t>((view * rows.size() + row) * columns + x)]);
    const double counts = std::max(value - static_cast<double>(dark[pixel]), 1.0);
    const auto open = static_cast<double>(log_i0[pixel]);
    return stage == BandStage::counts_to_grey ? counts * std::exp(-open) : open - std::log(counts);
  };
  for (const BandStage stage : {BandStage::counts_to_grey, BandStage::counts_to_line}) {
    staging.to = stage;
    std::vector<float> band(recorded.size());
    on_device(band, [&](float* data) {  // all views at once, or some and then the others
      const SinogramBand there{data, columns, views, rows, detector_rows};
      for (const auto& [first, count] : stage == BandStage::counts_to_grey
                                            ? std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}}
                                            : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 2}, {0, 3}}) {
        staging.first_view = first, staging.views = count;
        const auto* from = reinterpret_cast<const std::uint16_t*>(r.get()) + first * rows.size() * columns;
        kernels().to_stage(PixelType::u16, from, there, staging, *queue);
      }
    });
    std::vector<float> logged = band;
    on_device(logged, [&](float* data) {
      kernels().logarithm({data, columns, views, rows, detector_rows}, staging, 0, *queue);
    });
    for (std::int64_t row = 0, i = 0; row < rows.size(); ++row)
      for (std::int64_t view = 0; view < views; ++view)
        for (std::int64_t x = 0; x < columns; ++x, ++i) {
          const auto at = static_cast<std::size_t>(i);
          // A logarithm of about 11 rounds to 5e-7; grey levels err by that share of themselves.
          const double want = expected(stage, row, view, x);
          ASSERT_NEAR(static_cast<double>(band[at]), want, stage == BandStage::counts_to_line ? 2e-6 : 2e-6 * want);
          if (stage == BandStage::counts_to_grey) {
            ASSERT_NEAR(static_cast<double>(logged[at]), expected(BandStage::counts_to_line, row, view, x), 3e-6);
          }
        }
  }
}

}  // namespace
}  // namespace lepus::opencl
