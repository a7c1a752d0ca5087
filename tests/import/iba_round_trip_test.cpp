// SPDX-License-Identifier: Apache-2.0
// IBA's files, XML and DICOM: the matrices of the simulated scan come back, with and without flexion; what is wrong is
// named.
#include "round_trip.h"

namespace lepus {
namespace {

using namespace round_trip;

TEST(ImportRoundTrip, iba) {
  SimulationOptions options = odd_scan();
  options.scanner = "iba";
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  options.scan.pixel_height_mm = 3;
  for (std::size_t view = 0; view < 7; ++view)
    options.scan.angles_rad[view] = radians(360.0 / 7 * static_cast<double>(view));
  expect_round_trip(options, true);
}

TEST(ImportRoundTrip, iba_dicom) {
  SimulationOptions options = odd_scan();
  options.scan.detector_shift_u_mm = 3;
  options.scan.detector_shift_v_mm = -5;
  options.scan.pixel_height_mm = 3;
  options.scan.axis_offset_mm = 1.5;
  options.scan.in_plane_rad = 0.02;
  options.scan.pitch_rad = -0.03;
  options.scan.yaw_rad = 0.05;
  for (const char* scanner : {"iba-dicom", "iba-flexmap"}) {
    options.scanner = scanner;
    expect_round_trip(options, true);
  }
  for (std::size_t view = 0; view < 7; ++view) {
    const double t = static_cast<double>(view);
    options.scan.perturbations.push_back({.source_mm = {std::sin(t), std::cos(2 * t), std::sin(3 * t)},
                                          .detector_mm = {std::cos(t), std::sin(4 * t), -std::sin(t)},
                                          .in_plane_rad = 0.01 * std::sin(2 * t),
                                          .pitch_rad = 0.02 * std::cos(t),
                                          .yaw_rad = -0.03 * std::sin(t),
                                          .angle_rad = 0.001 * t});
  }
  expect_round_trip(options, true);
  options.scanner = "iba-dicom";  // its model has no place for them
  const test::TempFolder folder;
  EXPECT_LEPUS_ERROR(simulate_into(options, folder / "scan"), ErrorKind::unsupported, "deviations of single views");
}

// A calibration beside the projections goes before that in them: every coefficient of every number has a value.
TEST(ImportRoundTrip, iba_calibration_beside_the_projections) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "iba-dicom";
  simulate_into(options, folder / "scan");
  std::string xml = "<Calibration><Axis axis=\"CBCT\"><Source>";
  int number = 0;
  const auto coefficient = [](int of, int k) { return 0.01 * (of + 2) * (k + 1) * (k == 1 ? 0.01 : 1); };
  for (const char* name : {"Tx", "Ty", "Tz", "Px", "Py", "Pz", "Rx", "Ry", "Rz"}) {
    xml += format("<{} MSE=\"1\"", name);
    for (int k = 0; k < 5; ++k) xml += format(" p{}=\"{:.17g}\"", k, coefficient(number, k));
    xml += "/>";
    ++number;
  }
  test::write_file(folder / "scan/flexion.xml", xml + "</Source></Axis></Calibration>");
  test::write_file(folder / "scan/setup.xml",
                   "<Room><Axis axis=\"other\"><D sid=\"1\" sdd=\"2\"/></Axis><Axis axis=\"CBCT\"><D sid=\"510\" "
                   "sdd=\"920\"/><AngleOffset projection=\"-80\"/></Axis></Room>");
  CircularScan expected = options.scan;
  expected.source_axis_mm = 510;
  expected.source_detector_mm = 920;
  expected.mirror_rows = true;
  for (double& angle : expected.angles_rad) {
    const double t = std::remainder(degrees(angle) + 90, 360), t_rad = radians(t);
    double d[9];
    for (int i = 0; i < 9; ++i)
      d[i] = coefficient(i, 0) + coefficient(i, 1) * t +
             coefficient(i, 2) * std::cos(coefficient(i, 3) * t_rad + coefficient(i, 4));
    expected.perturbations.push_back({.source_mm = {d[0], -d[1], -d[2]},
                                      .detector_mm = {d[3], -d[4], -d[5]},
                                      .in_plane_rad = -radians(d[8]),
                                      .pitch_rad = radians(d[6]),
                                      .yaw_rad = -radians(d[7])});
    angle = radians(t - 80);
  }
  EXPECT_LT(difference(build_scan(expected), read_imported(folder / "scan").geometry), 1e-8);  // angles of ten digits
  test::write_file(folder / "scan/second.xml", xml + "</Source></Axis></Calibration>");
  EXPECT_LEPUS_ERROR(read_imported(folder / "scan"), ErrorKind::input, "two files with a calibration");
}

bool is_warned(const Scan& scan, const std::string& words) {
  return std::ranges::any_of(scan.warnings, [&](const auto& w) { return w.find(words) != std::string::npos; });
}

TEST(ImportMistakes, of_iba_dicom_are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "iba-dicom";
  const fs::path place = folder / "dicom", third_file = place / "proj_0003.dcm";
  simulate_into(options, place);
  const std::string third = test::read_file(third_file);
  const auto with = [&](std::string what, const std::string& by) {  // of the same length
    std::string text = third;
    test::write_file(third_file, text.replace(text.find(what), what.size(), by));
  };
  with("IMAGX:1.6", "IMAGX:1.2");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "it is of version \"IMAGX:1.2\"");
  with("IBA ", "ABC ");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "is not of IBA");
  with({"\x0A\x30\x1E\x01", 4}, {"\x0A\x30\x1F\x01", 4});  // another element than the gantry angle
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "does not say its angle");
  with("sid=\"500\"", "sid=\"501\"");
  EXPECT_TRUE(is_warned(read_imported(place), "1 of 7 projections have another room setup"));
  with("4\\4", "4\\5");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "its pixels have another size");
  test::write_file(third_file, third.substr(0, 600));
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "proj_0003.dcm");
  fs::remove(third_file);
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "proj_0003.dcm is missing");
  test::write_file(third_file, third);

  const auto in_all = [&](const std::string& what, const std::string& by) {
    for (const auto& entry : fs::directory_iterator(place)) {
      std::string text = test::read_file(entry.path());
      if (const std::size_t at = text.find(what); at != std::string::npos)
        test::write_file(entry.path(), text.replace(at, what.size(), by));
    }
  };
  EXPECT_FALSE(is_warned(read_imported(place), "AngleOffset"));
  in_all("AngleOffset", "OtherOffset");
  EXPECT_TRUE(is_warned(read_imported(place), "no AngleOffset projection: the source is taken -90 degrees"));
  in_all("<Px MSE", "<Qx MSE");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "Px does not have five coefficients");
  in_all({"\x01\x30\x13\x00", 4}, {"\x01\x30\x14\x00", 4});
  EXPECT_TRUE(is_warned(read_imported(place), "no calibration is in the projections"));
  in_all({"\x01\x30\x12\x00", 4}, {"\x01\x30\x15\x00", 4});
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "source_axis_mm");
  in_all("IMAGX:1.6", "IMAGX:3.0");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "version of the imager is not known");
}

