// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "geometry/arc.h"
#include "geometry/camera.h"
#include "preprocess/arc_resample.h"
#include "preprocess/dead_pixels.h"
#include "preprocess/level_rows.h"
#include "preprocess/normalise.h"
#include "preprocess/row_audit.h"
#include <lepus/error.h>

namespace lepus {
namespace {

class ComputedFrames final : public FrameSource {
public:
  using Pixel = std::function<float(std::int64_t, std::int64_t, std::int64_t)>;  // frame, row, column
  ComputedFrames(std::int64_t columns, std::int64_t rows, std::int64_t frames, PixelType type, Pixel pixel)
      : columns_(columns), rows_(rows), frames_(frames), type_(type), pixel_(std::move(pixel)) {}
  std::int64_t columns() const override { return columns_; }
  std::int64_t rows() const override { return rows_; }
  std::int64_t frames() const override { return frames_; }
  PixelType pixel_type() const override { return type_; }
  std::string name(std::int64_t frame) const override { return "frame-" + std::to_string(frame); }
  void read_native(std::int64_t frame, std::int64_t row0, std::int64_t row1, void* out) const override {
    for (std::int64_t row = row0; row < row1; ++row)
      for (std::int64_t column = 0; column < columns_; ++column) {
        const float value = pixel_(frame, row, column);
        const std::int64_t i = (row - row0) * columns_ + column;
        if (type_ == PixelType::u16)
          static_cast<std::uint16_t*>(out)[i] = static_cast<std::uint16_t>(value);
        else
          static_cast<float*>(out)[i] = value;
      }
  }

private:
  std::int64_t columns_, rows_, frames_;
  PixelType type_;
  Pixel pixel_;
};

TEST(Normalisation, ScalesBringFlatsAndDarksToTheExposureOfTheFrames) {
  const ComputedFrames flats(4, 2, 2, PixelType::u16,
                             [](auto, auto r, auto c) { return 1000.0F + 10.0F * static_cast<float>(r + c); });
  const ComputedFrames darks(4, 2, 2, PixelType::u16, [](auto, auto, auto) { return 40.0F; });
  // Frames of half the exposure of the flats, darks of twice that of the flats.
  const Normalisation n = normalisation_from_flats(flats, &darks, PixelType::u16, {.frames = 2, .darks = 0.5});
  std::vector<float> rows{110, 260, 60, 510};
  const std::vector<float> counts = rows;
  n.apply(1, 2, rows.data());
  for (std::size_t c = 0; c < 4; ++c)
    EXPECT_NEAR(rows[c],
                std::log((1010.0 + 10.0 * static_cast<double>(c) - 20) / (2.0 * static_cast<double>(counts[c]) - 20)),
                1e-6);
}

TEST(Normalisation, NothingIsDarkerThanOneCount) {
  const ComputedFrames flats(3, 2, 1, PixelType::u16,
                             [](auto, auto, auto c) { return 100.0F * static_cast<float>(c + 1); });
  const Normalisation n = normalisation_from_flats(flats, nullptr, PixelType::u16);
  std::vector<float> lowest(3), zero(3, 0.0F);
  n.lowest_grey(1, lowest.data());
  n.apply(1, 2, zero.data());
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(lowest[c], 0.01 / static_cast<double>(c + 1), 1e-8);
    EXPECT_NEAR(zero[c], -std::log(lowest[c]), 1e-5) << "with and without grey levels";
  }
}

TEST(RowAudit, CountsWhatIsNotAboveTheDarkAndNamesTheWorstRowAndColumn) {
  const ComputedFrames darks(6, 4, 1, PixelType::u16, [](auto, auto, auto) { return 50.0F; });
  const ComputedFrames flats(6, 4, 1, PixelType::u16, [](auto, auto, auto) { return 1000.0F; });
  const ComputedFrames frames(6, 4, 5, PixelType::u16, [](auto f, auto r, auto c) {
    if (r == 2 && c == 4) return 50.0F;            // in every frame
    if (r == 2 && c == 1 && f == 3) return 10.0F;  // once
    if (r == 0 && c == 0) return 0.0F;             // in every frame, but it is bridged
    return 51.0F;
  });
  const Normalisation n = normalisation_from_flats(flats, &darks, PixelType::u16);
  RowAudit audit(frames, {.maximum_fraction = 1});
  audit.watch_dark(n, {0});
  std::vector<std::uint16_t> native(24);
  for (int times = 0; times < 2; ++times)  // a row that is read again counts once
    for (std::int64_t frame = 0; frame < 5; ++frame) {
      frames.read_native(frame, 0, 4, native.data());
      audit.record_native(frame, 0, 4, native.data());
    }
  const DarkPixels dark = audit.at_dark();
  EXPECT_EQ(dark.pixels, 6);
  EXPECT_EQ(dark.row, 2);
  EXPECT_EQ(dark.in_row, 6);
  EXPECT_EQ(dark.column, 4);
  EXPECT_EQ(dark.in_column, 5);
}

TEST(Normalisation, FlatsAndDarksGiveBeerLambert) {
  const ComputedFrames flats(5, 3, 4, PixelType::u16, [](auto f, auto r, auto c) {
    return 1000.0F + 10.0F * static_cast<float>(r + c) + static_cast<float>(f % 2);
  });
  const ComputedFrames darks(5, 3, 2, PixelType::u16, [](auto, auto, auto c) { return 20.0F + static_cast<float>(c); });
  const Normalisation n = normalisation_from_flats(flats, &darks, PixelType::u16);
  EXPECT_TRUE(n.unusable.empty());
  std::vector<float> rows(10);
  for (std::size_t i = 0; i < 10; ++i) rows[i] = 200.0F + static_cast<float>(i);
  const std::vector<float> counts = rows;
  n.apply(1, 3, rows.data());
  for (std::int64_t r = 1; r < 3; ++r)
    for (std::int64_t c = 0; c < 5; ++c) {
      const auto i = static_cast<std::size_t>((r - 1) * 5 + c);
      const double flat = 1000.5 + 10.0 * static_cast<double>(r + c), dark = 20.0 + static_cast<double>(c);
      // Two logarithms in single precision, each good to half a unit of its size (below 8).
      EXPECT_NEAR(rows[i], std::log((flat - dark) / (static_cast<double>(counts[i]) - dark)), 1e-6);
    }
}

TEST(Normalisation, CountsAreClippedAtOne) {
  const Normalisation n = normalisation_from_value(60000, nullptr, 4, 1, PixelType::u16);
  std::vector<float> row{0, 1, 60000, 65535};
  n.apply(0, 1, row.data());
  EXPECT_FLOAT_EQ(row[0], std::log(60000.0F));
  EXPECT_FLOAT_EQ(row[1], std::log(60000.0F));
  EXPECT_NEAR(row[2], 0, 1e-6);
  EXPECT_LT(row[3], 0);
}

TEST(Normalisation, ListsPixelsWhoseFlatIsNotAboveTheDark) {
  const ComputedFrames flats(4, 2, 1, PixelType::u16,
                             [](auto, auto r, auto c) { return r == 1 && c == 2 ? 0.0F : 500.0F; });
  const Normalisation n = normalisation_from_flats(flats, nullptr, PixelType::u16);
  EXPECT_EQ(n.unusable, std::vector<std::int64_t>{6});
  const ComputedFrames black(4, 2, 1, PixelType::u16, [](auto, auto, auto) { return 0.0F; });
  EXPECT_THROW(normalisation_from_flats(black, nullptr, PixelType::u16), Error);
  EXPECT_THROW(normalisation_from_value(0, nullptr, 4, 1, PixelType::u16), Error);
}

TEST(DeadPixels, AreBridgedAlongTheRow) {
  const ComputedFrames flats(6, 2, 1, PixelType::u16, [](auto, auto r, auto c) {
    return r == 1 && (c == 0 || c == 3 || c == 4) ? 0.0F : 500.0F;
  });
  const Normalisation n = normalisation_from_flats(flats, nullptr, PixelType::u16);
  std::vector<float> rows{1, 1, 1, 1, 1, 1, 99, 2, 3, 99, 99, 6};
  bridge_along_rows(dead_pixels(n, 0.05), 6, 0, 2, rows.data());
  EXPECT_EQ(rows, (std::vector<float>{1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6}));
}

TEST(RowAudit, ChecksumDoesNotDependOnTheOrderOfReading) {
  const ComputedFrames frames(7, 5, 3, PixelType::u16,
                              [](auto f, auto r, auto c) { return static_cast<float>(100 * f + 10 * r + c); });
  const auto read_all = [&](bool backwards, bool twice) {
    RowAudit audit(frames, {});
    std::vector<std::uint16_t> native(35);
    std::vector<float> values(35);
    for (int pass = 0; pass < (twice ? 2 : 1); ++pass)
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t frame = backwards ? 2 - i : i;
        for (const auto& [a, b] : {std::pair{0, 2}, std::pair{2, 5}}) {
          frames.read_native(frame, a, b, native.data());
          audit.record(frame, a, b, native.data(), values.data());
        }
      }
    return audit.checksum();
  };
  EXPECT_EQ(read_all(false, false), read_all(true, false));
  EXPECT_EQ(read_all(false, false), read_all(false, true));
  EXPECT_EQ(read_all(false, false), frames_checksum(frames));
  const ComputedFrames other(7, 5, 3, PixelType::u16, [](auto f, auto r, auto c) {
    return static_cast<float>(100 * f + 10 * r + c + (f == 2 && r == 4 && c == 6));
  });
  EXPECT_NE(frames_checksum(frames), frames_checksum(other));
}

