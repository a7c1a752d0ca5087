// SPDX-License-Identifier: Apache-2.0
// Nikon's header against the scanner as vectors: source, tilted axis and detector in the scanner's own frame, the
// object turning in it.
#include <cmath>

#include "import/test_folder.h"

namespace lepus {
namespace {

using namespace import_test;

const std::string xtekct =
    "[XTekCT]\nName=scan\nInputSeparator=_\nSrcToObject=100\nSrcToDetector=400\nDetectorPixelsX=8\nDetectorPixelSizeX="
    "5\n"
    "DetectorPixelsY=6\nDetectorPixelSizeY=4\nObjectOffsetX=0.7\nObjectRoll=0\nObjectTilt=0\nWhiteLevel=60000\n"
    "Projections=4\nInitialAngle=30\nAngularStep=20\n[Xrays]\nXraykV=120\n";

Vec3 turned_z(Vec3 p, double a) {
  return {p.x * std::cos(a) - p.y * std::sin(a), p.x * std::sin(a) + p.y * std::cos(a), p.z};
}

// Where the scanner sees a point of the object: x to the right of the source, y away from it, z up. Positive roll leans
// the axis to the right, positive tilt away from the source; the columns begin on the right.
Pixel seen(Vec3 object, int view, double roll, double tilt) {
  const double beta = radians(30.0 - 180 + 20 * view);
  Vec3 p = turned_z(object, -beta);
  p = {p.x * std::cos(roll) + p.z * std::sin(roll), p.y, -p.x * std::sin(roll) + p.z * std::cos(roll)};
  p = {p.x, p.y * std::cos(tilt) + p.z * std::sin(tilt), -p.y * std::sin(tilt) + p.z * std::cos(tilt)};
  p = {p.x - 0.7, p.y + 100, p.z};
  const double scale = 400 / p.y;
  return {3.5 - p.x * scale / 5, 2.5 - p.z * scale / 4};
}

void expect_projects_as_scanner(double roll_deg, double tilt_deg) {
  const Folder folder;
  folder.frames("scan_%04d.tif", 4);
  folder.write("scan.xtekct", with_field(with_field(xtekct, "ObjectRoll", format("{}", roll_deg)), "ObjectTilt",
                                         format("{}", tilt_deg)));
  const Scan scan = folder.scan();
  ASSERT_EQ(scan.geometry.views(), 4);
  const double roll = radians(roll_deg), tilt = radians(tilt_deg);
  // lepus puts the source into the plane z = 0; where the axis leans, that is another plane of the object.
  const double height = 0.7 * std::sin(roll) - 100 * std::sin(tilt);
  for (int view = 0; view < 4; ++view)
    for (const Vec3 point : {Vec3{0, 0, 0}, Vec3{0.3, 0.1, 0.2}, Vec3{-0.2, 0.4, -0.5}}) {
      const Matrix34& m = scan.geometry.matrices[static_cast<std::size_t>(view)];
      const auto row = [&](int i) { return m(i, 0) * point.x + m(i, 1) * point.y + m(i, 2) * point.z + m(i, 3); };
      const Pixel expected = seen({point.x, point.y, point.z + height}, view, roll, tilt);
      EXPECT_NEAR(row(0) / row(2), expected.u, 1e-9) << view;
      EXPECT_NEAR(row(1) / row(2), expected.v, 1e-9) << view;
    }
}

TEST(Nikon, projects_as_the_scanner_with_an_axis_off_centre) { expect_projects_as_scanner(0, 0); }
TEST(Nikon, projects_as_the_scanner_with_an_axis_that_rolls) { expect_projects_as_scanner(1.3, 0); }
TEST(Nikon, projects_as_the_scanner_with_an_axis_that_tilts) { expect_projects_as_scanner(0, 2.1); }

TEST(Nikon, takes_the_axis_of_older_headers_from_the_detector) {
  const Folder folder;
  folder.frames("scan_%04d.tif", 4);
  folder.write("scan.xtekct", "[XTekCT]\nCentreOfRotationTop=2.8\nCentreOfRotationBottom=2.8\n" +
                                  with_field(with_field(xtekct, "ObjectOffsetX", ""), "ObjectRoll", ""));
  const Scan scan = folder.scan();
  const Matrix34& m = scan.geometry.matrices[0];
  EXPECT_NEAR(m(0, 3) / m(2, 3), seen({0, 0, 0}, 0, 0, 0).u, 1e-9);
}

TEST(Nikon, takes_measured_angles_and_refuses_those_of_another_scan) {
  const Folder folder;
  folder.frames("scan_%04d.tif", 4);
  folder.write("scan.xtekct", xtekct);
  const std::string heading = "Projections\tFrames\tExposure\n4\t1\t500\nProjection\tAngle(deg)\tTime(s)\n";
  folder.write("_ctdata.txt", heading + "1\t0\t0\n2\t20.5\t1\n3\t39.5\t2\n4\t60\t3\n");
  EXPECT_EQ(folder.scan().listed_angles_deg, (std::vector<double>{-150, -129.5, -110.5, -90}));
  folder.write("_ctdata.txt", heading + "1\t0\t0\n2\t20.5\t1\n3\t39.5\t2\n");
  expect_says(folder.error(), "the angles stop early");
  folder.write("_ctdata.txt", heading + "1\t0\t0\n2\t90\t1\n3\t180\t2\n4\t270\t3\n");
  expect_says(folder.error(), "contradicts the header");
  fs::remove(folder.path() / "_ctdata.txt");
  folder.write("scan.ang",
               "Proj\tAngle(deg)\nscan_0001.tif: 0\nscan_0002.tif: -19\nscan_0003.tif: -40\nscan_0004.tif: -60\n");
  EXPECT_EQ(folder.scan().listed_angles_deg, (std::vector<double>{-150, -131, -110, -90}));
  folder.write("scan.ang",
               "Proj\tAngle(deg)\nscan_0001.tif: 20\nscan_0002.tif: 0\nscan_0003.tif: 340\n"
               "scan_0004.tif: 319\n");  // it begins again after a turn
  EXPECT_EQ(folder.scan().listed_angles_deg, (std::vector<double>{-150, -130, -110, -89}));
}

TEST(Nikon, given_numbers_go_before_all_that_is_made_of_the_header) {
  const Folder folder;
  folder.frames("scan_%04d.tif", 4);
  folder.write("scan.xtekct",
               "[XTekCT]\nCentreOfRotationTop=2.8\nCentreOfRotationBottom=2.8\nVoxelsX=8\nVoxelsY=8\nVoxelsZ=6\n"
               "VoxelSizeX=1\nVoxelSizeY=1\nVoxelSizeZ=1\n" +
                   with_field(with_field(xtekct, "ObjectOffsetX", ""), "ObjectRoll", ""));
  EXPECT_NE(folder.text().find("voxel_mm"), std::string::npos);
  const std::string text = folder.text({.pixel_mm = 2, .source_axis_mm = 200});
  for (const char* part : {"pixel_width_mm = 2.0", "source_axis_mm = 200.0", "axis_offset_mm = -1.4",
                           "# Warning: the header's voxels belong to its own pixels"})
    expect_has(text, part);
  for (const char* part : {"pixel_height_mm", "voxel_mm", "size ="}) EXPECT_EQ(text.find(part), std::string::npos);
}

TEST(Nikon, names_what_is_wrong_with_the_frames) {
  const Folder folder;
  folder.write("scan.xtekct", xtekct);
  expect_says(folder.error(), "the frames are not there");
  folder.frames("scan_%04d.tif", 5);
  expect_says(folder.error(), "more frames than the header says");
  fs::remove(folder.path() / "scan_0002.tif");
  expect_says(folder.error(), "scan_0002.tif is missing");
  fs::remove(folder.path() / "scan_0003.tif");
  fs::remove(folder.path() / "scan_0004.tif");
  expect_says(folder.error(), "frames are missing");
  folder.frames("scan_%04d.tif", 4);
  folder.write("second.xtekct", xtekct);
  expect_says(folder.error(), "2 scans lie in this folder");
}

TEST(Nikon, names_what_is_wrong_with_the_header) {
  const Folder folder;
  folder.frames("scan_%04d.tif", 4);
  for (const auto& [name, value, says] :
       {std::tuple{"SrcToObject", "", "does not say XTekCT/SrcToObject"},
        std::tuple{"SrcToObject", "-1", "is not above zero"},
        std::tuple{"SrcToDetector", "12 mm", "is no finite number"}, std::tuple{"Projections", "3.5", "is no count"},
        std::tuple{"DetectorPixelsX", "9", "another size than the geometry"},
        std::tuple{"AngularStep", "0", "AngularStep is zero"}}) {
    folder.write("scan.xtekct", with_field(xtekct, name, value));
    expect_says(folder.error(), says);
  }
  for (std::size_t cut = 9; cut < xtekct.size(); cut += 7) {  // truncated anywhere: read or refused
    folder.write("scan.xtekct", xtekct.substr(0, cut));
    try {
      folder.scan();
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lepus
