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
#include "correct/pixels/hot_reference.h"
#include "correct/pixels/pixel_cases.h"
#include "correct/pixels/pixels.h"

namespace lepus::pixels {
namespace {

constexpr std::int64_t columns = 624, views = 128;

// Discs in a parallel beam, in units of the detector's half width: centre, radius, line integral across the middle.
struct Disc {
  double x, y, radius, most;
};
const std::vector<Disc> object = {{0.024, -0.016, 0.8, 2},
                                  {0.32, 0.16, 0.2, 0.6},
                                  {-0.24, 0.28, 0.144, -0.288},
                                  {-0.16, -0.4, 0.08, 0.6},
                                  {0.08, -0.16, 0.032, 0.4}};

// Every detector row is another scan of the same object with other noise and other faults.
struct FaultScan {
  TestBand truth, noisy;            // grey levels without noise, and with it
  std::vector<double> noise;        // of each column, rms over the views
  std::vector<double> least, most;  // line integral of each column over the views
  FaultScan(const std::vector<Disc>& discs, std::int64_t rows, double photons, unsigned seed)
      : truth(columns, views, rows), noisy(columns, views, rows), noise(columns), least(columns, 1e9), most(columns) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (std::int64_t view = 0; view < views; ++view)
      for (std::int64_t x = 0; x < columns; ++x) {
        const double angle = 2 * 3.14159265358979 * static_cast<double>(view) / views;
        double p = 0;
        for (const Disc& disc : discs)
          for (int part = 0; part < 4; ++part) {
            const double u = (static_cast<double>(x) + 0.125 + 0.25 * part) / (columns / 2) - 1;
            const double t = (u - disc.x * std::cos(angle) - disc.y * std::sin(angle)) / disc.radius;
            if (t * t < 1) p += disc.most * std::sqrt(1 - t * t) / 4;
          }
        const auto i = static_cast<std::size_t>(x);
        const double grey = std::exp(-p), sigma = std::sqrt(grey / photons);
        noise[i] += sigma * sigma / views;
        least[i] = std::min(least[i], p);
        most[i] = std::max(most[i], p);
        for (std::int64_t row = 0; row < rows; ++row) {
          truth.at(row, view, x) = static_cast<float>(grey);
          noisy.at(row, view, x) = static_cast<float>(grey + sigma * normal(random));
        }
      }
    for (double& variance : noise) variance = std::sqrt(variance);
  }
};

enum class Fault { offset, noise };  // a constant of either sign; or noise from view to view

struct FaultPlan {
  Fault fault = Fault::offset;
  int runs = 5, longest = 5;
  std::int64_t apart = 20;  // columns between two runs: one does not lie in the other's windows
  double strength = 5;      // times local_noise
  std::vector<double> local_noise;
  std::vector<bool> allowed;  // columns
};

// Adds the faults to every row; returns which columns of which row have one.
std::vector<unsigned char> add_faults(TestBand& band, const FaultPlan& plan, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<unsigned char> faulty(static_cast<std::size_t>(band.rows * columns));
  for (std::int64_t row = 0; row < band.rows; ++row) {
    unsigned char* hot = faulty.data() + row * columns;
    int placed = 0;
    for (int attempt = 0; attempt < 1000 && placed < plan.runs; ++attempt) {
      const auto length = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(plan.longest));
      const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns - length + 1));
      bool free = true;
      for (std::int64_t x = first; x < first + length; ++x) free = free && plan.allowed[static_cast<std::size_t>(x)];
      for (std::int64_t x = std::max<std::int64_t>(0, first - plan.apart);
           x < std::min(columns, first + length + plan.apart); ++x)
        free = free && !hot[x];
      if (!free) continue;
      ++placed;
      for (std::int64_t x = first; x < first + length; ++x) {
        hot[x] = 1;
        const double size = plan.strength * plan.local_noise[static_cast<std::size_t>(x)] * (random() % 2 ? 1 : -1);
        for (std::int64_t view = 0; view < views; ++view)
          band.at(row, view, x) += static_cast<float>(plan.fault == Fault::offset ? size : size * normal(random));
      }
    }
  }
  return faulty;
}

struct Outcome {
  double recall = 0, false_positives = 0;    // of faulty columns; of all columns
  double error_before = 0, error_after = 0;  // rms against the truth in the faulty columns
};