// A process that reads some rows, and another that goes on from its state and reads rows again that were read before.
TEST(RowAudit, GoesOnFromTheStateOfAnother) {
  const ComputedFrames frames(6, 5, 7, PixelType::f32, [](auto f, auto r, auto c) {
    return f == 2 && r == 1 && c == 3 ? NAN : static_cast<float>((f * 5 + r * 3 + c) % 11);
  });
  Normalisation normalisation;
  normalisation.columns = 6;
  normalisation.rows = 5;
  const auto record = [&](RowAudit& audit, std::int64_t frame, std::int64_t row0, std::int64_t row1) {
    std::vector<float> native(static_cast<std::size_t>((row1 - row0) * 6));
    frames.read_native(frame, row0, row1, native.data());
    std::vector<float> values = native;
    audit.record(frame, row0, row1, native.data(), values.data());
  };
  const BadPixelLimits limits{.maximum_fraction = 1, .saturation_level = 10};
  RowAudit whole(frames, limits), first(frames, limits), second(frames, limits);
  for (RowAudit* audit : {&whole, &first, &second}) audit->watch_dark(normalisation, {});
  for (std::int64_t frame = 0; frame < 7; ++frame) record(whole, frame, 0, 5);
  for (std::int64_t frame = 0; frame < 5; ++frame) record(first, frame, 1, frame == 3 ? 2 : 4);
  record(first, 6, 0, 1);
  record(first, 6, 4, 5);

  const AuditState state = first.state();
  const std::vector<AuditState::Rows> seen{{0, 3, 1, 4}, {3, 4, 1, 2}, {4, 5, 1, 4}, {6, 7, 0, 1}, {6, 7, 4, 5}};
  EXPECT_EQ(state.seen, seen);
  second.go_on_from(state);
  EXPECT_EQ(second.state(), state);
  EXPECT_EQ(second.pixels(), first.pixels());
  for (std::int64_t frame = 6; frame >= 0; --frame) record(second, frame, 0, 5);
  EXPECT_EQ(second.state(), whole.state());
  EXPECT_EQ(second.checksum(), whole.checksum());
  EXPECT_EQ(second.pixels(), whole.pixels());
  EXPECT_EQ(second.saturated(), whole.saturated());
  EXPECT_EQ(second.not_finite(), 1);
  EXPECT_GT(whole.at_dark().pixels, 0);
  EXPECT_EQ(second.at_dark().pixels, whole.at_dark().pixels);
  EXPECT_EQ(second.at_dark().in_column, whole.at_dark().in_column);

  AuditState wrong = state;
  wrong.seen.push_back({0, 8, 0, 1});
  EXPECT_THROW(RowAudit(frames, limits).go_on_from(wrong), Error);
  wrong = state;
  wrong.bad_in[7] = 1;
  EXPECT_THROW(RowAudit(frames, limits).go_on_from(wrong), Error);
  wrong = state;
  wrong.bad_in[2] = 31;  // of 30 pixels: the run before was refused for it, and this one must be
  EXPECT_THROW(RowAudit(frames, limits).go_on_from(wrong), Error);
}

