// SPDX-License-Identifier: Apache-2.0
// A simulated scan in each scanner's files -> imported: the projection matrices are those of the scan that was
// simulated. tests/program compares the volumes.
#include <cmath>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "core/context.h"
#include "import/import_scan.h"
#include "io/test_support.h"
#include "simulate/simulate.h"

namespace lepus {
namespace {

namespace fs = std::filesystem;

SimulationOptions odd_scan() {
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
double difference(const ScanGeometry& one, const ScanGeometry& other) {
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

void simulate_into(const SimulationOptions& options, const fs::path& folder) {
  ThreadPool threads(1);
  CancelFlag cancel;
  Progress progress;
  Context context{threads, cancel, progress};
  simulate_scan(options, folder, context);
}

void expect_round_trip(const SimulationOptions& options, bool mirrored_rows = false) {
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

TEST(ImportRoundTrip, zeiss) {
  SimulationOptions options = odd_scan();
  options.scanner = "zeiss";
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  expect_round_trip(options);
  options.scan.beam = Beam::parallel;
  expect_round_trip(options);
}

TEST(ImportRoundTrip, nxtomo) {
  SimulationOptions options = odd_scan();
  options.scanner = "nxtomo";
  options.scan.detector_shift_u_mm = 3;
  options.scan.pixel_height_mm = 3;
  expect_round_trip(options);
  options.scan.beam = Beam::parallel;
  expect_round_trip(options);
}

TEST(ImportRoundTrip, dxchange_and_edf) {
  SimulationOptions options = odd_scan();
  options.scan.beam = Beam::parallel;
  options.scanner = "dxchange";
  expect_round_trip(options);
  options.scanner = "edf";
  for (std::size_t view = 0; view < options.scan.angles_rad.size(); ++view)
    options.scan.angles_rad[view] = radians(25.5 * static_cast<double>(view));
  expect_round_trip(options);
}

TEST(ImportRoundTrip, varian) {
  SimulationOptions options = odd_scan();
  options.scanner = "varian";
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  options.scan.pixel_height_mm = 3;
  expect_round_trip(options, true);
}

TEST(ImportMistakes, are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "varian";
  simulate_into(options, folder / "varian");
  const fs::path projections = folder / "varian/Acquisitions/1";
  fs::copy(projections, folder / "varian/Acquisitions/2");
  EXPECT_LEPUS_ERROR(read_imported(folder / "varian"), ErrorKind::input, "Proj_0000");
  fs::remove_all(folder / "varian/Acquisitions/2");
  fs::remove(projections / "Proj_00003.xim");
  EXPECT_LEPUS_ERROR(read_imported(folder / "varian"), ErrorKind::input, "Proj_00003.xim");
  options.scanner = "zeiss";
  simulate_into(options, folder / "zeiss");
  fs::resize_file(folder / "zeiss/scan.txrm", fs::file_size(folder / "zeiss/scan.txrm") - 5000);
  EXPECT_LEPUS_ERROR(read_imported(folder / "zeiss"), ErrorKind::input, "scan.txrm");
}

TEST(ImportSharedSamples, every_real_file_is_recognised_and_its_fields_are_listed) {
  const char* shared = std::getenv("LEPUS_SHARED_DATA");
  const fs::path data = shared ? fs::path(shared) : fs::path(LEPUS_SOURCE_DIR) / "../shared/data";
  if (!fs::exists(data / "dxchange_formats")) GTEST_SKIP() << "SKIPPED: no " << data << "; set LEPUS_SHARED_DATA";
  struct Sample {
    const char *file, *scanner;
    std::size_t fields;
    std::int64_t views;
  };
  for (const Sample& sample :
       {Sample{"dxchange_formats/txrm_test_chip_tomo.txrm", "Zeiss Xradia", 663, 7},
        Sample{"dxchange_formats/test_chip00.xrm", "Zeiss Xradia", 685, 1},
        Sample{"dxchange_formats/reader.h5", "DXchange", 2, 4}, Sample{"tomopy_tooth/tooth.h5", "DXchange", 7, 181},
        Sample{"varian_xim/FilterBowtie.xim", "Varian", 148, 1}}) {
    SCOPED_TRACE(sample.file);
    const ImportedScan imported = import_place(data / sample.file, {});
    EXPECT_EQ(imported.scanner, sample.scanner);
    EXPECT_EQ(imported.fields.size(), sample.fields);
    const Scan scan = read_scan_text(scan_file_text(imported, data), data / "scan.toml");
    EXPECT_EQ(scan.recorded.frames, sample.views);
  }
}

TEST(ImportRoundTrip, elekta) {
  SimulationOptions options = odd_scan();
  options.scanner = "elekta";
  options.scan.source_axis_mm = 1000;
  options.scan.source_detector_mm = 1536;
  options.scan.pixel_width_mm = 409.6 / 20;
  options.scan.pixel_height_mm = 409.6 / 12;
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  expect_round_trip(options, true);
}

}  // namespace
}  // namespace lepus