Outcome correct_hot(const FaultScan& scan, TestBand faulty, const std::vector<unsigned char>& is_faulty,
                    const CorrectionSpec& spec) {
  const TestBand before = faulty;
  ThreadPool threads;
  make_hot_pixels(spec, facts_of(faulty))->apply(faulty.band(), {0, faulty.rows}, threads);
  Outcome outcome;
  double count = 0;
  TestBand was = before, truth = scan.truth;
  for (std::int64_t row = 0; row < faulty.rows; ++row)
    for (std::int64_t x = 0; x < columns; ++x) {
      bool replaced = false;
      const bool bad = !is_faulty.empty() && is_faulty[static_cast<std::size_t>(row * columns + x)];
      for (std::int64_t view = 0; view < views; ++view) {
        replaced = replaced || faulty.at(row, view, x) != was.at(row, view, x);
        if (!bad) continue;
        outcome.error_before += std::pow(was.at(row, view, x) - truth.at(row, view, x), 2);
        outcome.error_after += std::pow(faulty.at(row, view, x) - truth.at(row, view, x), 2);
      }
      if (bad) {
        ++count;
        outcome.recall += replaced;
      } else {
        outcome.false_positives += replaced;
      }
    }
  outcome.false_positives /= static_cast<double>(faulty.rows * columns);
  if (count > 0) {
    outcome.recall /= count;
    outcome.error_before = std::sqrt(outcome.error_before / (count * views));
    outcome.error_after = std::sqrt(outcome.error_after / (count * views));
  }
  return outcome;
}

void print(const char* scene, const Outcome& o) {
  std::printf("%-52s recall %.4f  false positives %.4f %%  error %.5f -> %.5f (%.3f)\n", scene, o.recall,
              100 * o.false_positives, o.error_before, o.error_after,
              o.error_before > 0 ? o.error_after / o.error_before : 0);
}

std::vector<bool> everywhere() { return std::vector<bool>(columns, true); }

TEST(HotPixelFaults, UniformNoise) {
  const FaultScan air({}, 40, 1e4, 1);
  for (const Fault fault : {Fault::offset, Fault::noise}) {
    TestBand band = air.noisy;
    const auto faulty = add_faults(band, {.fault = fault, .local_noise = air.noise, .allowed = everywhere()}, 2);
    const Outcome o = correct_hot(air, band, faulty, hot_spec());
    print(fault == Fault::offset ? "uniform noise, offset of 5 sigma" : "uniform noise, noise of 5 sigma", o);
    EXPECT_GE(o.recall, 0.99);
    EXPECT_LE(o.false_positives, 0.001);
    EXPECT_LE(o.error_after, 0.1 * o.error_before);  // the mean of 12 pixels: 0.29 sigma of more than 5
  }
  const Outcome clean = correct_hot(air, air.noisy, {}, hot_spec());
  print("uniform noise, no faults", clean);
  EXPECT_LE(clean.false_positives, 0.001);
}

// What a column is compared with where nothing is wrong: the mean deviation of both its windows.
std::vector<double> local_deviations(const FaultScan& scan) {
  TestBand first = scan.noisy.part(0, 1);
  const HotRules rules = hot_rules({}, views);
  const auto d = reference_deviations(rules, first.band().sinograms({0, 1}), 0);
  std::vector<double> local = scan.noise;
  for (std::int64_t x = 2 * rules.reach(); x < columns - 2 * rules.reach(); ++x) {
    double sum = 0;
    for (int i = 0; i < rules.weights.window; ++i)
      sum += d.left[static_cast<std::size_t>(x - rules.weights.gap - i)] +
             d.right[static_cast<std::size_t>(x + rules.weights.gap + i)];
    local[static_cast<std::size_t>(x)] = sum / (2 * rules.weights.window);
  }
  return local;
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
    const Outcome inside = correct_hot(scan, band, faulty, hot_spec());
    print(("object, inner, " + kind + " of 5 photon sigma").c_str(), inside);
    EXPECT_GE(inside.recall, 0.95);
    const Outcome bridged = correct_hot(scan, band, faulty, hot_spec({.bridge = true}));
    print("  the same, replaced by the nearest good pixels", bridged);
    EXPECT_LT(bridged.error_after, inside.error_after);

    band = scan.noisy;
    faulty = add_faults(band, {.fault = fault, .local_noise = local_deviations(scan), .allowed = shadow}, 5);
    const Outcome local = correct_hot(scan, band, faulty, hot_spec());
    print(("object, whole shadow, " + kind + " of 5 local noise").c_str(), local);
    EXPECT_GE(local.recall, 0.95);

    band = scan.noisy;
    faulty = add_faults(band, {.fault = fault, .local_noise = scan.noise, .allowed = shadow}, 6);
    print(("object, whole shadow, " + kind + " of 5 photon sigma").c_str(),
          correct_hot(scan, band, faulty, hot_spec()));
  }
  const Outcome clean = correct_hot(scan, scan.noisy, {}, hot_spec());
  print("object, no faults", clean);
  EXPECT_LE(clean.false_positives, 0.001);
}