TEST(RowAudit, RowsThatStayAsTheyWereReadGiveTheSameAccount) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ComputedFrames frames(9, 4, 3, PixelType::f32, [nan](auto f, auto r, auto c) {
    return (f + r + c) % 7 == 0 ? nan : static_cast<float>(f + 3 * r + c);
  });
  RowAudit filled(frames, {.maximum_fraction = 1, .saturation_level = 12});
  RowAudit left(frames, {.maximum_fraction = 1, .saturation_level = 12});
  for (std::int64_t frame = 0; frame < 3; ++frame) {
    std::vector<float> native(36);
    frames.read_native(frame, 0, 4, native.data());
    left.record_native(frame, 0, 4, native.data());
    left.record_native(frame, 0, 4, native.data());  // counts once
    std::vector<float> values = native;
    filled.record(frame, 0, 4, native.data(), values.data());
  }
  EXPECT_GT(filled.not_finite(), 0);
  EXPECT_GT(filled.saturated(), 0);
  EXPECT_EQ(left.state(), filled.state());
}

TEST(RowAudit, CountsAndRefusesBadPixels) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ComputedFrames frames(10, 10, 2, PixelType::f32,
                              [&](auto f, auto r, auto) { return f == 1 ? nan : static_cast<float>(r); });
  RowAudit audit(frames, {.maximum_fraction = 0.05, .saturation_level = 9});
  std::vector<float> native(100), values(100);
  frames.read_native(0, 0, 10, native.data());
  values = native;
  EXPECT_THROW(audit.record(0, 0, 10, native.data(), values.data()), Error) << "a tenth is saturated";
  frames.read_native(1, 0, 1, native.data());
  values = native;
  try {
    audit.record(1, 0, 1, native.data(), values.data());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.parts().where.find("frame-1"), std::string::npos);
  }
}

