// SPDX-License-Identifier: Apache-2.0
// A simulated scan in each scanner's files -> imported: the projection matrices are those of the scan that was
// simulated. tests/program compares the volumes.
#include "round_trip.h"

namespace lepus {
namespace {

using namespace round_trip;

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

TEST(ImportRoundTrip, xrad) {
  SimulationOptions options = odd_scan();
  options.scanner = "xrad";
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  options.scan.pixel_height_mm = 3;
  options.scan.axis_offset_mm = 1.5;
  options.scan.in_plane_rad = 0.02;
  options.scan.pitch_rad = -0.03;
  options.scan.yaw_rad = 0.05;
  expect_round_trip(options, true);
}

TEST(ImportRoundTrip, sinograms) {
  for (const char* scanner : {"sinograms", "sinograms-text"}) {
    SimulationOptions options = odd_scan();
    options.scanner = scanner;
    options.scan.detector_shift_u_mm = 3;
    options.scan.detector_shift_v_mm = -5;
    options.scan.pixel_height_mm = 3;
    options.scan.axis_offset_mm = 1.5;
    options.scan.in_plane_rad = 0.02;
    expect_round_trip(options);
    for (double& angle : options.scan.angles_rad) angle = -angle;
    options.scan.beam = Beam::parallel;
    expect_round_trip(options);
  }
}

// The pixels of every view, of the flats and of the darks are those of lepus' own files.
TEST(ImportRoundTrip, sinograms_hold_the_same_pixels) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  simulate_into(options, folder / "own");
  const Scan own = read_imported(folder / "own");
  for (const char* scanner : {"sinograms", "sinograms-text"}) {
    options.scanner = scanner;
    simulate_into(options, folder / scanner);
    const Scan imported = read_imported(folder / scanner);
    for (const auto& [one, other] :
         {std::pair{own.frames, imported.frames}, {*own.flats, *imported.flats}, {*own.darks, *imported.darks}}) {
      const auto expected = open_frames(one), found = open_frames(other);
      ASSERT_EQ(found->frames(), expected->frames());
      ASSERT_EQ(found->pixel_type(), PixelType::u16);
      std::vector<float> a(static_cast<std::size_t>(20 * 12)), b(a.size());
      for (std::int64_t frame = 0; frame < expected->frames(); ++frame) {
        expected->read(frame, 0, 12, a.data());
        found->read(frame, 0, 12, b.data());
        EXPECT_EQ(a, b) << scanner << ", frame " << frame;
      }
    }
  }
}

TEST(ImportMistakes, of_sinograms_are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "sinograms-text";
  const fs::path place = folder / "scan";
  simulate_into(options, place);
  const std::string third = test::read_file(place / "scan_0003.sin");
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string text = third;
    text.replace(text.find(what), what.size(), by);
    test::write_file(place / "scan_0003.sin", text);
  };
  with("row 3", "row 4");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "the images do not follow each other");
  with("views 7", "views 8");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "scan_0003.sin");
  with("end 3", "");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "the tail does not say end");
  with("columns 20", "columns x");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "columns is no integer");
  fs::remove(place / "scan_0003.sin");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "scan_0003.sin is missing");
}

TEST(ImportMistakes, of_xrad_are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "xrad";
  simulate_into(options, folder / "xrad");
  const Scan whole = read_imported(folder / "xrad");
  EXPECT_TRUE(whole.flats && whole.darks);
  fs::rename(folder / "xrad/flat.header", folder / "xrad/flat.header.kept");
  EXPECT_EQ(read_imported(folder / "xrad").intensity, Intensity::value);  // from the first view, with a warning
  fs::rename(folder / "xrad/flat.header.kept", folder / "xrad/flat.header");
  fs::copy(folder / "xrad/scan.header", folder / "xrad/second.header");
  EXPECT_LEPUS_ERROR(read_imported(folder / "xrad"), ErrorKind::input, "2 scans lie in this folder");
  fs::remove(folder / "xrad/second.header");
  fs::resize_file(folder / "xrad/scan.img", fs::file_size(folder / "xrad/scan.img") - 1);
  EXPECT_LEPUS_ERROR(read_imported(folder / "xrad"), ErrorKind::input, "the projections have another size");
  fs::remove(folder / "xrad/scan.img");
  EXPECT_LEPUS_ERROR(read_imported(folder / "xrad"), ErrorKind::input, "the projections are not there");
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
