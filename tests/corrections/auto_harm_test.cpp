// SPDX-License-Identifier: Apache-2.0
// Automatic choices must not harm: simulated scans, clean and with faults, corrected as a scan file without parameters
// does it; the slice's error against the slice without noise and fault may be no more than 2 % larger than without the
// step. Prints the errors. LEPUS_HARM=1 adds objects, noises and arcs, which takes minutes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "correct/pixels/pixels.h"
#include "correct/rings/rings_correction.h"
#include "device/host/test_host.h"
#include "parallel_scan.h"
#include "parallel_slice.h"
#include "preprocess/dead_pixels.h"

namespace lepus {
namespace {

constexpr std::int64_t columns = 160, views = 120, slice_size = 80;
constexpr double field_mm = 100, pitch_mm = field_mm / columns;
constexpr std::int64_t looked_at = 2;  // the row whose slice is made

TestHost& machine() {
  static TestHost host;
  return host;
}
ThreadPool& pool() { return machine().threads; }

enum class Fault { none, weak_rings, rings, strong_rings, severe_stripes, dead_columns, dead_and_severe };

const char* name_of(Fault fault) {
  constexpr const char* names[] = {"clean",          "rings of 0.2 %", "rings of 1 %",        "rings of 5 %",
                                   "severe stripes", "dead columns",   "dead, severe stripes"};
  return names[static_cast<std::size_t>(fault)];
}

struct Scene {
  const char* object;
  Phantom phantom;
  double turn_rad, photons;
  Fault fault;
  std::int64_t rows = 40;  // of the detector
};

// Without a fault; every row of the detector has its own noise.
const Sinogram& faultless(const Scene& scene, std::int64_t row) {
  static std::map<std::tuple<std::string, double, double, std::int64_t>, Sinogram> kept;
  const auto key = std::tuple(std::string(scene.object), scene.turn_rad, scene.photons, row);
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  Sinogram made = parallel_scan(scene.phantom,
                                {.columns = columns,
                                 .views = views,
                                 .field_mm = field_mm,
                                 .turn_rad = scene.turn_rad,
                                 .photons = scene.photons,
                                 .noise = 3 + static_cast<std::uint32_t>(row)},
                                pool());
  return kept.emplace(key, std::move(made)).first->second;
}

// Every row has its own stripes; broken columns go through all of them.
Sinogram row_of(const Scene& scene, std::int64_t row) {
  Sinogram s = faultless(scene, row);
  Random random(11, 3, static_cast<std::uint32_t>(scene.fault), static_cast<std::uint64_t>(row));
  std::vector<float> stripes(columns, 0.0F);
  const double gains = scene.fault == Fault::weak_rings     ? 0.002
                       : scene.fault == Fault::rings        ? 0.01
                       : scene.fault == Fault::strong_rings ? 0.05
                                                            : 0;
  for (float& stripe : stripes) stripe = static_cast<float>(gains * random.normal());
  if (scene.fault == Fault::severe_stripes || scene.fault == Fault::dead_and_severe)
    for (int i = 0; i < 10; ++i) {
      const auto first = static_cast<std::size_t>(5 + random.uniform() * static_cast<double>(columns - 12));
      for (std::size_t k = 0; k < 1 + first % 3; ++k) stripes[first + k] = static_cast<float>(0.3 * random.normal());
    }
  for (std::int64_t y = 0; y < views; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) s.at(x, y) += stripes[static_cast<std::size_t>(x)];
    if (scene.fault < Fault::dead_columns) continue;
    s.at(58, y) = 0;  // stuck at the flat's value, and at a tenth of it
    s.at(93, y) = 2.3F;
  }
  return s;
}

// Parallel rays about an axis in the middle.
const ScanGeometry& geometry_of(const Scene& scene) {
  static std::map<double, ScanGeometry> kept;
  CircularScan orbit;
  orbit.beam = Beam::parallel;
  orbit.columns = columns;
  orbit.rows = scene.rows;
  orbit.pixel_width_mm = orbit.pixel_height_mm = pitch_mm;
  for (std::int64_t view = 0; view < views; ++view)
    orbit.angles_rad.push_back(scene.turn_rad * static_cast<double>(view) / static_cast<double>(views));
  return kept.try_emplace(scene.turn_rad, build_scan(orbit)).first->second;
}

// Rows as the chain hands them over, on the side of the log where the correction works.
ScanFacts facts_of(const Scene& scene, Stage stage) {
  ScanFacts facts;
  facts.geometry = &geometry_of(scene);
  facts.columns = columns;
  facts.rows = scene.rows;
  facts.views = views;
  facts.stage = stage;
  facts.band = [&scene, stage](RowBand band) {
    Buffer<float> values(band.size() * views * columns);
    for (std::int64_t row = band.first; row < band.last; ++row) {
      const Sinogram s = row_of(scene, row);
      for (std::size_t i = 0; i < s.values.size(); ++i)
        values[(row - band.first) * views * columns + static_cast<std::int64_t>(i)] =
            stage == Stage::grey_levels ? std::exp(-s.values[i]) : s.values[i];
    }
    return values;
  };
  return facts;
}

// A slice is linear in its sinogram: the error's slice is the slice's error.
double error_of(const std::vector<float>& sinogram, const std::vector<float>& truth, double turn_rad) {
  std::vector<float> difference(sinogram);
  for (std::size_t i = 0; i < truth.size(); ++i) difference[i] -= truth[i];
  const Slice slice = parallel_slice(std::move(difference), columns, pitch_mm, slice_size, pitch_mm, pool(), turn_rad);
  double sum = 0;
  for (const float value : slice.values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum / static_cast<double>(slice.values.size()));
}

struct Errors {
  double without = 0, with = 0;
  std::string summary;
};

// Flats of a beam that falls to a third at the sides, gains that differ by a tenth, and columns that are dead in them.
Normalisation flats_of(const Scene& scene) {
  Normalisation flats;
  flats.columns = columns;
  flats.rows = scene.rows;
  flats.log_i0 = Buffer<float>(columns * scene.rows);
  Random random(17, 5, 0, 0);
  for (std::int64_t i = 0; i < columns * scene.rows; ++i) {
    const std::int64_t x = i % columns;
    const double t = 2.0 * static_cast<double>(x) / (columns - 1) - 1;
    const bool dead = scene.fault >= Fault::dead_columns && (x == 58 || x == 93);
    const double flat = dead ? 50 : 1e4 * (1 - 0.67 * t * t) * std::max(0.5, 1 + 0.1 * random.normal());
    flats.log_i0[i] = static_cast<float>(std::log(flat));
  }
  return flats;
}

// make: Scene and ScanFacts -> Correction.
Errors errors_of(const Scene& scene, const auto& make, Stage stage) {
  const ScanFacts facts = facts_of(scene, stage);
  const std::unique_ptr<Correction> correction = make(scene, facts);
  Buffer<float> row = facts.band({looked_at, looked_at + 1});
  const SinogramBand band{row.data(), columns, views, {looked_at, looked_at + 1}, scene.rows};
  const Sinogram before = row_of(scene, looked_at);
  correction->apply(band, band.rows, machine().queue());
  std::vector<float> after(row.begin(), row.end());
  if (stage == Stage::grey_levels)
    for (float& value : after) value = -std::log(value);
  Scene clean = scene;
  clean.fault = Fault::none;
  clean.photons = 0;
  const Sinogram truth = row_of(clean, looked_at);
  return {error_of(before.values, truth.values, scene.turn_rad), error_of(after, truth.values, scene.turn_rad),
          correction->summary()};
}

Phantom tube(double off_axis_mm) {
  return {"tube",
          Combine::add,
          {cylinder({off_axis_mm, 0, 0}, 38, 100, 0.03), cylinder({off_axis_mm, 0, 0}, 34, 100, -0.02),
           sphere({10, 5, 0}, 8, 0.03), sphere({-14, -5, 0}, 5, 0.02)}};
}

std::vector<Scene> scenes() {
  using enum Fault;
  const Phantom head = shepp_logan(SheppLogan::modified, 45, 0.04);
  const std::vector<Fault> every{none, weak_rings, rings, strong_rings, severe_stripes, dead_columns, dead_and_severe};
  std::vector<Scene> list;
  const auto add = [&](const char* object, const Phantom& phantom, double turn_rad, double photons,
                       const std::vector<Fault>& faults, std::int64_t rows = 40) {
    for (const Fault fault : faults) list.push_back({object, phantom, turn_rad, photons, fault, rows});
  };
  if (!std::getenv("LEPUS_HARM")) {
    add("porous body", porous_body(), 2 * pi, 1e5, every);
    add("porous body", porous_body(), 2 * pi, 0, {none});
    add("head", head, pi, 5e3, {none, rings, dead_and_severe});
    add("tube on the axis", tube(0), 2 * pi, 1e5, {none, rings, strong_rings});
    add("tube on the axis", tube(0), 2 * pi, 1e5, {none}, 4);  // rows that may share a speck on the detector
    return list;
  }
  for (const double turn_rad : {2 * pi, pi})
    for (const double photons : {0.0, 1e5, 5e3}) {
      add("porous body", porous_body(), turn_rad, photons, every);
      add("head", head, turn_rad, photons, every);
      add("tube on the axis", tube(0), turn_rad, photons, every);
      add("tube off the axis", tube(1.5), turn_rad, photons, every);
      add("tube off the axis", tube(1.5), turn_rad, photons, every, 4);
    }
  return list;
}

void print_errors(const Scene& scene, const Errors& e) {
  std::printf("%-17s %3.0f deg %6.0f photons  %-20s error %.5f -> %.5f (%.3f)  %.60s\n", scene.object,
              degrees(scene.turn_rad), scene.photons, name_of(scene.fault), e.without, e.with,
              e.without > 0 ? e.with / e.without : 1.0, e.summary.c_str());
}

constexpr double allowed = 1.02;
constexpr double rounding = 1e-7;  // of exp and log, in a slice of 0.04 / mm

TEST(AutomaticHarm, RingsAutoIsNoWorseThanNothingAndTakesOutWhatIsSevere) {
  const auto automatic_rings = [](const Scene&, const ScanFacts& facts) {
    return make_rings({.method = std::nullopt}, facts);
  };
  for (const Scene& scene : scenes()) {
    const Errors e = errors_of(scene, automatic_rings, Stage::line_integrals);
    print_errors(scene, e);
    EXPECT_LE(e.with, allowed * e.without) << scene.object << ", " << name_of(scene.fault);
    if (scene.fault == Fault::none) {
      EXPECT_EQ(e.with, e.without) << e.summary;  // auto chooses nothing
    }
    if (scene.photons > 0 && scene.fault >= Fault::strong_rings) {
      EXPECT_LT(e.with, 0.8 * e.without) << scene.object << ", " << name_of(scene.fault) << ": " << e.summary;
    }
  }
}

TEST(AutomaticHarm, HotPixelsAreNoWorseThanNothing) {
  const auto hot_pixels = [](const Scene&, const ScanFacts& facts) { return make_hot_pixels({}, facts); };
  for (const Scene& scene : scenes()) {
    const Errors e = errors_of(scene, hot_pixels, Stage::grey_levels);
    print_errors(scene, e);
    EXPECT_LE(e.with, allowed * e.without + rounding) << scene.object << ", " << name_of(scene.fault);
  }
}

TEST(AutomaticHarm, DeadPixelsAreNoWorseThanNothingAndTakeOutDeadColumns) {
  const auto dead_pixels_of_flats = [](const Scene& scene, const ScanFacts& facts) {
    return make_dead_pixels({}, facts, dead_pixels(flats_of(scene), DeadPixelOptions{}.threshold));
  };
  for (const Scene& scene : scenes()) {
    const Errors e = errors_of(scene, dead_pixels_of_flats, Stage::line_integrals);
    print_errors(scene, e);
    EXPECT_LE(e.with, allowed * e.without) << scene.object << ", " << name_of(scene.fault);
    if (scene.fault == Fault::dead_columns && scene.photons > 0) {
      EXPECT_LT(e.with, 0.3 * e.without) << scene.object;
    }
  }
}

// The step itself can do harm, or the bars above would hold for any step.
TEST(AutomaticHarm, OtherChoicesDoHarm) {
  const Scene clean{"tube on the axis", tube(0), 2 * pi, 1e5, Fault::none};
  for (const RingMethod method : {RingMethod::trend, RingMethod::sorting, RingMethod::combined}) {
    const auto rings = [&](const Scene&, const ScanFacts& facts) { return make_rings({.method = method}, facts); };
    const Errors e = errors_of(clean, rings, Stage::line_integrals);
    print_errors(clean, e);
    EXPECT_GT(e.with, 1.15 * e.without) << name_of(method);
  }
}

}  // namespace
}  // namespace lepus
