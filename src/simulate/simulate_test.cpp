// SPDX-License-Identifier: Apache-2.0
// Whole simulated scans on disk: what is in the folder, that it reads back, that nothing is left after a failure.
#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "io/frames.h"
#include "io/volume_file.h"
#include <lepus/error.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

class Simulate : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("lepus_simulate_" + std::to_string(::getpid()) + "_" +
                                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    o.scan.source_axis_mm = 200;
    o.scan.source_detector_mm = 300;
    o.scan.columns = 48;
    o.scan.rows = 40;
    o.scan.pixel_width_mm = o.scan.pixel_height_mm = 1.5;
    for (int i = 0; i < 6; ++i) o.scan.angles_rad.push_back(i * pi / 3);
    o.flats = 3;
    o.darks = 2;
    o.truth_samples = 2;
  }
  void TearDown() override { fs::remove_all(folder); }

  SimulationReport run(const std::string& name, int threads = 2) {
    ThreadPool pool(threads);
    Progress quiet;
    Context context{pool, cancel, quiet};
    return simulate_scan(o, folder / name, context);
  }
  static std::vector<float> read(const fs::path& scan_folder, const std::string& what, std::int64_t frame) {
    const auto source = open_frames({.files = expand_pattern(scan_folder, what), .dataset = {}, .raw = {}});
    std::vector<float> out(static_cast<std::size_t>(source->columns() * source->rows()));
    source->read(frame, 0, source->rows(), out.data());
    return out;
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream t;
    t << in.rdbuf();
    return t.str();
  }
  std::int64_t entries() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator{}); }

  fs::path folder;
  SimulationOptions o;
  CancelFlag cancel;
};

TEST_F(Simulate, FramesGoBackToLineIntegrals) {
  const SimulationReport report = run("scan");
  EXPECT_EQ(report.views, 6);
  EXPECT_EQ(report.saturated_pixels, 0);
  EXPECT_GT(report.largest_line_integral, 0.1);
  const auto flat = read(folder / "scan", "flats/*.tif", 1), dark = read(folder / "scan", "darks/*.tif", 1);
  const ScanGeometry g = build_scan(o.scan);
  const Phantom phantom = make_phantom(o.phantom, fitting_size_mm(g), 1).phantom;
  const PhantomProjector projector(phantom, g, o.rays);
  ThreadPool pool(1);
  std::vector<float> p(48 * 40);
  for (const std::int64_t view : {0, 5}) {
    projector.project(view, p.data(), pool);
    const auto frame = read(folder / "scan", "frames/*.tif", view);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double net = frame[i] - dark[i], open = flat[i] - dark[i];
      ASSERT_NEAR(-std::log(net / open), p[i], 1 / (net - 1) + 1 / open);  // half a level each
    }
  }
  const auto truth = open_volume(report.truth_volume);
  EXPECT_GT(truth->grid().nx, 20);
  EXPECT_EQ(entries(), 1);  // no partial folder
}

TEST_F(Simulate, ScanFileSaysWhatWasGiven) {
  o.scan.detector_shift_u_mm = 4.5;
  o.scan.pitch_rad = radians(1.25);
  o.hidden_shift_px = 3;
  o.jitter = {.source_mm = 0.1, .detector_mm = 0.2, .in_plane_deg = 0.05, .angle_deg = 0.1, .known = true};
  o.detector.hot_pixels = 4;
  o.detector.dead_columns = 1;
  o.detector.beam_drift = -0.05;
  o.phantom.name = "beads";
  run("scan");
  const toml::table t = toml::parse(text_of(folder / "scan/scan.toml"));
  EXPECT_EQ(t["frames"]["files"].value<std::string>(), "frames/*.tif");
  EXPECT_EQ(t["frames"]["flats"].value<std::string>(), "flats/*.tif");
  EXPECT_EQ(t["geometry"]["detector_shift_u_mm"].value<double>(), 4.5);  // the hidden shift is not in it
  EXPECT_NEAR(*t["geometry"]["pitch_deg"].value<double>(), 1.25, 1e-14);
  EXPECT_EQ(t["geometry"]["arc_deg"].value<double>(), 360.0);
  EXPECT_EQ(t["geometry"]["perturbations_file"].value<std::string>(), "jitter.csv");
  const auto truth = nlohmann::json::parse(text_of(folder / "scan/truth.json"));
  EXPECT_EQ(truth["hidden_shift_px"], 3.0);
  EXPECT_EQ(truth["hot_pixels"].size(), 4u);
  EXPECT_EQ(truth["dead_columns"].size(), 1u);
  EXPECT_EQ(truth["phantom"]["spheres"].size(), 24u);
  EXPECT_EQ(truth["jitter"].size(), 6u);
  EXPECT_NEAR(truth["beam"][5].get<double>(), 0.95, 1e-12);
  // jitter.csv holds the same numbers, ten in each line.
  std::ifstream csv(folder / "scan/jitter.csv");
  std::string line;
  int lines = 0;
  for (; std::getline(csv, line); ++lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9);
    if (lines == 2) {
      EXPECT_EQ(std::stod(line), truth["jitter"][2]["source_mm"][0].get<double>());
    }
  }
  EXPECT_EQ(lines, 6);
}

