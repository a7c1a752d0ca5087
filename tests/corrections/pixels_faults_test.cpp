// SPDX-License-Identifier: Apache-2.0
// Pixel faults with known truth: what the corrections of src/correct/pixels find, what they take for a fault, and how
// far the mended values are from the truth. With LEPUS_PICTURES=folder it also draws docs/corrections/pixels.md's
// pictures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/picture.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"
#include "parallel_slice.h"
#include "pixel_scenes.h"

namespace lepus::pixels {
namespace {

TEST(HotPixelFaults, UniformNoise) {
  const FaultScan air({}, 40, 1e4, 1);
  for (const Fault fault : {Fault::offset, Fault::noise}) {
    TestBand band = air.noisy;
    const auto faulty = add_faults(band, {.fault = fault, .local_noise = air.noise, .allowed = everywhere()}, 2);
    const Outcome o = correct_hot(air, band, faulty, hot_options());
    print(fault == Fault::offset ? "uniform noise, offset of 5 sigma" : "uniform noise, noise of 5 sigma", o);
    EXPECT_GE(o.recall, 0.99);
    EXPECT_LE(o.false_positives, 0.001);
    // The line between two pixels: 0.71 to 0.85 sigma of more than 5; the mean of 12: 0.29.
    EXPECT_LE(o.error_after, 0.17 * o.error_before);
    const Outcome windows = correct_hot(air, band, faulty, hot_options({.replace_by = HotReplacement::windows}));
    print("  the same, replaced by the mean of both windows", windows);
    EXPECT_LE(windows.error_after, 0.1 * windows.error_before);
  }
  const Outcome clean = correct_hot(air, air.noisy, {}, hot_options());
  print("uniform noise, no faults", clean);
  EXPECT_LE(clean.false_positives, 0.001);
}

TEST(HotPixelFaults, BehindAnObject) {
  const FaultScan scan(object, 30, 1e4, 3);
  std::vector<bool> shadow(columns), inner(columns);
  for (std::int64_t x = 0; x < columns; ++x)
    shadow[static_cast<std::size_t>(x)] = scan.most[static_cast<std::size_t>(x)] > 0;
  // Away from the outline: its windows' windows are in the shadow in every view.
  const std::int64_t reach = hot_rules({}, views).reach();
  for (std::int64_t x = 2 * reach; x < columns - 2 * reach; ++x) {
    bool all = true;
    for (std::int64_t k = x - 2 * reach; k <= x + 2 * reach; ++k)
      all = all && scan.least[static_cast<std::size_t>(k)] > 0;
    inner[static_cast<std::size_t>(x)] = all;
  }
  std::printf("shadow %td columns, inner %td of %td\n", std::count(shadow.begin(), shadow.end(), true),
              std::count(inner.begin(), inner.end(), true), static_cast<std::ptrdiff_t>(columns));
  for (const Fault fault : {Fault::offset, Fault::noise}) {
    const std::string kind = fault == Fault::offset ? "offset" : "noise";
    TestBand band = scan.noisy;
    auto faulty = add_faults(band, {.fault = fault, .local_noise = scan.noise, .allowed = inner}, 4);
    const Outcome inside = correct_hot(scan, band, faulty, hot_options());
    print(("object, inner, " + kind + " of 5 photon sigma").c_str(), inside);
    EXPECT_GE(inside.recall, 0.95);
    const Outcome windows = correct_hot(scan, band, faulty, hot_options({.replace_by = HotReplacement::windows}));
    print("  the same, replaced by the mean of both windows", windows);
    EXPECT_LT(inside.error_after, windows.error_after);

    band = scan.noisy;
    faulty = add_faults(band, {.fault = fault, .local_noise = local_deviations(scan), .allowed = shadow}, 5);
    const Outcome local = correct_hot(scan, band, faulty, hot_options());
    print(("object, whole shadow, " + kind + " of 5 local noise").c_str(), local);
    EXPECT_GE(local.recall, 0.95);

    band = scan.noisy;
    faulty = add_faults(band, {.fault = fault, .local_noise = scan.noise, .allowed = shadow}, 6);
    print(("object, whole shadow, " + kind + " of 5 photon sigma").c_str(),
          correct_hot(scan, band, faulty, hot_options()));
  }
}

// Outlines, thin walls and small things that pass over a column are no faults, with noise and without.
TEST(HotPixelFaults, ACleanScanOfAnObjectStaysAsItIs) {
  const struct {
    const char* name;
    const std::vector<Ellipse>& ellipses;
  } scenes[] = {{"discs", object}, {"head", head}, {"centred cylinder", cylinder}};
  for (const auto& scene : scenes)
    for (const double photons : {0.0, 1e3, 1e4, 1e6}) {
      const FaultScan scan(scene.ellipses, photons > 0 ? 8 : 1, photons, 21);
      const Outcome clean = correct_hot(scan, scan.noisy, {}, hot_options());
      const Outcome unasked =
          correct_hot(scan, scan.noisy, {}, hot_options({.share_of_views = 0, .replace_by = HotReplacement::windows}));
      std::printf("clean, %-16s %7.0f photons: false positives %.3f %%; with share_of_views = 0 %.3f %%\n", scene.name,
                  photons, 100 * clean.false_positives, 100 * unasked.false_positives);
      EXPECT_LE(clean.false_positives, 0.001) << scene.name << ", " << photons;
    }
}

// The default lies between what clean columns reach and what faults fall below. The weakest faults are noise of five
// times the photons', behind the object.
TEST(HotPixelFaults, TheShareOfViewsTellsOutlinesFromFaults) {
  const FaultScan round(cylinder, 8, 1e3, 25), scan(object, 10, 1e4, 26);
  std::vector<bool> shadow(columns), inner(columns);
  for (std::size_t x = 0; x < shadow.size(); ++x) {
    shadow[x] = scan.most[x] > 0;
    inner[x] = scan.least[x] > 0.8;
  }
  TestBand local = scan.noisy, weak = scan.noisy;
  const auto local_faults =
      add_faults(local, {.fault = Fault::noise, .local_noise = local_deviations(scan), .allowed = shadow}, 27);
  const auto weak_faults = add_faults(weak, {.fault = Fault::noise, .local_noise = scan.noise, .allowed = inner}, 28);
  for (const double share : {0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5}) {
    const HotPixelOptions options = hot_options({.share_of_views = share});
    const double wrong = correct_hot(round, round.noisy, {}, options).false_positives;
    const double recall = correct_hot(scan, local, local_faults, options).recall;
    const double weak_recall = correct_hot(scan, weak, weak_faults, options).recall;
    std::printf(
        "share_of_views = %.2f: clean cylinder, 1000 photons: false positives %.3f %%; behind discs: recall %.3f, "
        "of weak ones %.3f\n",
        share, 100 * wrong, recall, weak_recall);
    if (share >= 0.3) {
      EXPECT_LE(wrong, 0.001);
    }
    if (share <= 0.3) {
      EXPECT_GE(recall, 0.95);
      EXPECT_GE(weak_recall, 0.95);
    }
  }
}

// The first row's sinogram of grey levels, corrected, as a slice; the detector is 100 mm wide.
Slice corrected_slice(TestBand band, const HotPixelOptions& options, std::int64_t n = 128) {
  TestHost machine;
  make_hot_pixels(options, facts_of(band))->apply(band.band(), {0, band.rows}, machine.queue());
  TestBand row = band.part(0, 1);
  for (float& value : row.values) value = -std::log(std::max(value, 1e-3F));
  return parallel_slice(row.values, columns, 100.0 / columns, n, 100.0 / static_cast<double>(n), machine.threads);
}

double rms_between(const Slice& a, const Slice& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += std::pow(a.values[i] - b.values[i], 2);
  return std::sqrt(sum / static_cast<double>(a.values.size()));
}

// In the slice, against its noise: what the correction changes where nothing is wrong, and what is left of faults.
TEST(HotPixelFaults, TheSliceOfACleanScanDoesNotChange) {
  const HotPixelOptions no_correction = hot_options({.tolerance = 1e9}, 1);
  const HotPixelOptions unasked = hot_options({.share_of_views = 0, .replace_by = HotReplacement::windows});
  const FaultScan scan(cylinder, 1, 1e4, 23);
  const Slice clean = corrected_slice(scan.noisy, no_correction);
  const double noise = rms_between(clean, corrected_slice(scan.truth, no_correction));
  const double change = rms_between(corrected_slice(scan.noisy, hot_options()), clean);
  std::printf("slice of a clean scan: change / noise %.4f; with share_of_views = 0, replaced by windows %.2f\n",
              change / noise, rms_between(corrected_slice(scan.noisy, unasked), clean) / noise);
  EXPECT_LE(change, 0.01 * noise);
  if (const char* folder = std::getenv("LEPUS_PICTURES"))
    save_png(side_by_side(corrected_slice(scan.noisy, unasked, 256), corrected_slice(scan.noisy, hot_options(), 256),
                          {0, 0.07}),
             std::filesystem::path(folder) / "pixels-clean.png", true);
}

TEST(HotPixelFaults, TheSliceLosesItsFaults) {
  const HotPixelOptions no_correction = hot_options({.tolerance = 1e9}, 1);
  for (const auto& [name, ellipses] : {std::pair{"discs", &object}, {"head", &head}, {"cylinder", &cylinder}}) {
    const FaultScan scan(*ellipses, 1, 1e4, 23);
    const Slice clean = corrected_slice(scan.noisy, no_correction);
    const double noise = rms_between(clean, corrected_slice(scan.truth, no_correction));
    double before = 0, bridged = 0, windows = 0;
    for (unsigned seed = 24; seed < 27; ++seed) {
      TestBand band = scan.noisy;
      add_faults(band, {.runs = 8, .strength = 12, .local_noise = scan.noise, .allowed = everywhere()}, seed);
      before += rms_between(corrected_slice(band, no_correction), clean) / noise / 3;
      bridged += rms_between(corrected_slice(band, hot_options()), clean) / noise / 3;
      windows +=
          rms_between(corrected_slice(band, hot_options({.replace_by = HotReplacement::windows})), clean) / noise / 3;
    }
    std::printf("slice, %-8s 8 faulty runs: error / noise %.2f before, %.2f after, %.2f replaced by windows\n", name,
                before, bridged, windows);
    EXPECT_LT(bridged, 0.5 * before);
  }
}

// What the page says of its limits; where one of them moves, the page is wrong.
TEST(HotPixelFaults, WhereItFails) {
  const FaultScan air({}, 20, 1e4, 18);
  TestBand band = air.noisy;
  const auto faulty = add_faults(band, {.apart = 5, .local_noise = air.noise, .allowed = everywhere()}, 19);
  const Outcome close = correct_hot(air, band, faulty, hot_options());
  print("uniform noise, runs that may be 5 columns apart", close);
  EXPECT_LT(close.recall, 0.95);
  const FaultScan needle({{0, 0, 0.006, 0.006, 0, 1}}, 2, 1e4, 20);  // 4 columns wide, on the axis
  const Outcome on_axis = correct_hot(needle, needle.noisy, {}, hot_options());
  print("a needle on the axis, no faults", on_axis);
  EXPECT_GT(on_axis.false_positives, 0.005);
  band = air.noisy;
  std::vector<unsigned char> flickers(static_cast<std::size_t>(band.rows * columns));
  for (std::int64_t row = 0; row < band.rows; ++row) {
    flickers[static_cast<std::size_t>(row * columns + 300)] = 1;
    for (std::int64_t view = row; view < views; view += 6) band.at(row, view, 300) += 0.2F;
  }
  const Outcome flicker = correct_hot(air, band, flickers, hot_options());
  print("uniform noise, 20 sigma in every sixth view", flicker);
  EXPECT_LT(flicker.recall, 0.5);
  EXPECT_EQ(correct_hot(air, band, flickers, hot_options({.share_of_views = 0})).recall, 1.0);
}

TEST(HotPixelFaults, ClassicOnSinglePixels) {
  const HotPixelOptions options = hot_options({.method = HotMethod::classic, .replace_by = HotReplacement::windows});
  const FaultScan air({}, 40, 1e4, 7);
  std::vector<bool> judged = everywhere();
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, columns - 2, columns - 1})
    judged[static_cast<std::size_t>(x)] = false;  // they have no two neighbours on a side
  for (const Fault fault : {Fault::offset, Fault::noise}) {
    TestBand band = air.noisy;
    const auto faulty =
        add_faults(band, {.fault = fault, .longest = 1, .local_noise = air.noise, .allowed = judged}, 8);
    const Outcome o = correct_hot(air, band, faulty, options);
    print(fault == Fault::offset ? "classic, uniform noise, single offsets" : "classic, uniform noise, single noise",
          o);
    EXPECT_GE(o.recall, 0.99);
    EXPECT_LE(o.false_positives, 0.001);
    EXPECT_LE(o.error_after, 0.2 * o.error_before);  // the mean of two pixels: 0.71 sigma of 5.1
  }
  TestBand band = air.noisy;
  const auto runs = add_faults(band, {.local_noise = air.noise, .allowed = judged}, 9);
  const Outcome o = correct_hot(air, band, runs, options);
  print("classic, uniform noise, runs of 1 to 5", o);
  EXPECT_LT(o.recall, 0.9) << "this is why there is the shifted window";
}