TEST(ImportMistakes, of_iba_flexmaps_are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "iba-flexmap";
  const fs::path place = folder / "scan", map = place / "calibration.xml";
  simulate_into(options, place);
  EXPECT_FALSE(is_warned(read_imported(place), "flexmap"));
  const std::string whole = test::read_file(map);
  std::string text = whole;
  const std::size_t first_line = text.find("uid=\"2\">\n") + 9;
  test::write_file(map, text.erase(first_line, text.find('\n', first_line) + 1 - first_line));
  EXPECT_TRUE(is_warned(read_imported(place), "1 of 7 projections lie outside of the flexmap"));
  test::write_file(map, whole.substr(0, whole.size() / 2));
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "calibration.xml");
  fs::remove(map);
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "the calibration is missing");
  options.scan.angles_rad[3] = options.scan.angles_rad[1] + 2 * pi;
  EXPECT_LEPUS_ERROR(simulate_into(options, folder / "twice"), ErrorKind::unsupported, "two views at the same angle");
}

TEST(ImportMistakes, of_iba_are_named) {
  const test::TempFolder folder;
  SimulationOptions options = odd_scan();
  options.scanner = "iba";
  EXPECT_LEPUS_ERROR(simulate_into(options, folder / "other"), ErrorKind::unsupported, "a full turn from 0");
  for (std::size_t view = 0; view < 7; ++view)
    options.scan.angles_rad[view] = radians(360.0 / 7 * static_cast<double>(view));
  const fs::path place = folder / "iba";
  simulate_into(options, place);
  const std::string third = test::read_file(place / "proj_0003.xml");
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string text = third;
    test::write_file(place / "proj_0003.xml", text.replace(text.find(what), what.size(), by));
  };
  with("size x=\"20\"", "size x=\"21\"");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "a projection differs from the first one");
  with("Type_uint16", "Type_int99");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "the type of the pixels is not known");
  with("1 0 0", "0 1 0");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "the image is turned");
  with("rawFile=\"", "rawFile=\"../");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "outside the folder");
  fs::remove(place / "proj_0003.xml");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "proj_0003.xml is missing");
  test::write_file(place / "proj_0003.xml", third);
  fs::remove(place / "room_setup.xml");
  EXPECT_LEPUS_ERROR(read_imported(place), ErrorKind::input, "source_axis_mm");
}

}  // namespace
}  // namespace lepus