TEST_F(Simulate, HiddenShiftMovesTheFrames) {
  o.phantom = {.name = "ball", .size_mm = 20, .value_per_mm = 0.02};
  o.content = SimulatedContent::line_integrals;
  o.write_truth = false;
  run("a");
  o.hidden_shift_px = 2;
  run("b");
  const auto a = read(folder / "a", "frames/*.tif", 1), b = read(folder / "b", "frames/*.tif", 1);
  // The detector two pixels further to the right: what was in column u is now in column u - 2.
  for (std::size_t v = 0; v < 40; ++v)
    for (std::size_t u = 2; u < 48; ++u) ASSERT_NEAR(a[v * 48 + u], b[v * 48 + u - 2], 1e-6);
  EXPECT_GT(a[20 * 48 + 24], 0.3);
  EXPECT_FALSE(fs::exists(folder / "a/flats"));
  EXPECT_EQ(text_of(folder / "a/scan.toml"), text_of(folder / "b/scan.toml"));
}

TEST_F(Simulate, SameBitsForAnyThreads) {
  o.detector.photons = 1000;
  o.detector.electronic_noise = 3;
  o.jitter.source_mm = 0.1;
  run("a", 1);
  run("b", 3);
  for (const char* file : {"frames/0003.tif", "flats/0001.tif", "darks/0000.tif", "scan.toml", "truth.json"})
    EXPECT_EQ(text_of(folder / "a" / file), text_of(folder / "b" / file)) << file;
  EXPECT_FALSE(text_of(folder / "a/frames/0003.tif").empty());
}

TEST_F(Simulate, RawFrames) {
  o.format = FrameFormat::raw;
  o.scan.angles_rad = {0.3, 0.1, 2.0};  // unequal steps go into a file
  run("scan");
  EXPECT_EQ(fs::file_size(folder / "scan/frames.raw"), 3u * 48 * 40 * 2);
  EXPECT_EQ(fs::file_size(folder / "scan/flats.raw"), 3u * 48 * 40 * 2);
  const toml::table t = toml::parse(text_of(folder / "scan/scan.toml"));
  EXPECT_EQ(t["frames"]["files"].value<std::string>(), "frames.raw");
  EXPECT_EQ(t["frames"]["raw"]["columns"].value<std::int64_t>(), 48);
  EXPECT_EQ(t["geometry"]["angles_file"].value<std::string>(), "angles.txt");
  std::ifstream angles(folder / "scan/angles.txt");
  double first = 0, second = 0;
  angles >> first >> second;
  EXPECT_NEAR(second, degrees(0.1), 1e-13);
}

TEST_F(Simulate, OverwritesOnlyItsOwnAndOnlyWithForce) {
  o.write_truth = false;
  run("scan");
  EXPECT_THROW(run("scan"), Error);
  o.call.force = true;
  o.flats = 1;
  run("scan");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "scan/flats"), fs::directory_iterator{}), 1);
  fs::create_directories(folder / "mine");
  std::ofstream(folder / "mine/thesis.txt") << "years of work";
  try {
    run("mine");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::disk);
  }
  EXPECT_EQ(text_of(folder / "mine/thesis.txt"), "years of work");
}

TEST_F(Simulate, LeavesNothingWhenInterrupted) {
  cancel.cancel();
  try {
    run("scan");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::cancelled);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(Simulate, RefusesContradictions) {
  const auto refused = [&](auto&& change) {
    SimulationOptions saved = o;
    change();
    EXPECT_THROW(run("scan"), Error);
    EXPECT_EQ(entries(), 0);
    o = saved;
  };
  refused([&] { o.scan.angles_rad.clear(); });
  refused([&] { o.tube_kv = 100, o.spectrum_file = "s.txt"; });
  refused([&] { o.spectrum_file = folder / "missing.txt"; });
  refused([&] { o.phantom.name = "shep-logan"; });
  refused([&] { o.phantom.name = "missing.toml"; });
  refused([&] { o.jitter.angle_deg = -1; });
  refused([&] { o.truth_samples = 0; });
  refused([&] { o.truth_file = "/tmp/elsewhere.mha"; });
  refused([&] { o.flats = -1; });
  refused([&] { o.detector.bits = 20; });
  refused([&] { o.rays.subpixels = 0; });
}

TEST_F(Simulate, EveryBuiltinPhantomCanBeScanned) {
  o.write_truth = false;
  o.scan.angles_rad = {0.4};
  o.flats = o.darks = 1;
  o.phantom.pores = 300;
  for (const std::string& name : builtin_phantom_names()) {
    o.phantom.name = name;
    const SimulationReport report = run(name);
    EXPECT_GT(report.largest_line_integral, 0.05) << name;
    EXPECT_EQ(report.porosity.has_value(), name == "porous-block");
  }
}

}  // namespace
}  // namespace lepus