TEST(HotPixelFaults, TheOriginalFormTakesNoiseForFaults) {
  const FaultScan air({}, 20, 1e4, 10);
  const auto with = [](bool normalise, bool below, double tolerance) {
    return hot_options({.window = 2,
                        .tolerance = tolerance,
                        .normalise = normalise,
                        .below = below,
                        .share_of_views = 0,
                        .replace_by = HotReplacement::windows},
                       1);
  };
  double original = 0;
  for (const double tolerance : {2.0, 3.0, 4.0, 6.0}) {
    const double both = correct_hot(air, air.noisy, {}, with(false, true, tolerance)).false_positives;
    const double above = correct_hot(air, air.noisy, {}, with(false, false, tolerance)).false_positives;
    const double normalised = correct_hot(air, air.noisy, {}, with(true, true, tolerance)).false_positives;
    std::printf("windows of 2, tolerance %.0f: original %.2f %% (above only %.2f %%), normalised %.2f %%\n", tolerance,
                100 * both, 100 * above, 100 * normalised);
    if (tolerance == 4.0) original = both;
    EXPECT_LT(normalised, both);
  }
  EXPECT_GT(original, 0.01) << "more than one column in a hundred";
}

TEST(ZingerFaults, AreFoundAndReplaced) {
  for (const bool behind : {false, true}) {
    const FaultScan scan(behind ? object : std::vector<Ellipse>{}, 10, 1e4, 11);
    TestBand band = scan.noisy, truth = scan.truth;
    std::mt19937_64 random(12);
    std::vector<unsigned char> hit(band.values.size());
    for (int i = 0; i < 800; ++i) {  // one value in a thousand
      const std::size_t at = random() % hit.size();
      if (hit[at]) continue;
      hit[at] = 1;
      band.values[at] += static_cast<float>(20 * scan.noise[at % columns]);
    }
    const TestBand before = band;
    TestHost machine;
    make_zingers(ZingerOptions{}, facts_of(band))->apply(band.band(), {0, band.rows}, machine.queue());
    double found = 0, count = 0, wrong = 0, error_before = 0, error_after = 0;
    for (std::size_t i = 0; i < hit.size(); ++i) {
      const bool replaced = band.values[i] != before.values[i];
      if (!hit[i]) {
        wrong += replaced;
        continue;
      }
      ++count;
      found += replaced;
      error_before += std::pow(before.values[i] - truth.values[i], 2);
      error_after += std::pow(band.values[i] - truth.values[i], 2);
    }
    const double ratio = std::sqrt(error_after / error_before);
    std::printf("zingers of 20 sigma, %s: recall %.4f, false positives %.5f %%, error after / before %.3f\n",
                behind ? "behind an object" : "uniform noise", found / count,
                100 * wrong / static_cast<double>(hit.size()), ratio);
    EXPECT_GE(found, 0.99 * count);
    EXPECT_LE(wrong, 1e-5 * static_cast<double>(hit.size()));
    EXPECT_LE(ratio, 0.15);
  }
}