TEST(RowAudit, WholeNumbersGiveTheSameAccountWithoutTheirFloats) {
  const ComputedFrames frames(37, 5, 3, PixelType::u16,
                              [](auto f, auto r, auto c) { return static_cast<float>((50 * f + 7 * r + c) % 120); });
  for (const double level : {0.0, 100.0, 100.5, 1e6}) {
    RowAudit by_floats(frames, {.maximum_fraction = 1, .saturation_level = level});
    RowAudit whole(frames, {.maximum_fraction = 1, .saturation_level = level});
    std::vector<std::uint16_t> native(37 * 5);
    std::vector<float> values(37 * 5);
    for (std::int64_t frame = 0; frame < 3; ++frame) {
      frames.read_native(frame, 0, 5, native.data());
      values.assign(native.begin(), native.end());
      by_floats.record(frame, 0, 5, native.data(), values.data());
      whole.record_native(frame, 0, 5, native.data());
      whole.record_native(frame, 0, 5, native.data());  // counts once
    }
    EXPECT_EQ(whole.checksum(), by_floats.checksum());
    EXPECT_EQ(whole.pixels(), by_floats.pixels());
    EXPECT_EQ(whole.saturated(), by_floats.saturated());
    EXPECT_EQ(whole.saturated() > 0, level > 0 && level < 1e6);
  }
}

TEST(RowAudit, ReplacesWhatIsNotANumberByItsNeighbours) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ComputedFrames frames(5, 1, 1, PixelType::f32, [](auto, auto, auto) { return 1.0F; });
  RowAudit audit(frames, {.maximum_fraction = 1, .saturation_level = 0});
  std::vector<float> values{nan, 2, nan, 4, nan};
  const std::vector<float> native = values;
  audit.record(0, 0, 1, native.data(), values.data());
  EXPECT_EQ(values, (std::vector<float>{2, 2, 3, 4, 4}));
  EXPECT_EQ(audit.not_finite(), 3);
}

CircularScan arc_scan(Beam beam) {
  CircularScan scan;
  scan.beam = beam;
  scan.arc = true;
  scan.source_axis_mm = 300;
  scan.source_detector_mm = 500;
  scan.columns = 101;
  scan.rows = 31;
  scan.pixel_width_mm = scan.pixel_height_mm = 2;
  scan.detector_shift_u_mm = 3.3;
  scan.angles_rad = {0};
  return scan;
}