// What the page says of its limits; where one of them moves, the page is wrong.
TEST(HotPixelFaults, WhereItFails) {
  const FaultScan air({}, 20, 1e4, 18);
  TestBand band = air.noisy;
  const auto faulty = add_faults(band, {.apart = 5, .local_noise = air.noise, .allowed = everywhere()}, 19);
  const Outcome close = correct_hot(air, band, faulty, hot_spec());
  print("uniform noise, runs that may be 5 columns apart", close);
  EXPECT_LT(close.recall, 0.95);
  const FaultScan cylinder({{0, 0, 0.8, 4}}, 2, 1e4, 20);
  const Outcome outline = correct_hot(cylinder, cylinder.noisy, {}, hot_spec());
  print("a centred cylinder, no faults", outline);
  EXPECT_GT(outline.false_positives, 0.01);
}

TEST(HotPixelFaults, ClassicOnSinglePixels) {
  const CorrectionSpec spec = hot_spec({.classic = true});
  const FaultScan air({}, 40, 1e4, 7);
  std::vector<bool> judged = everywhere();
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, columns - 2, columns - 1})
    judged[static_cast<std::size_t>(x)] = false;  // they have no two neighbours on a side
  for (const Fault fault : {Fault::offset, Fault::noise}) {
    TestBand band = air.noisy;
    const auto faulty =
        add_faults(band, {.fault = fault, .longest = 1, .local_noise = air.noise, .allowed = judged}, 8);
    const Outcome o = correct_hot(air, band, faulty, spec);
    print(fault == Fault::offset ? "classic, uniform noise, single offsets" : "classic, uniform noise, single noise",
          o);
    EXPECT_GE(o.recall, 0.99);
    EXPECT_LE(o.false_positives, 0.001);
    EXPECT_LE(o.error_after, 0.2 * o.error_before);  // the mean of two pixels: 0.71 sigma of 5.1
  }
  TestBand band = air.noisy;
  const auto runs = add_faults(band, {.local_noise = air.noise, .allowed = judged}, 9);
  const Outcome o = correct_hot(air, band, runs, spec);
  print("classic, uniform noise, runs of 1 to 5", o);
  EXPECT_LT(o.recall, 0.9) << "this is why there is the shifted window";
}

TEST(HotPixelFaults, TheOriginalFormTakesNoiseForFaults) {
  const FaultScan air({}, 20, 1e4, 10);
  const auto with = [](bool normalise, bool below, double tolerance) {
    return hot_spec({.window = 2, .tolerance = tolerance, .normalise = normalise, .below = below}, 1);
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
    const FaultScan scan(behind ? object : std::vector<Disc>{}, 10, 1e4, 11);
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
    ThreadPool threads;
    make_zingers(zinger_spec(), facts_of(band))->apply(band.band(), {0, band.rows}, threads);
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
  ThreadPool threads;
  make_dead_pixels(spec_named("dead-pixels"), facts_of(band), columns, bad)->apply(band.band(), {0, 10}, threads);
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
  ThreadPool threads;
  make_hot_pixels(hot_spec(), facts_of(band))->apply(corrected.band(), {0, 1}, threads);
  draw(band, corrected, 150, 320, {0, 0.6}, std::filesystem::path(folder) / "pixels-hot.png");
  band = scan.noisy;
  std::mt19937_64 random(17);
  for (int i = 0; i < 400; ++i) band.values[random() % band.values.size()] += 0.3F;
  corrected = band;
  make_zingers(zinger_spec(), facts_of(band))->apply(corrected.band(), {0, 1}, threads);
  draw(band, corrected, 150, 320, {0, 0.6}, std::filesystem::path(folder) / "pixels-zingers.png");
}

}  // namespace
}  // namespace lepus::pixels