// Where the beam passes along a crack, a pixel is bright for a view or two. 60 degrees: half a degree from view to
// view.
TEST(ZingerFaults, ACrackIsNone) {
  std::vector<Ellipse> cracked = object;
  for (const double degrees : {5.0, 20.0, 30.0, 45.0}) cracked.push_back({0.02, 0.03, 0.003, 0.3, degrees, -0.8});
  const FaultScan scan(cracked, 4, 1e5, 22, 60);
  const auto replaced = [&](int along) {
    TestBand band = scan.noisy;
    TestHost machine;
    make_zingers({.along = along}, facts_of(band))->apply(band.band(), {0, band.rows}, machine.queue());
    std::int64_t count = 0;
    for (std::size_t i = 0; i < band.values.size(); ++i) count += band.values[i] != scan.noisy.values[i];
    return count;
  };
  const std::int64_t unasked = replaced(0), asked = replaced(3);
  std::printf("cracks, no zingers: %lld values replaced of %zu; with along_px = 0 %lld\n",
              static_cast<long long>(asked), scan.noisy.values.size(), static_cast<long long>(unasked));
  EXPECT_LE(asked, unasked / 10);
}

TEST(DefectFaults, AreBridged) {
  const FaultScan scan(object, 10, 1e4, 13);
  TestBand band = scan.noisy, truth = scan.truth;
  std::mt19937_64 random(14);
  std::vector<std::int64_t> bad;
  for (int i = 0; i < 100; ++i)
    bad.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(10 * columns)));
  for (const std::int64_t pixel : bad)
    for (std::int64_t view = 0; view < views; ++view) band.at(pixel / columns, view, pixel % columns) = 0;
  const TestBand before = band;
  TestHost machine;
  make_dead_pixels({}, facts_of(band), bad)->apply(band.band(), {0, 10}, machine.queue());
  double error_before = 0, error_after = 0;
  for (const std::int64_t pixel : bad)
    for (std::int64_t view = 0; view < views; ++view) {
      const auto i = static_cast<std::size_t>((pixel / columns * views + view) * columns + pixel % columns);
      error_before += std::pow(before.values[i] - truth.values[i], 2);
      error_after += std::pow(band.values[i] - truth.values[i], 2);
    }
  const double ratio = std::sqrt(error_after / error_before);
  std::printf("known dead pixels, bridged: error after / before %.4f\n", ratio);
  EXPECT_LE(ratio, 0.05);
}