// A fan's rows are those of the frames, however high its first view stands.
TEST(ArcResampler, AFanKeepsItsRowsWhereViewsMoveAlongTheAxis) {
  CircularScan scan = arc_scan(Beam::fan);
  scan.angles_rad = {0, 1};
  scan.perturbations.resize(2);
  scan.perturbations[0].source_mm.y = scan.perturbations[0].detector_mm.y = 8;
  const ScanGeometry geometry = build_scan(scan);
  const ArcResampler resampler(geometry);
  EXPECT_EQ(resampler.map().row_from, resampler.map().row_to);
  EXPECT_EQ(geometry.rows, scan.rows);
}

// A quadratic of the direction is reproduced but for Catmull-Rom's third-order error.
TEST(ArcResampler, ReadsTheArcWhereTheFlatPixelLooks) {
  const ScanGeometry geometry = build_scan(arc_scan(Beam::cone));
  const ArcDetector& arc = *geometry.recorded_on_arc;
  const auto smooth = [](double gamma, double slope) {
    return 1 + gamma + 2 * gamma * gamma + 3 * slope - slope * slope;
  };
  std::vector<float> recorded(static_cast<std::size_t>(arc.columns * arc.rows));
  for (std::int64_t r = 0; r < arc.rows; ++r)
    for (std::int64_t c = 0; c < arc.columns; ++c)
      recorded[static_cast<std::size_t>(r * arc.columns + c)] =
          static_cast<float>(smooth((static_cast<double>(c) - arc.central_column) * 2 / 500,
                                    (static_cast<double>(r) - arc.central_row) * 2 / 500));
  const ArcResampler resampler(geometry);
  // The flat detector's own middle follows from its matrix: the point (0, 0, 0) lies on the central ray.
  const double centre_u = geometry.matrices[0](0, 3), centre_v = geometry.matrices[0](1, 3);
  int compared = 0;
  for (std::int64_t row0 = 0; row0 < geometry.rows; row0 += 7) {
    const std::int64_t row1 = std::min(geometry.rows, row0 + 7);
    const auto held = resampler.recorded_rows(0, {row0, row1});
    EXPECT_LE(held.size(), resampler.maximum_recorded_rows(7));
    std::vector<float> flat(static_cast<std::size_t>((row1 - row0) * geometry.columns));
    resampler.apply(0, {row0, row1}, recorded.data() + held.first * arc.columns, flat.data());
    for (std::int64_t r = row0; r < row1; ++r)
      for (std::int64_t c = 0; c < geometry.columns; ++c) {
        const double s = (static_cast<double>(c) - centre_u) * 2, t = (static_cast<double>(r) - centre_v) * 2;
        const double gamma = std::atan(s / 500), height = t * std::cos(gamma);
        const double arc_column = gamma * 250 + arc.central_column, arc_row = height / 2 + arc.central_row;
        if (arc_column < 2 || arc_column > static_cast<double>(arc.columns) - 3 || arc_row < 2 ||
            arc_row > static_cast<double>(arc.rows) - 3)
          continue;
        EXPECT_NEAR(flat[static_cast<std::size_t>((r - row0) * geometry.columns + c)], smooth(gamma, height / 500),
                    1e-5);
        ++compared;
      }
  }
  EXPECT_GT(compared, 1500);
}

TEST(ArcResampler, ReadsTheFlatDetectorWhereTheArcsPixelLooks) {
  for (const Beam beam : {Beam::cone, Beam::fan}) {
    const ScanGeometry geometry = build_scan(arc_scan(beam));
    const ArcDetector& arc = *geometry.recorded_on_arc;
    const ArcMap map(geometry);
    const auto smooth = [](PixelPosition at) { return 1 + at.column / 100 + at.column * at.row / 1e4; };
    std::vector<float> flat;
    for (std::int64_t r = 0; r < geometry.rows; ++r)
      for (std::int64_t c = 0; c < geometry.columns; ++c)
        flat.push_back(static_cast<float>(smooth({static_cast<double>(c), static_cast<double>(r)})));
    const ArcResampler resampler(geometry, ArcResampler::Onto::arc);
    EXPECT_EQ(resampler.columns(), arc.columns);
    const RowBand all{0, arc.rows}, held = resampler.recorded_rows(0, all);
    EXPECT_LE(held.last, geometry.rows);
    std::vector<float> recorded(static_cast<std::size_t>(arc.columns * arc.rows));
    resampler.apply(0, all, flat.data() + held.first * geometry.columns, recorded.data());
    for (std::int64_t r = 2; r < arc.rows - 2; ++r)  // taps past the detector repeat its edge
      for (std::int64_t c = 2; c < arc.columns - 2; ++c)
        ASSERT_NEAR(recorded[static_cast<std::size_t>(r * arc.columns + c)],
                    smooth(map.to_flat({static_cast<double>(c), static_cast<double>(r)})), 1e-5);
  }
}

