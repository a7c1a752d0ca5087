// SPDX-License-Identifier: Apache-2.0
// The row filter of the backend opencl against double precision all the way: logarithm, bridged pixels, weights, and
// the ramp filter as a plain convolution.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/memory.h"
#include "device/opencl/row_filter.h"
#include "filter/ramp.h"
#include "filter/test_scans.h"
#include "filter/weights.h"
#include "opencl_fixture.h"
#include <lepus/error.h>

namespace lepus::opencl {
namespace {

using test_scans::angles;

// A logarithm of about 11 rounds to 5e-7 and frames spread by 0.8; the transforms add 3e-7 of the row's rms; weights
// are good to 2e-7. Together 8e-7 of the filtered rms, which is less than a third of the largest value. The worst of
// some thousand values lies within five standard deviations.
constexpr double rms_tolerance = 3.3e-7, worst_tolerance = 2e-6;

struct CaseOptions {
  RampOptions ramp;
  PixelType type = PixelType::u16;
  bool flats = true, dead = false, counts = true;
  double saturation = std::numeric_limits<double>::infinity();
  std::int64_t points_at_once = 0;
  std::int64_t rows_at_once = 1 << 20;
};

CircularScan small_cone(std::vector<double> angles_rad, std::int64_t columns = 50, std::int64_t rows = 7) {
  CircularScan s;
  s.source_axis_mm = 200;
  s.source_detector_mm = 300;
  s.columns = columns;
  s.rows = rows;
  s.pixel_width_mm = s.pixel_height_mm = 180.0 / static_cast<double>(columns);
  s.angles_rad = std::move(angles_rad);
  return s;
}

double noise(std::int64_t place) {
  std::uint64_t p = static_cast<std::uint64_t>(place + 1) * 0x9e3779b97f4a7c15ULL;
  p = (p ^ (p >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<double>((p ^ (p >> 27)) >> 11) * 0x1p-53;
}

struct Filtered {
  std::vector<float> rows;  // [view][row][wide]
  std::vector<BadPixels> bad;
};

class OpenclRowFilter : public OpenclTest {
protected:
  struct Scan {
    ScanGeometry geometry;
    FdkWeights weights;
    CaseOptions options;
    std::vector<float> dark, log_i0;
    std::vector<std::int64_t> dead;
    std::int64_t wide() const { return geometry.columns + weights.padding().left + weights.padding().right; }
  };

  static Scan scan_of(const CircularScan& circular, const CaseOptions& options) {
    const ScanGeometry geometry = build_scan(circular);
    Scan s{geometry, FdkWeights(geometry), options, {}, {}, {}};
    const std::int64_t c = geometry.columns, pixels = c * geometry.rows;
    for (std::int64_t i = 0; i < pixels; ++i) {
      s.dark.push_back(static_cast<float>(100 + 50 * noise(i)));
      s.log_i0.push_back(static_cast<float>(std::log(58000 + 4000 * noise(i + pixels))));
    }
    if (options.dead)  // single ones, runs, both edges of rows
      for (const std::int64_t pixel :
           {std::int64_t{0}, c - 1, c, 2 * c + 5, 2 * c + 6, 2 * c + 7, 3 * c + 9, 4 * c - 1})
        s.dead.push_back(pixel);
    return s;
  }

  template <class Pixel = std::uint16_t>
  static std::vector<Pixel> frames_of(const Scan& s, double scale = 1) {
    std::vector<Pixel> frames;
    const std::int64_t all = s.geometry.views() * s.geometry.rows * s.geometry.columns;
    for (std::int64_t i = 0; i < all; ++i)
      frames.push_back(static_cast<Pixel>((2000 + std::floor(52000 * noise(7 * i))) * scale));
    return frames;
  }

  template <class Pixel>
  Filtered filtered(const Scan& s, const std::vector<Pixel>& pixels) {
    const std::int64_t columns = s.geometry.columns, rows = s.geometry.rows, views = s.geometry.views(),
                       wide = s.wide();
    RowNormalisation normalisation;
    normalisation.dark = s.options.flats ? s.dark.data() : nullptr;
    normalisation.log_i0 = s.options.flats ? s.log_i0.data() : nullptr;
    normalisation.log_i0_everywhere = static_cast<float>(std::log(60000.0));
    normalisation.dead = s.dead;
    const RampTransfer transfer =
        ramp_transfer(wide, s.options.ramp, RowFilter::transform_length(shortest_ramp_transform(wide, s.options.ramp)));
    RowFilterSetup setup;
    setup.columns = columns, setup.rows = rows;
    setup.columns_before = s.weights.padding().left, setup.wide = wide;
    setup.type = s.options.type;
    setup.normalisation = s.options.counts ? &normalisation : nullptr;
    setup.shape = s.weights.rays().shape;
    setup.views = s.weights.rays().views, setup.partners = s.weights.rays().partners;
    setup.response = transfer.response, setup.edge = transfer.edge;
    setup.saturation_level = s.options.saturation;
    RowFilter filter(*device, context(), setup, *queue, s.options.points_at_once);
    EXPECT_EQ(filter.in_local_memory(), s.options.points_at_once == 0 || s.options.points_at_once >= transfer.length);

    const auto raw_bytes = static_cast<std::int64_t>(pixels.size() * sizeof(Pixel));
    const Block raw = device->allocate(raw_bytes);
    device->copy(raw.get(), pixels.data(), raw_bytes, *queue);
    // The rows lie between sentinels; before, they are not numbers.
    constexpr std::int64_t around = 64;
    Filtered result;
    result.rows.assign(static_cast<std::size_t>(views * rows * wide + 2 * around), std::nanf(""));
    const auto out_bytes = static_cast<std::int64_t>(result.rows.size() * sizeof(float));
    const std::vector<float> before = result.rows;
    const Block out = device->allocate(out_bytes);
    device->copy(out.get(), result.rows.data(), out_bytes, *queue);
    for (std::int64_t row = 0; row < rows; row += s.options.rows_at_once) {
      RowBatch batch;
      batch.views = views;
      batch.row0 = row, batch.row1 = std::min(rows, row + s.options.rows_at_once);
      batch.pixels = reinterpret_cast<Pixel*>(raw.get()) + row * columns;
      batch.view_pixels = rows * columns;
      batch.out = reinterpret_cast<float*>(out.get()) + around + row * wide;
      batch.out_row = wide, batch.out_view = rows * wide;
      batch.counted_row0 = batch.row0, batch.counted_row1 = batch.row1;
      filter.filter(batch, *queue);
    }
    result.bad.resize(static_cast<std::size_t>(views));
    filter.bad_pixels(0, result.bad, *queue);
    device->copy(result.rows.data(), out.get(), out_bytes, *queue);
    const std::size_t last = result.rows.size() - around;
    EXPECT_EQ(std::memcmp(result.rows.data(), before.data(), around * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(result.rows.data() + last, before.data() + last, around * sizeof(float)), 0);
    result.rows.erase(result.rows.begin() + static_cast<std::ptrdiff_t>(last), result.rows.end());
    result.rows.erase(result.rows.begin(), result.rows.begin() + around);
    return result;
  }

  // One row in double precision.
  template <class Pixel>
  static std::vector<double> expected_row(const Scan& s, const std::vector<Pixel>& pixels, std::int64_t view,
                                          std::int64_t row) {
    const std::int64_t columns = s.geometry.columns, rows = s.geometry.rows;
    std::vector<double> line(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto at = static_cast<std::size_t>(row * columns + i);
      const auto value = static_cast<double>(pixels[static_cast<std::size_t>((view * rows + row) * columns + i)]);
      const double dark = s.options.flats ? static_cast<double>(s.dark[at]) : 0.0;
      const double open = s.options.flats ? static_cast<double>(s.log_i0[at])
                                          : static_cast<double>(static_cast<float>(std::log(60000.0)));
      line[static_cast<std::size_t>(i)] = s.options.counts ? open - std::log(std::max(value - dark, 1.0)) : value;
    }
    const auto is_dead = [&](std::int64_t i) {
      return std::binary_search(s.dead.begin(), s.dead.end(), row * columns + i);
    };
    const std::vector<double> measured = line;
    for (std::int64_t i = 0; i < columns; ++i) {
      if (!is_dead(i)) continue;
      std::int64_t left = i, right = i;
      while (left >= 0 && is_dead(left)) --left;
      while (right < columns && is_dead(right)) ++right;
      const double a = measured[static_cast<std::size_t>(left >= 0 ? left : right)];
      const double b = measured[static_cast<std::size_t>(right < columns ? right : left)];
      line[static_cast<std::size_t>(i)] =
          a + (b - a) * static_cast<double>(i - left) / static_cast<double>(right - left);
    }
    std::vector<double> wide_row(static_cast<std::size_t>(s.wide()));
    for (std::int64_t i = 0; i < columns; ++i)
      wide_row[static_cast<std::size_t>(i + s.weights.padding().left)] =
          line[static_cast<std::size_t>(i)] * s.weights.at(view, static_cast<double>(i), static_cast<double>(row));
    return ramp_filter_reference(wide_row, s.options.ramp);
  }

  template <class Pixel>
  static void expect_right(const Scan& s, const std::vector<Pixel>& pixels, const Filtered& got) {
    double largest = 0, sum = 0, worst = 0;
    std::size_t at = 0;
    for (std::int64_t view = 0; view < s.geometry.views(); ++view)
      for (std::int64_t row = 0; row < s.geometry.rows; ++row)
        for (const double expected : expected_row(s, pixels, view, row)) {
          const double d = std::abs(static_cast<double>(got.rows[at++]) - expected);
          largest = std::max(largest, std::abs(expected));
          sum += d * d;
          if (!(d <= worst)) worst = d;
        }
    const double rms = std::sqrt(sum / static_cast<double>(at)) / largest;
    EXPECT_GT(largest, 0);
    EXPECT_TRUE(rms <= rms_tolerance) << rms;
    EXPECT_TRUE(worst / largest <= worst_tolerance) << worst / largest;
    std::printf("  of the largest value: rms %.2g, worst %.2g\n", rms, worst / largest);
  }

  void check(const CircularScan& circular, const CaseOptions& options) {
    const Scan s = scan_of(circular, options);
    const auto frames = frames_of(s);
    expect_right(s, frames, filtered(s, frames));
  }
};

CircularScan tilted(CircularScan s) {
  s.in_plane_rad = 0.03, s.pitch_rad = 0.05, s.yaw_rad = -0.04;
  return s;
}

TEST_F(OpenclRowFilter, agrees_with_double_precision_on_every_kind_of_scan) {
  check(small_cone(angles(8, 360)), {});
  check(test_scans::with(small_cone(angles(20, 360)), 70, 0), {});
  check(test_scans::with(small_cone(angles(20, 360)), -70, 0), {});
  check(tilted(small_cone(angles(8, 360))), {});
  check(test_scans::fan(angles(20, 180), Beam::parallel), {});
  check(test_scans::with(test_scans::fan(angles(20, 360), Beam::parallel), 20, 0), {});
}

TEST_F(OpenclRowFilter, agrees_with_double_precision_on_arcs_with_ends) {
  check(small_cone(angles(20, 230)), {});
  check(tilted(small_cone(angles(20, 230))), {});
  check(test_scans::without_views(small_cone(angles(40, 360)), 10, 16), {});
  check(test_scans::fan(angles(20, 230)), {});
}

TEST_F(OpenclRowFilter, takes_the_outer_steps_of_long_rows_in_global_memory) {
  for (const std::int64_t points : {16, 32, 64}) {
    CaseOptions options;
    options.points_at_once = points;
    options.dead = true;
    check(small_cone(angles(4, 360)), options);
  }
  check(small_cone(angles(2, 360), 90, 3), {});  // a transform of three times a power of two
  CaseOptions options;
  options.points_at_once = 24;
  check(small_cone(angles(2, 360), 90, 3), options);
}

TEST_F(OpenclRowFilter, normalises_as_it_is_told) {
  CaseOptions one_i0, dead;
  one_i0.flats = false;
  dead.dead = true;
  check(small_cone(angles(4, 360)), one_i0);
  check(small_cone(angles(4, 360)), dead);
  one_i0.dead = true;
  check(small_cone(angles(4, 360)), one_i0);
}

TEST_F(OpenclRowFilter, filters_with_windows) {
  CaseOptions options;
  options.ramp.window = Window::hann;
  options.ramp.cutoff = 0.8;
  check(small_cone(angles(4, 360)), options);
}

// Continued rows: the CPU's filter is the reference, its convolution knows no continuation.
TEST_F(OpenclRowFilter, continues_rows_as_the_host_does) {
  CaseOptions options;
  options.ramp.extrapolate = 0.6;
  const Scan s = scan_of(small_cone(angles(4, 360)), options);
  const auto frames = frames_of(s);
  const Filtered got = filtered(s, frames);
  const RampFilter ramp(s.wide(), options.ramp);
  Buffer<float> scratch(ramp.scratch_floats());
  double largest = 0, worst = 0;
  for (std::int64_t view = 0, at = 0; view < s.geometry.views(); ++view)
    for (std::int64_t row = 0; row < s.geometry.rows; ++row) {
      std::vector<float> line(static_cast<std::size_t>(s.wide()));
      for (std::int64_t i = 0; i < s.geometry.columns; ++i) {
        const auto pixel = static_cast<std::size_t>(row * s.geometry.columns + i);
        const auto value =
            static_cast<double>(frames[static_cast<std::size_t>(view * s.geometry.rows * s.geometry.columns) + pixel]);
        line[static_cast<std::size_t>(i)] = static_cast<float>(
            (static_cast<double>(s.log_i0[pixel]) - std::log(value - static_cast<double>(s.dark[pixel]))) *
            s.weights.at(view, static_cast<double>(i), static_cast<double>(row)));
      }
      ramp.apply(line.data(), scratch.data());
      for (const float expected : line) {
        largest = std::max(largest, std::abs(static_cast<double>(expected)));
        const double d =
            std::abs(static_cast<double>(got.rows[static_cast<std::size_t>(at++)]) - static_cast<double>(expected));
        if (!(d <= worst)) worst = d;
      }
    }
  EXPECT_TRUE(worst / largest <= worst_tolerance) << worst / largest;
}

TEST_F(OpenclRowFilter, reads_every_type_of_pixel) {
  const auto check_type = [&]<class Pixel>(Pixel, PixelType type, double scale, bool counts) {
    CaseOptions options;
    options.type = type;
    options.counts = counts;
    const Scan s = scan_of(small_cone(angles(2, 360)), options);
    const auto frames = frames_of<Pixel>(s, scale);
    expect_right(s, frames, filtered(s, frames));
  };
  check_type(std::uint8_t{}, PixelType::u8, 1 / 256.0, false);
  check_type(std::int8_t{}, PixelType::i8, 1 / 512.0, false);
  check_type(std::int16_t{}, PixelType::i16, 0.5, true);
  check_type(std::uint32_t{}, PixelType::u32, 1, true);
  check_type(std::int32_t{}, PixelType::i32, 1, true);
  check_type(float{}, PixelType::f32, 1, true);
  if (context().device().doubles) check_type(double{}, PixelType::f64, 1, true);
}

TEST_F(OpenclRowFilter, gives_the_same_bits_for_every_cut_between_pairs) {
  CaseOptions options;
  const Scan whole = scan_of(small_cone(angles(20, 230)), options);
  const auto frames = frames_of(whole);
  const Filtered at_once = filtered(whole, frames);
  for (const std::int64_t rows : {2, 4}) {
    options.rows_at_once = rows;
    EXPECT_EQ(filtered(scan_of(small_cone(angles(20, 230)), options), frames).rows, at_once.rows) << rows;
  }
  options.rows_at_once = 3;
  EXPECT_THROW(filtered(scan_of(small_cone(angles(20, 230)), options), frames), Error);
}

TEST_F(OpenclRowFilter, counts_saturated_pixels_and_replaces_what_is_not_finite) {
  CaseOptions options;
  options.type = PixelType::f32;
  options.saturation = 40000;
  const Scan s = scan_of(small_cone(angles(2, 360)), options);
  auto frames = frames_of<float>(s);
  const auto columns = static_cast<std::size_t>(s.geometry.columns);
  const std::int64_t frame = s.geometry.columns * s.geometry.rows;
  for (const std::size_t at : {std::size_t{20}, columns, columns + 30, columns + 31, 3 * columns - 1})
    frames[at] = std::nanf("");
  // A row's first good pixel stands in for what lies before it; between good ones the mean of the last value and the
  // next.
  auto repaired = frames;
  for (std::size_t i = 0; i < repaired.size(); ++i) {
    if (std::isfinite(repaired[i])) continue;
    std::size_t right = i + 1;
    const std::size_t end = (i / columns + 1) * columns;
    while (right < end && !std::isfinite(repaired[right])) ++right;
    const bool before = i % columns > 0;
    repaired[i] = before && right < end ? 0.5f * (repaired[i - 1] + repaired[right])
                  : before              ? repaired[i - 1]
                                        : repaired[right];
  }
  const Filtered got = filtered(s, frames);
  EXPECT_EQ(got.bad[0].not_finite, 5U);
  EXPECT_EQ(got.bad[1].not_finite, 0U);
  for (std::int64_t view = 0; view < 2; ++view) {
    const auto begin = repaired.begin() + view * frame;
    EXPECT_EQ(got.bad[static_cast<std::size_t>(view)].saturated,
              std::count_if(begin, begin + frame, [](float v) { return v >= 40000; }));
  }
  expect_right(s, repaired, got);
}

// The limits see an error: rows that are one column off fail by far.
TEST_F(OpenclRowFilter, fails_the_limits_where_pixels_are_off) {
  const Scan s = scan_of(small_cone(angles(2, 360)), {});
  auto frames = frames_of(s);
  const Filtered got = filtered(s, frames);
  std::rotate(frames.begin(), frames.begin() + 1, frames.end());
  double largest = 0, worst = 0;
  const auto row = expected_row(s, frames, 0, 3);
  for (std::size_t i = 0; i < row.size(); ++i) {
    largest = std::max(largest, std::abs(row[i]));
    worst = std::max(worst, std::abs(row[i] - static_cast<double>(got.rows[3 * row.size() + i])));
  }
  EXPECT_FALSE(worst / largest <= 1000 * worst_tolerance);
}

}  // namespace
}  // namespace lepus::opencl