// Two sinograms one above the other, as grey levels from `low` to `high`.
void draw(const TestBand& above, const TestBand& below, std::int64_t first, std::int64_t count, GreyWindow window,
          const std::filesystem::path& file) {
  constexpr std::int64_t scale = 2, gap = 6;
  Picture picture(count * scale, (2 * views + gap) * scale, {255, 255, 255});
  for (int part = 0; part < 2; ++part)
    for (std::int64_t y = 0; y < views * scale; ++y)
      for (std::int64_t x = 0; x < count * scale; ++x) {
        const TestBand& band = part == 0 ? above : below;
        const float value = band.values[static_cast<std::size_t>(y / scale * columns + first + x / scale)];
        picture.set(x, part * (views + gap) * scale + y, colour_of(value, window, ColourMap::grey));
      }
  save_png(picture, file, true);
}

TEST(PixelPictures, AreDrawnWhereAskedFor) {
  const char* folder = std::getenv("LEPUS_PICTURES");
  if (!folder) GTEST_SKIP() << "LEPUS_PICTURES names no folder";
  const FaultScan scan(object, 1, 1e4, 15);
  TestBand band = scan.noisy;
  add_faults(band, {.runs = 8, .strength = 12, .local_noise = scan.noise, .allowed = everywhere()}, 16);
  TestBand corrected = band;
  TestHost machine;
  make_hot_pixels(hot_options(), facts_of(band))->apply(corrected.band(), {0, 1}, machine.queue());
  draw(band, corrected, 150, 320, {0, 0.6}, std::filesystem::path(folder) / "pixels-hot.png");
  band = scan.noisy;
  std::mt19937_64 random(17);
  for (int i = 0; i < 400; ++i) band.values[random() % band.values.size()] += 0.3F;
  corrected = band;
  make_zingers(ZingerOptions{}, facts_of(band))->apply(corrected.band(), {0, 1}, machine.queue());
  draw(band, corrected, 150, 320, {0, 0.6}, std::filesystem::path(folder) / "pixels-zingers.png");
}

}  // namespace
}  // namespace lepus::pixels
