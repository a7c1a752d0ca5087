// SPDX-License-Identifier: Apache-2.0
// IBA's calibrations: the flexion as lepus describes it gives the matrices of RTK's nine parameters, made from the same
// numbers by RTK's formulas; models and flexmaps between their angles and beyond; what is wrong in them.
#include <cmath>

#include "geometry/exchange.h"
#include "import/iba_calibration.h"
#include "import/test_folder.h"

namespace lepus {
namespace {

template <class Call>
void expect_error(const Call& call, const std::string& what, const std::string& why) {
  try {
    call();
    ADD_FAILURE() << "no error: " << what;
  } catch (const Error& error) {
    import_test::expect_says(error, what);
    import_test::expect_says(error, why);
  }
}

constexpr double sid = 2874, sdd = 3441;  // of source and axis, source and detector

// RTK's source-to-detector distance has sin(Rx Py) where the rotation gives sin(Rx) Py.
enum class DetectorDistance { by_rotation, as_in_rtk };

std::string rtk_projection(double angle_deg, const IbaDeviation& d, DetectorDistance distance) {
  const double bx = radians(d[6]), by = radians(d[7]), bz = radians(d[8]);
  struct Turned {
    double x, y, z;
  };
  const auto turned = [&](double x, double y, double z) {  // about y, then x, then z, against the angles
    const double x1 = std::cos(by) * x - std::sin(by) * z, z1 = std::sin(by) * x + std::cos(by) * z;
    const double y2 = std::cos(bx) * y + std::sin(bx) * z1, z2 = std::cos(bx) * z1 - std::sin(bx) * y;
    return Turned{std::cos(bz) * x1 + std::sin(bz) * y2, std::cos(bz) * y2 - std::sin(bz) * x1, z2};
  };
  const Turned source = turned(d[0], d[1], sid + d[2]), detector = turned(d[3], d[4], sid - sdd + d[5]);
  double to_detector = source.z - detector.z;
  if (distance == DetectorDistance::as_in_rtk) to_detector += std::sin(bx * d[4]) - std::sin(bx) * d[4];
  return format(
      "<Projection><SourceToIsocenterDistance>{:.17g}</SourceToIsocenterDistance><SourceToDetectorDistance>{:.17g}"
      "</SourceToDetectorDistance><GantryAngle>{:.17g}</GantryAngle><ProjectionOffsetX>{:.17g}</ProjectionOffsetX>"
      "<ProjectionOffsetY>{:.17g}</ProjectionOffsetY><SourceOffsetX>{:.17g}</SourceOffsetX><SourceOffsetY>{:.17g}"
      "</SourceOffsetY><InPlaneAngle>{:.17g}</InPlaneAngle><OutOfPlaneAngle>{:.17g}</OutOfPlaneAngle></Projection>",
      source.z, to_detector, angle_deg + d[7], detector.x, detector.y, source.x, source.y, d[8], d[6]);
}

CircularScan flexed_scan(const std::vector<double>& angles_deg, const std::vector<IbaDeviation>& deviations) {
  CircularScan scan;
  scan.source_axis_mm = sid;
  scan.source_detector_mm = sdd;
  scan.columns = 1440;
  scan.rows = 1440;
  scan.pixel_width_mm = 0.296;
  scan.pixel_height_mm = 0.3;
  scan.mirror_rows = true;
  for (const double angle : angles_deg) scan.angles_rad.push_back(radians(angle));
  for (const IbaDeviation& d : deviations) scan.perturbations.push_back(perturbation_of(d));
  return scan;
}

// Farthest, in pixels, that a point of the volume is seen from where RTK's parameters put it.
double farthest_px(const std::vector<double>& angles_deg, const std::vector<IbaDeviation>& deviations,
                   DetectorDistance distance) {
  const CircularScan scan = flexed_scan(angles_deg, deviations);
  std::string text = "<RTKThreeDCircularGeometry version=\"3\">";
  for (std::size_t i = 0; i < angles_deg.size(); ++i) text += rtk_projection(angles_deg[i], deviations[i], distance);
  GeometryFileOptions options;
  options.columns = scan.columns;
  options.rows = scan.rows;
  options.pixel_width_mm = scan.pixel_width_mm;
  options.pixel_height_mm = scan.pixel_height_mm;
  const ScanGeometry rtk = parse_geometry(text + "</RTKThreeDCircularGeometry>", "geometry", "rtk", options);
  const ScanGeometry own = build_scan(scan);
  double farthest = 0;
  for (std::size_t view = 0; view < angles_deg.size(); ++view)
    for (const Vec3 p : {Vec3{0, 0, 0}, Vec3{120, -70, 90}, Vec3{-110, 130, -100}}) {
      const auto seen = [&](const Matrix34& m, int row) {
        const auto at = [&](int r) { return m(r, 0) * p.x + m(r, 1) * p.y + m(r, 2) * p.z + m(r, 3); };
        return at(row) / at(2);
      };
      for (int row = 0; row < 2; ++row) {
        const double off = std::abs(seen(own.matrices[view], row) - seen(rtk.matrices[view], row));
        if (!(off <= farthest)) farthest = off;
      }
    }
  return farthest;
}

const std::vector<double> angles{-171, -20, 0, 33, 90, 145};
// Each of the nine alone, and all of them together.
std::vector<IbaDeviation> deviations(std::size_t which) {
  constexpr IbaDeviation all{1.5, -2.5, 4, 115, 6, -3, 0.7, -0.4, 1.1};
  std::vector<IbaDeviation> made(angles.size());
  for (std::size_t view = 0; view < made.size(); ++view)
    for (std::size_t i = 0; i < 9; ++i)
      if (which == 9 || which == i) made[view][i] = all[i] * (1 + 0.1 * static_cast<double>(view));
  return made;
}

TEST(IbaFlexion, projects_as_the_nine_parameters_of_rtk) {
  // Pixels near 720, of 16 digits.
  for (std::size_t which = 0; which < 10; ++which)
    EXPECT_LT(farthest_px(angles, deviations(which), DetectorDistance::by_rotation), 1e-9) << which;
}

// What docs/scanners/iba.md says of RTK's other formula: 1.5e-4 pixels where Rx goes to 1 degree and Py to 9 mm.
TEST(IbaFlexion, differs_from_rtk_by_little) {
  EXPECT_NEAR(farthest_px(angles, deviations(9), DetectorDistance::as_in_rtk), 1.5e-4, 0.1e-4);
}

TEST(IbaModel, is_read_by_the_order_of_its_coefficients) {
  std::string xml =
      "<Calibration><Axis axis=\"RX\"><S><Tx MSE=\"9\" a=\"9\" b=\"9\" c=\"9\" d=\"9\" e=\"9\"/></S></Axis>";
  xml += "<Axis axis=\"CBCT\"><Deviations>";
  for (const char* name : {"Px", "Py", "Pz", "Rx", "Ry", "Rz", "Tx", "Ty", "Tz"})
    xml += format("<{} MSE=\"0.5\" e=\"1\" d=\"0.25\" c=\"{}\" b=\"2\" a=\"0.5\"/>", name, name[0] == 'T' ? 3 : 4);
  xml += "</Deviations></Axis></Calibration>";
  HeaderFields header = iba_attributes({xml, "calibration.xml", "calibration.xml"});
  const IbaModel model = read_iba_model(header);
  for (const double t : {-100.0, 0.0, 30.0}) {
    const IbaDeviation d = model.at(t);
    EXPECT_NEAR(d[1], 1 + 0.25 * t + 3 * std::cos(2 * t * pi / 180 + 0.5), 1e-12);
    EXPECT_NEAR(d[8], 1 + 0.25 * t + 4 * std::cos(2 * t * pi / 180 + 0.5), 1e-12);
  }
  const std::string four = xml.replace(xml.rfind(" a=\"0.5\""), 8, "");
  HeaderFields wrong = iba_attributes({four, "calibration.xml", "calibration.xml"});
  expect_error([&] { (void)read_iba_model(wrong); }, "Tz does not have five coefficients", "4 attributes");
}

std::string flexmap(const std::string& lines, const std::string& arc = "name=\"CBCT_PLUS\" active=\"true\"") {
  return "<c><arc name=\"other\" geoCalModelUid=\"x\" active=\"false\"/><arc geoCalModelUid=\"m\" " + arc +
         "/><FPOffsets xPlus=\"115\" xMinus=\"-115\"/><gantryParameters sid=\"3441\" sad=\"2874\" "
         "sourceToNozzleOffsetAngle=\"-90\"/><geometricalCalibrationModels><geoCalModel uid=\"x\">1,1</geoCalModel>"
         "<geoCalModel uid=\"m\">" +
         lines + "</geoCalModel></geometricalCalibrationModels></c>";
}
IbaFlexmap read_map(const std::string& xml) { return read_iba_flexmap({xml, "flexmap.xml", "flexmap.xml"}); }

TEST(IbaFlexmap, is_interpolated_and_ends_where_it_ends) {
  const std::string lines[] = {"\n-90, 1,2,3,4,5,6,7,8,9\n", "-30,2,3,4,5,6,7,8,9,10\n", "90,3,3,3,3,3,3,3,3,3\n"};
  for (const bool falling : {false, true}) {
    const IbaFlexmap map = read_map(flexmap(falling ? lines[2] + lines[1] + lines[0] : lines[0] + lines[1] + lines[2]));
    EXPECT_TRUE(map.warnings.empty());
    EXPECT_EQ(map.room.source_axis_mm, 2874);
    EXPECT_EQ(map.room.source_detector_mm, 3441);
    EXPECT_EQ(map.room.angle_offset_deg, -90);
    EXPECT_EQ(map.at(-90), (IbaDeviation{1, 2, 3, 119, 5, 6, 7, 8, 9}));
    const IbaDeviation between = map.at(-75);
    EXPECT_NEAR(between[0], 1.25, 1e-12);
    EXPECT_NEAR(between[3], 119.25, 1e-12);
    EXPECT_NEAR(between[8], 9.25, 1e-12);
    EXPECT_NEAR(map.at(360 + 30)[8], 6.5, 1e-12);  // after a turn the same
    EXPECT_NEAR(map.at(270)[0], 1, 1e-12);
    EXPECT_TRUE(map.covers(-90) && map.covers(90) && map.covers(270));
    EXPECT_FALSE(map.covers(-91) || map.covers(90.1) || map.covers(180));
    EXPECT_EQ(map.at(-120), map.at(-90));
    EXPECT_EQ(map.at(100), map.at(90));
  }
  EXPECT_EQ(read_map(flexmap("0,0,0,0,4,0,0,0,0,0", "name=\"CBCT_MINUS\" active=\"true\"")).at(5)[3], -111);
  // RTK's readers want angles within half a turn of 0; a map that goes beyond serves as well.
  EXPECT_EQ(read_map(flexmap("170,1,1,1,1,1,1,1,1,1\n200,2,2,2,2,2,2,2,2,2")).at(-160)[0], 2);
}

TEST(IbaFlexmap, mistakes_are_named) {
  const std::string line = "0,0,0,0,0,0,0,0,0,0";
  const auto expect = [](const std::string& xml, const std::string& what, const std::string& why) {
    expect_error([&] { (void)read_map(xml); }, what, why);
  };
  expect(flexmap(line, "name=\"A_PLUS\" active=\"false\""), "no arc is active", "0 of 2 arcs");
  expect(flexmap(line, "active=\"true\"/><arc active=\"true\""), "several arcs are active", "2 of 3 arcs");
  expect(flexmap("1,2,3"), "the flexmap of the active arc is empty", "\"m\"");
  expect(flexmap("0" + line.substr(1) + "\n2" + line.substr(1) + "\n1" + line.substr(1) + "\n3" + line.substr(1)),
         "neither grow nor fall", "2 is followed by 1");
  std::string other = flexmap(line);
  expect(other.replace(other.find("uid=\"m\""), 7, "uid=\"n\""), "of the active arc is not there", "\"m\"");
  other = flexmap(line);
  expect(other.replace(other.find("uid=\"x\""), 7, "uid=\"m\""), "the same uid", "\"m\"");
  other = flexmap(line);
  expect(other.replace(other.find("sad=\"2874\""), 10, "sad=\"far\""), "gantryParameters does not say sad", "far");
  other = flexmap(line);
  expect(other.replace(other.find("sad=\"2874\""), 10, "sad=\"-1\""), "a distance is not above zero", "sad is -1");
  other = flexmap(line);
  expect(other.replace(other.find("xPlus"), 5, "xOther"), "FPOffsets does not say xPlus", "no such attribute");
  expect(flexmap(line).substr(0, 300), "the XML cannot be read", "does not end");
  const IbaFlexmap neither = read_map(flexmap("angle,Tx\n" + line, "name=\"A\" active=\"true\""));
  ASSERT_EQ(neither.warnings.size(), 2U);
  EXPECT_NE(neither.warnings[0].find("neither PLUS nor MINUS"), std::string::npos);
  EXPECT_NE(neither.warnings[1].find("1 lines of the flexmap"), std::string::npos);
  EXPECT_EQ(neither.at(0)[3], 0);
}

}  // namespace
}  // namespace lepus
