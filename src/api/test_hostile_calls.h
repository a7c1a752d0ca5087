// SPDX-License-Identifier: Apache-2.0
// For the tests of what a struct of options can hold and no call can do: a scan and a volume to call with, and numbers
// that are none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/test_support.h"
#include <lepus/lepus.h>

namespace lepus::hostile {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t huge = std::int64_t{1} << 62;
inline const std::filesystem::path unnamed;

#define EXPECT_REFUSED(action, part) EXPECT_LEPUS_ERROR(action, ErrorKind::usage, part)

inline SimulationOptions small_simulation() {
  SimulationOptions options;
  options.phantom.name = "ball";
  options.scan = {.source_axis_mm = 500,
                  .source_detector_mm = 1000,
                  .columns = 40,
                  .rows = 24,
                  .pixel_width_mm = 2,
                  .pixel_height_mm = 2,
                  .angles_rad = equal_angles_rad(24)};
  options.rays.subpixels = 1;
  options.flats = options.darks = 1;
  options.truth_samples = 1;
  options.format = FrameFormat::raw;
  options.call.threads = 2;
  return options;
}

// A scan and a volume, made once.
struct Example {
  Example() { report = simulate_scan(folder / "scan", small_simulation()); }
  test::TempFolder folder;
  SimulationReport report;
};

class HostileCalls : public testing::Test {
protected:
  static void SetUpTestSuite() { example_ = std::make_unique<Example>(); }
  static void TearDownTestSuite() { example_.reset(); }
  static const std::filesystem::path& scan_file() { return example_->report.scan_file; }
  static const std::filesystem::path& truth() { return example_->report.truth_volume; }
  std::filesystem::path output(const std::string& name) const { return out_ / name; }
  std::size_t outputs() const { return out_.entries(); }

private:
  static inline std::unique_ptr<Example> example_;
  test::TempFolder out_;
};

inline SliceOptions slice_of(const std::filesystem::path& volume, const std::filesystem::path& picture) {
  SliceOptions options;
  options.volume = volume;
  options.picture = picture;
  return options;
}

inline CompareOptions comparison_of(const std::filesystem::path& reference, const std::filesystem::path& volume) {
  CompareOptions options;
  options.reference = reference;
  options.volume = volume;
  return options;
}

}  // namespace lepus::hostile
