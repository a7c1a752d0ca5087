// SPDX-License-Identifier: Apache-2.0
// What the tests of scanners' files share: a scan that is not symmetric, simulated into them and imported again.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "core/context.h"
#include "core/format.h"
#include "import/import_scan.h"
#include "io/test_support.h"
#include "simulate/simulate.h"

namespace lepus::round_trip {

namespace fs = std::filesystem;

inline SimulationOptions odd_scan() {
  SimulationOptions options;
  options.phantom.name = "ball";
  CircularScan& scan = options.scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 900;
  scan.columns = 20;
  scan.rows = 12;
  scan.pixel_width_mm = scan.pixel_height_mm = 4;
  for (int view = 0; view < 7; ++view) scan.angles_rad.push_back(radians(25 + 51.25 * view));
  options.flats = 2;
  options.darks = 2;
  options.write_truth = false;
  return options;
}

// Largest difference of the matrices' elements, as a share of the largest element of each matrix.
inline double difference(const ScanGeometry& one, const ScanGeometry& other) {
  if (one.matrices.size() != other.matrices.size()) return INFINITY;
  double worst = 0;
  for (std::size_t view = 0; view < one.matrices.size(); ++view) {
    double largest = 0, farthest = 0;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 4; ++column) {
        const double value = one.matrices[view](row, column);
        largest = std::max(largest, std::abs(value));
        farthest = std::max(farthest, std::abs(value - other.matrices[view](row, column)));
      }
    if (!(farthest / largest <= worst)) worst = farthest / largest;
  }
  return worst;
}

inline void simulate_into(const SimulationOptions& options, const fs::path& folder) {
  ThreadPool threads(1);
  CancelFlag cancel;
  Progress progress;
  Context context{threads, cancel, progress};
  simulate_scan(options, folder, context);
}

inline void expect_round_trip(const SimulationOptions& options, bool mirrored_rows = false) {
  SCOPED_TRACE(options.scanner);
  const test::TempFolder folder;
  simulate_into(options, folder / "scan");
  const Scan imported = read_imported(folder / "scan");
  EXPECT_EQ(imported.recorded.frames, static_cast<std::int64_t>(options.scan.angles_rad.size()));
  EXPECT_EQ(imported.recorded.columns, options.scan.columns);
  EXPECT_EQ(imported.recorded.rows, options.scan.rows);
  CircularScan recorded = options.scan;
  recorded.mirror_rows = mirrored_rows;
  constexpr double float_headers = 1e-6;  // Zeiss keeps its numbers in 24 bits: 6e-8, added up
  EXPECT_LT(difference(build_scan(recorded), imported.geometry), float_headers);
}

}  // namespace lepus::round_trip