CircularScan turned_in_its_plane(double in_plane_rad) {
  CircularScan scan;
  scan.source_axis_mm = 300;
  scan.source_detector_mm = 500;
  scan.columns = 90;
  scan.rows = 60;
  scan.pixel_width_mm = scan.pixel_height_mm = 2;
  scan.pitch_rad = 0.03;
  scan.yaw_rad = -0.05;
  scan.in_plane_rad = in_plane_rad;
  for (int i = 0; i < 5; ++i) scan.angles_rad.push_back(0.4 * i);
  return scan;
}

// Two things make it right: rows of the level scan look across the axis, and every level pixel shows what the recorded
// detector shows where the same point of space falls on it. A quadratic of the row is reproduced exactly.
TEST(RowLeveller, RowsAreLevelAndPointsKeepTheirValue) {
  const ScanGeometry recorded = build_scan(turned_in_its_plane(0.08));
  const RowLeveller leveller(recorded);
  const ScanGeometry& level = leveller.level_scan();
  EXPECT_EQ(level.rows, 60 + 2 * 4);  // tan(0.08) * 44.5 columns = 3.6 rows
  const auto smooth = [](double u, double v) { return 1 + 0.02 * u + 0.03 * v - 0.001 * v * v; };
  std::vector<float> frame;
  for (int v = 0; v < 60; ++v)
    for (int u = 0; u < 90; ++u) frame.push_back(static_cast<float>(smooth(u, v)));
  int compared = 0;
  for (std::int64_t view = 0; view < recorded.views(); ++view) {
    EXPECT_LT(std::abs(camera_of(level, view).column_step_mm.z), 1e-12);
    const RowBand band{20, 27};
    const RowBand held = leveller.recorded_rows(view, band);
    EXPECT_LE(held.size(), leveller.maximum_recorded_rows(band.size()));
    std::vector<float> rows(static_cast<std::size_t>(band.size() * level.columns));
    leveller.apply(view, band, frame.data() + held.first * 90, rows.data());
    const Camera camera = camera_of(level, view);
    for (std::int64_t v = band.first; v < band.last; ++v)
      for (std::int64_t u = 0; u < level.columns; u += 3) {
        const Vec3 x = camera.pixel_mm(static_cast<double>(u), static_cast<double>(v));
        const Vec3 p = transform(recorded.matrices[static_cast<std::size_t>(view)], x);
        EXPECT_NEAR(p.x / p.z, static_cast<double>(u), 1e-9);
        EXPECT_NEAR(rows[static_cast<std::size_t>((v - band.first) * level.columns + u)], smooth(p.x / p.z, p.y / p.z),
                    1e-6);
        ++compared;
      }
  }
  EXPECT_EQ(compared, 5 * 7 * 30);
}

TEST(RowLeveller, OnlyScansThatNeedItAreLevelled) {
  const ScanGeometry slanted = build_scan(turned_in_its_plane(0.02)), upright = build_scan(turned_in_its_plane(0));
  EXPECT_NEAR(row_slant(slanted), 0.02 * 45, 0.02);
  EXPECT_TRUE(row_leveller(slanted, false));
  EXPECT_FALSE(row_leveller(upright, false));
  // A full turn: from 1 / cos = 1.0002 on.
  EXPECT_NEAR(brightness_of_slant(slanted), 1 / std::cos(0.02) - 1, 1e-6);
  EXPECT_FALSE(row_leveller(build_scan(turned_in_its_plane(0.0199)), true));
  EXPECT_TRUE(row_leveller(build_scan(turned_in_its_plane(0.0201)), true));
  EXPECT_THROW(row_slant(build_scan(turned_in_its_plane(1.5))), Error);
}

}  // namespace
}  // namespace lepus
