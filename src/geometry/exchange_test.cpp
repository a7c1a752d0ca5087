// SPDX-License-Identifier: Apache-2.0
// Other tools' geometries on points projected by hand in their own conventions; what is written reads back the same;
// garbage is refused, never crashed on.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/format.h"
#include "geometry/arc.h"
#include "geometry/camera.h"
#include "geometry/exchange.h"
#include "geometry/exchange_text.h"
#include "geometry/random_scan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double pixel_tolerance = 1e-10;  // pixels up to 1e3, some twenty operations, a 3x3 inverse of condition 1e3

void expect_pixel(const ScanGeometry& g, std::size_t view, Vec3 x, double u, double v, double w) {
  const Vec3 h = transform(g.matrices[view], x);
  EXPECT_NEAR(h.x / h.z, u, pixel_tolerance);
  EXPECT_NEAR(h.y / h.z, v, pixel_tolerance);
  EXPECT_NEAR(h.z, w, pixel_tolerance);
}

GeometryFileOptions frames(std::int64_t columns, std::int64_t rows, double width = 0, double height = 0) {
  GeometryFileOptions o;
  o.columns = columns, o.rows = rows, o.pixel_width_mm = width, o.pixel_height_mm = height;
  return o;
}

std::string projection(const std::string& body) {
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version=\"3\">\n"
         "<SourceToIsocenterDistance>500</SourceToIsocenterDistance>\n"
         "<SourceToDetectorDistance>1000</SourceToDetectorDistance>\n<Projection>" +
         body + "</Projection>\n</RTKThreeDCircularGeometry>\n";
}

TEST(Astra, ConeVectorsByHand) {
  // Source (0,-500,0), detector at y = 500, columns along +x (0.5), rows along +z (0.25): (5, 0, 2) is magnified twice
  // to 10 right and 4 up: 20 columns and 16 rows from the middle (50, 30).
  const ScanGeometry g = parse_astra("0 -500 0  0 500 0  0.5 0 0  0 0 0.25\n", "x", frames(101, 61));
  expect_pixel(g, 0, {0, 0, 0}, 50, 30, 1);
  expect_pixel(g, 0, {5, 0, 2}, 70, 46, 1);
  expect_pixel(g, 0, {3, 100, 0}, 60, 30, 1.2);
  EXPECT_DOUBLE_EQ(g.source_detector_mm, 1000);
  // In units of 2 mm everything is twice as large: the point too.
  GeometryFileOptions o = frames(101, 61);
  o.unit_mm = 2;
  const ScanGeometry h = parse_astra("0, -500, 0,  0, 500, 0,  0.5, 0, 0,  0, 0, 0.25", "x", o);
  expect_pixel(h, 0, {10, 0, 4}, 70, 46, 1);
  EXPECT_DOUBLE_EQ(h.source_detector_mm, 2000);
}

TEST(Astra, ItsAngleIsOurs) {
  // ASTRA's geom_2vec puts the source at (sin a, -cos a) and the columns along (cos a, sin a): our angle, rows upwards.
  const double a = 0.7, c = std::cos(a), s = std::sin(a);
  const std::string line = format("{:.17g} {:.17g} 0 {:.17g} {:.17g} 0 {:.17g} {:.17g} 0 0 0 0.25", 500 * s, -500 * c,
                                  -500 * s, 500 * c, 0.5 * c, 0.5 * s);
  CircularScan scan;
  scan.source_axis_mm = 500, scan.source_detector_mm = 1000;
  scan.columns = 101, scan.rows = 61, scan.pixel_width_mm = 0.5, scan.pixel_height_mm = 0.25;
  scan.angles_rad = {a};
  scan.mirror_rows = true;
  const Matrix34 ours = build_scan(scan).matrices[0], theirs = parse_astra(line, "x", frames(101, 61)).matrices[0];
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(theirs.m[i], ours.m[i], pixel_tolerance);
}

TEST(Astra, ParallelVectorsByHand) {
  // Rays along (0,-1,0) hit the same lines as along +y. Detector's middle 1 mm right and 2 mm up of the centre, columns
  // along +x, rows along +z.
  GeometryFileOptions o = frames(101, 61);
  o.beam = Beam::parallel;
  const ScanGeometry g = parse_astra("0 -1 0  1 7 2  0.5 0 0  0 0 0.25", "x", o);
  expect_pixel(g, 0, {0, 0, 0}, 48, 22, 1);
  expect_pixel(g, 0, {5, 99, 2}, 58, 30, 1);
}

const std::string xrad_header =
    "[iView3D]\nCBCT.DimensionalAttributes.IDim=101\nCBCT.DimensionalAttributes.JDim=61\n"
    "CBCT.DimensionalAttributes.KDim=1\nCBCT.DimensionalAttributes.PixelDimension_I_cm=0.05\n"
    "CBCT.DimensionalAttributes.PixelDimension_J_cm=0.025\n[iView3D(Projection 0)]\r\n"
    "CBCT.ProjectionGeometryArray.focus=0 50 0\nCBCT.ProjectionGeometryArray.center= 0 -50 0\n"
    "CBCT.ProjectionGeometryArray.u_axis=-2 0 0\nCBCT.ProjectionGeometryArray.v_axis=0 0 -1\n"
    "CBCT.ProjectionGeometryArray.u_off=10\nCBCT.ProjectionGeometryArray.v_off=20\n";

TEST(Xrad, VectorsByHand) {
  // Its coordinates are ours with all signs turned, in cm: the source at (0,-500,0), the detector at y = 500, columns
  // along +x (0.5), rows along +z (0.25). The point on the central ray lies in pixel (10, 20); (5, 0, 2) is magnified
  // twice to 10 right and 4 up.
  const ScanGeometry g = parse_xrad(xrad_header, "x", {});
  expect_pixel(g, 0, {0, 0, 0}, 10, 20, 1);
  expect_pixel(g, 0, {5, 0, 2}, 30, 36, 1);
  EXPECT_NEAR(g.source_detector_mm, 1000, 1e-9);
  EXPECT_EQ(g.columns, 101);
  EXPECT_EQ(g.rows, 61);
  // RTK's reader takes (X, Y, Z) = (-x, -z, y): source at Z = 500, columns along X, rows along Y, which is gantry angle
  // 0; its detector's pixel (0, 0) lies 10 columns and 20 rows from the central ray.
  GeometryFileOptions o = frames(101, 61, 0.5, 0.25);
  o.first_pixel_mm = Vec3{-5, -5, 0};
  const ScanGeometry rtk = parse_rtk(projection("<GantryAngle>0</GantryAngle>"), "x", o);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(g.matrices[0].m[i], rtk.matrices[0].m[i], pixel_tolerance);
}

TEST(Xrad, NamesWhatIsMissingOrWrong) {
  const auto refused = [](const std::string& what, const std::string& by, const std::string& words) {
    std::string text = xrad_header;
    text.replace(text.find(what), what.size(), by);
    try {
      parse_geometry(text, "scan.header", "xrad");
      ADD_FAILURE() << "accepted; expected: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("KDim=1", "KDim=2", "iView3D(Projection 1)/CBCT.ProjectionGeometryArray.u_axis is missing");
  refused("focus=0 50 0", "focus=0 50", "does not hold 3 numbers");
  refused("IDim=101", "IDim=1.5", "IDim is 1.5");
  refused("I_cm=0.05", "I_cm=0", "PixelDimension_I_cm is 0");
  refused("u_axis=-2 0 0", "u_axis=0 0 0", "view 0");
  refused("u_off=10", "u_off=nan", "a number cannot be read");
  for (std::size_t cut = 0; cut < xrad_header.size() - 3; ++cut)
    EXPECT_THROW(parse_geometry(xrad_header.substr(0, cut), "cut", "xrad"), Error);
}

TEST(Rtk, GantryAngleAndSourceOffsetByHand) {
  // RTK's frame at gantry angle 90: Rx = (0,0,-1), Ry = (0,1,0), Rz = (1,0,0) of its world, which are (0,1,0), (0,0,1)
  // and (1,0,0) of ours, (x,y,z) = (X,-Z,Y). Source 20 Rx + 15 Ry + 600 Rz = (600, 20, 15); the detector's plane is
  // x = -600, columns along y, rows (bottom first) along z, its (0,0) at (-600, 0, 0), in the middle of 128 x 128 of 4
  // mm.
  const std::string text =
      "<RTKThreeDCircularGeometry version=\"3\"><SourceToIsocenterDistance>600</SourceToIsocenterDistance>"
      "<SourceToDetectorDistance>1200</SourceToDetectorDistance><SourceOffsetX>20</SourceOffsetX>"
      "<SourceOffsetY>15</SourceOffsetY><Projection><GantryAngle>90</GantryAngle></Projection>"
      "</RTKThreeDCircularGeometry>";
  const ScanGeometry g = parse_rtk(text, "x", frames(128, 128, 4, 4));
  // The origin is half way: the ray arrives at y = -20, z = -15.
  expect_pixel(g, 0, {0, 0, 0}, 63.5 - 5, 63.5 - 3.75, 1);
  // (100, 40, -30) is 500 of 1200 mm away; the ray goes on by 2.4 (-500, 20, -45) to y = 68, z = -93.
  expect_pixel(g, 0, {100, 40, -30}, 63.5 + 17, 63.5 - 23.25, 500. / 600);
  EXPECT_EQ(g.source_detector_mm, 1200);
  EXPECT_LT(norm(camera_of(g, 0).source_mm - Vec3{600, 20, 15}), 1e-9);
}

TEST(Rtk, InPlaneOutOfPlaneAndProjectionOffsetByHand) {
  // In plane by 90, counter-clockwise seen from the source: columns run up, rows to the left. (5, 0, 2) arrives 10 mm
  // right and 4 mm up: 8 columns of 0.5 and -40 rows of 0.25 from the middle.
  const auto read = [](const std::string& body) {
    return parse_rtk(projection(body), "x", frames(101, 61, 0.5, 0.25));
  };
  expect_pixel(read("<GantryAngle>0</GantryAngle><InPlaneAngle>90</InPlaneAngle>"), 0, {5, 0, 2}, 58, -10, 1);
  // Out of plane by 30: source and detector turn together about x; so does the point that keeps its pixel.
  const double c = std::cos(pi / 6), s = 0.5;
  expect_pixel(read("<GantryAngle>0</GantryAngle><OutOfPlaneAngle>30</OutOfPlaneAngle>"), 0, {5, -2 * s, 2 * c}, 70, 46,
               1);
  // The detector's (0,0) 3 mm right and 2 mm up: everything lands 6 columns and 8 rows lower.
  const ScanGeometry moved = read(
      "<GantryAngle>0</GantryAngle><ProjectionOffsetX>3</ProjectionOffsetX><ProjectionOffsetY>2</ProjectionOffsetY>");
  expect_pixel(moved, 0, {5, 0, 2}, 64, 38, 1);
  // Frames stored with row 0 on top count the other way; a first pixel given explicitly replaces the centred frame.
  GeometryFileOptions o = frames(101, 61, 0.5, 0.25);
  o.first_row_on_top = true;
  expect_pixel(parse_rtk(projection("<GantryAngle>0</GantryAngle>"), "x", o), 0, {5, 0, 2}, 70, 14, 1);
  o.first_row_on_top = false;
  o.first_pixel_mm = Vec3{-20, -5, 0};
  expect_pixel(parse_rtk(projection("<GantryAngle>0</GantryAngle>"), "x", o), 0, {5, 0, 2}, 60, 36, 1);
}

TEST(Rtk, ParallelByHand) {
  const std::string text =
      "<RTKThreeDCircularGeometry version=\"2\"><Projection><GantryAngle>90</GantryAngle><ProjectionOffsetX>1"
      "</ProjectionOffsetX></Projection></RTKThreeDCircularGeometry>";
  const ScanGeometry g = parse_rtk(text, "x", frames(101, 61, 0.5, 0.25));
  EXPECT_EQ(g.beam, Beam::parallel);
  // Columns along our +y, rows along +z; the middle is 1 mm further along the columns.
  expect_pixel(g, 0, {123, 5, 2}, 50 + 8, 30 + 8, 1);
}

TEST(Rtk, AgreesWithAMatrixThatRtkWrote) {
  // From RTK's documentation (Geometry.md): parameters of an Elekta scanner and the matrix RTK computed for them. The
  // reader refuses a matrix that differs by more than RTK's own 0.001.
  const std::string view =
      "<GantryAngle>271.847274780273</GantryAngle><ProjectionOffsetX>-117.056503295898</ProjectionOffsetX>"
      "<ProjectionOffsetY>-1.01195001602173</ProjectionOffsetY><Matrix>"
      "-166.5093078829 0 -1531.42837748039 -117056.503295898 -1.01142410874151 -1536 0.0326206557691505 "
      "-1011.95001602173 -0.999480303105996 0 0.0322354417240802 -1000</Matrix>";
  const auto file = [&](const std::string& body) {
    return "<RTKThreeDCircularGeometry version=\"3\"><SourceToIsocenterDistance>1000</SourceToIsocenterDistance>"
           "<SourceToDetectorDistance>1536</SourceToDetectorDistance><Projection>" +
           body + "</Projection></RTKThreeDCircularGeometry>";
  };
  EXPECT_NO_THROW(parse_rtk(file(view), "x", frames(512, 512, 0.8, 0.8)));
  std::string other = view;
  other.replace(other.find("271.84"), 6, "271.80");
  EXPECT_THROW(parse_rtk(file(other), "x", frames(512, 512, 0.8, 0.8)), Error);
}

TEST(Rtk, CylindricalDetectorAroundTheSource) {
  std::string text = projection("<GantryAngle>0</GantryAngle><ProjectionOffsetX>2</ProjectionOffsetX>");
  const std::string at = "<Projection>";
  text.insert(text.find(at), "<RadiusCylindricalDetector>1000</RadiusCylindricalDetector>");
  const ScanGeometry g = parse_rtk(text, "x", frames(801, 61, 0.5, 0.25));
  ASSERT_TRUE(g.recorded_on_arc);
  // A ray at gamma = 0.15, 2 mm up on the arc: arc length 150 mm, of which the frame's middle holds 2.
  const Vec3 x{300 * std::sin(0.15), -500 + 300 * std::cos(0.15), 0.6};
  const Vec3 h = transform(g.matrices[0], x);
  const PixelPosition p = ArcMap(g).to_recorded({h.x / h.z, h.y / h.z});
  EXPECT_NEAR(p.column, 400 + 148 / 0.5, pixel_tolerance);
  EXPECT_NEAR(p.row, 30 + 2 / 0.25, pixel_tolerance);
  std::string bent = text;
  bent.replace(bent.find("or>1000</Radius"), 7, "or>1200");
  try {
    parse_rtk(bent, "x", frames(801, 61, 0.5, 0.25));
    ADD_FAILURE() << "a cylinder that is not centred on the source was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
}

std::string tigre(const std::string& more, const std::string& angles = "[0]") {
  return "{\"DSO\":500,\"DSD\":1000,\"nDetector\":[61,101],\"dDetector\":[0.25,0.5],\"angles\":" + angles + more + "}";
}

TEST(Tigre, OffsetsAndCorByHand) {
  // offDetector is (V, U) = (1 up, 2 along y), COR moves source and detector by 3 along y: source (500, 3, 0), middle
  // (-500, 5, 1), columns along y (0.5), rows along z (0.25).
  const ScanGeometry g = parse_tigre(tigre(",\"offDetector\":[1,2],\"COR\":3"), "x", {});
  EXPECT_EQ(g.columns, 101);
  EXPECT_EQ(g.rows, 61);
  // The origin lands at (-500, -3, 0): 8 mm and 1 mm below the middle.
  expect_pixel(g, 0, {0, 0, 0}, 50 - 16, 30 - 4, 1);
  // (100, 3, 4), 400 of 1000 mm away, lands at (-500, 3, 10).
  expect_pixel(g, 0, {100, 3, 4}, 50 - 4, 30 + 36, 0.8);
  // A quarter turn: source (-3, 500, 0), columns along -x.
  const ScanGeometry turned =
      parse_tigre(tigre(",\"offDetector\":[1,2],\"COR\":3", format("[{:.17g}]", pi / 2)), "x", {});
  expect_pixel(turned, 0, {-3, 100, 4}, 50 - 4, 30 + 36, 0.8);
}

TEST(Tigre, DetectorRotationByHand) {
  // Rx by 90 takes y to z and z to -y: columns run up, rows along -y. (0, 5, 2) lands 10 along y and 4 up.
  const ScanGeometry in_plane = parse_tigre(tigre(format(",\"rotDetector\":[{:.17g},0,0]", pi / 2)), "x", {});
  expect_pixel(in_plane, 0, {0, 5, 2}, 50 + 8, 30 - 40, 1);
  // Ry by 20 takes z to (sin, 0, cos): the upper edge comes towards the source at +x. The detector point 5 mm up its
  // rows is (-500 + 5 sin, 0, 5 cos); take the point 0.4 of the way.
  const double s = std::sin(radians(20)), c = std::cos(radians(20));
  const ScanGeometry pitched = parse_tigre(tigre(format(",\"rotDetector\":[0,{:.17g},0]", radians(20))), "x", {});
  const Vec3 h = transform(pitched.matrices[0], {500 + 0.4 * (-1000 + 5 * s), 0, 0.4 * 5 * c});
  EXPECT_NEAR(h.y / h.z, 30 + 20, pixel_tolerance);
}

TEST(Tigre, AStaticDetectorStaysWhereItIs) {
  // TIGRE's staticDetectorGeo keeps a detector at (-R, 0, 0), R = DSD - DSO, while the source turns by a: DSD is
  // reduced by R (1 - cos a), offDetector U = R sin a, rotDetector z = -a. So the middle is R_z(a)(-R cos a, R sin a) =
  // (-R, 0), and points of the detector itself keep their pixel in every view.
  std::string angles = "[", dsd = "[", off = "[", rot = "[";
  for (const double a : {-0.3, 0.0, 0.2}) {
    const char* comma = angles.size() > 1 ? "," : "";
    angles += format("{}{:.17g}", comma, a);
    dsd += format("{}{:.17g}", comma, 1000 - 500 * (1 - std::cos(a)));
    off += format("{}[0,{:.17g}]", comma, 500 * std::sin(a));
    rot += format("{}[0,0,{:.17g}]", comma, -a);
  }
  const ScanGeometry g =
      parse_tigre("{\"DSO\":500,\"nDetector\":[61,101],\"dDetector\":[0.25,0.5],\"angles\":" + angles +
                      "],\"DSD\":" + dsd + "],\"offDetector\":" + off + "],\"rotDetector\":" + rot + "]}",
                  "x", {});
  for (const Matrix34& p : g.matrices) {
    const Vec3 h = transform(p, {-500, 7, -3});
    EXPECT_NEAR(h.x / h.z, 50 + 14, pixel_tolerance);
    EXPECT_NEAR(h.y / h.z, 30 - 12, pixel_tolerance);
  }
}

TEST(Tigre, EulerAnglesAndMovingImage) {
  // theta turns source and detector about y before the turn about z; a point that turns along keeps its pixel.
  const double t = 0.3, a = 0.5, c = std::cos(t), s = std::sin(t);
  const ScanGeometry g = parse_tigre(tigre("", format("[[{:.17g},{:.17g},0]]", a, t)), "x", {});
  const Vec3 x{10 * c + 2 * s, 5, -10 * s + 2 * c};  // Ry(t) (10, 5, 2)
  const Vec3 turned{std::cos(a) * x.x - std::sin(a) * x.y, std::sin(a) * x.x + std::cos(a) * x.y, x.z};
  // (10, 5, 2) is 490 of 1000 mm away.
  expect_pixel(g, 0, turned, 50 + 5 / 0.49 / 0.5, 30 + 2 / 0.49 / 0.25, 0.98);
  // An image that climbs by 4 mm between views: its points see a scanner 4 mm lower.
  const ScanGeometry helix = parse_tigre(tigre(",\"offOrigin\":[[0,0,0],[4,0,0]]", "[0,0]"), "x", {});
  expect_pixel(helix, 0, {0, 5, 2}, 70, 46, 1);
  expect_pixel(helix, 1, {0, 5, -2}, 70, 46, 1);
  // One that stays is a matter of the volume.
  expect_pixel(parse_tigre(tigre(",\"offOrigin\":[4,0,0]"), "x", {}), 0, {0, 5, 2}, 70, 46, 1);
}

class ExchangeFile : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              format("lepus_geometry_{}_{}", testing::UnitTest::GetInstance()->current_test_info()->name(),
                     std::random_device{}());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  std::filesystem::path folder_;
};

void expect_same(const ScanGeometry& a, const ScanGeometry& b) {
  EXPECT_EQ(a.beam, b.beam);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_NEAR(a.source_detector_mm, b.source_detector_mm, 1e-9 * a.source_detector_mm);
  ASSERT_EQ(a.matrices.size(), b.matrices.size());
  for (std::size_t i = 0; i < a.matrices.size(); ++i)
    for (const Vec3 x : {Vec3{0, 0, 0}, Vec3{9, -4, 3}, Vec3{-5, 7, -6}}) {
      const Vec3 p = transform(a.matrices[i], x), q = transform(b.matrices[i], x);
      // Pixels; angles and vectors go through a 3x3 inverse of condition about 1e4 and back.
      EXPECT_NEAR(p.x / p.z, q.x / q.z, 1e-8);
      EXPECT_NEAR(p.y / p.z, q.y / q.z, 1e-8);
      EXPECT_NEAR(p.z, q.z, 1e-11);
    }
}

TEST_F(ExchangeFile, WhatIsWrittenReadsBackTheSame) {
  GeometryFileOptions voxels;
  voxels.voxel_index = VolumeGrid{10, 11, 12, {-3, 4, 5}, {0.2, 0.3, -0.4}};
  voxels.unit_mm = 0.3;
  voxels.force = true;
  GeometryFileOptions plain;
  plain.force = true;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const ScanGeometry g = build_scan(random_scan(seed, Beam::cone));
    for (const std::string& format : geometry_formats())
      for (const GeometryFileOptions& o : {plain, voxels}) {
        SCOPED_TRACE(format + ", seed " + std::to_string(seed));
        write_geometry(g, file("geometry"), format, o);
        expect_same(g, read_geometry(file("geometry"), format, o));
      }
  }
}

TEST_F(ExchangeFile, ParallelBeamReadsBackTheSame) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CircularScan s = random_scan(seed, Beam::parallel);
    s.perturbations.clear();
    s.yaw_rad = s.pitch_rad = 0;  // across the beam a detector tilted both ways has pixels that are not rectangles
    const ScanGeometry g = build_scan(s);
    for (const std::string& format : geometry_formats()) {
      SCOPED_TRACE(format + ", seed " + std::to_string(seed));
      const std::string name = format + std::to_string(seed);
      write_geometry(g, file(name), format);
      expect_same(g, read_geometry(file(name), format));
    }
  }
}

void expect_error(ErrorKind kind, const std::string& words, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "accepted; expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST_F(ExchangeFile, RefusesWhatAFormatCannotHold) {
  const ScanGeometry fan = build_scan(random_scan(1, Beam::fan));
  for (const char* format : {"rtk", "astra", "tigre"})
    expect_error(ErrorKind::unsupported, "fan-beam", [&] { write_geometry(fan, file("f"), format); });
  write_geometry(fan, file("f"), "matrices");
  const ScanGeometry back = read_geometry(file("f"), "matrices");
  EXPECT_EQ(back.beam, Beam::fan);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(back.matrices[2].m[i], fan.matrices[2].m[i], 1e-12);
  // Shear one view: no rectangle has that shape.
  ScanGeometry sheared = build_scan(random_scan(1, Beam::cone));
  for (int i = 0; i < 4; ++i) sheared.matrices[3](0, i) += 0.01 * sheared.matrices[3](1, i);
  for (const char* format : {"rtk", "tigre"})
    expect_error(ErrorKind::unsupported, "view 3", [&] { write_geometry(sheared, file("s"), format); });
  write_geometry(sheared, file("s"), "astra");
  expect_same(sheared, read_geometry(file("s"), "astra"));
  expect_error(ErrorKind::disk, "exists", [&] { write_geometry(sheared, file("s"), "astra"); });
  expect_error(ErrorKind::disk, "there is no folder", [&] { write_geometry(sheared, file("no/folder"), "astra"); });
  expect_error(ErrorKind::usage, "did you mean astra", [&] { write_geometry(sheared, file("t"), "astr"); });
  expect_error(ErrorKind::input, "not found", [&] { read_geometry(file("missing"), "rtk"); });
}

TEST(Exchange, FramesOfAnotherSizeThanWrittenAreRefused) {
  CircularScan scan;
  scan.source_axis_mm = 500, scan.source_detector_mm = 1000;
  scan.columns = 101, scan.rows = 61, scan.pixel_width_mm = scan.pixel_height_mm = 0.5;
  scan.angles_rad = {0, 1, 2};
  const ScanGeometry geometry = build_scan(scan);
  for (const std::string format : {"rtk", "astra", "matrices"}) {
    const std::string text = geometry_text(geometry, format);
    EXPECT_EQ(parse_geometry(text, "x", format, frames(101, 61)).columns, 101);
    for (const auto& [columns, rows] : {std::pair{50, 61}, std::pair{101, 62}}) try {
        parse_geometry(text, "x", format, frames(columns, rows));
        ADD_FAILURE() << format;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_NE(error.parts().what.find("another size"), std::string::npos);
      }
  }
  const std::string rtk = geometry_text(geometry, "rtk");
  EXPECT_NO_THROW(parse_rtk(rtk, "x", frames(101, 61, 0.5, 0.5)));
  EXPECT_THROW(parse_rtk(rtk, "x", frames(101, 61, 0.502, 0.5)), Error);
}

// The matrices of a view whose detector stands farther off do not tell its pixels' size.
TEST(Rtk, IsWrittenForThePixelsOfTheFrames) {
  CircularScan scan;
  scan.source_axis_mm = 500, scan.source_detector_mm = 1000;
  scan.columns = 101, scan.rows = 61, scan.pixel_width_mm = 0.5, scan.pixel_height_mm = 0.25;
  scan.angles_rad = {0, 1};
  scan.perturbations.resize(2);
  scan.perturbations[0].detector_mm.z = 4;
  const ScanGeometry geometry = build_scan(scan);
  const std::string text = geometry_text(geometry, "rtk", frames(0, 0, 0.5));
  const Notes notes = parse_notes(text, "<!-- lepus detector");
  EXPECT_NEAR(parse_number(notes.at("pixel_width_mm"), ""), 0.5, pixel_tolerance);
  EXPECT_NEAR(parse_number(notes.at("pixel_height_mm"), ""), 0.25, pixel_tolerance);
  const ScanGeometry again = parse_rtk(text, "x", frames(101, 61, 0.5, 0.25));
  EXPECT_NEAR(again.source_detector_mm, 1004, 1e-9);
  for (std::size_t view = 0; view < 2; ++view)
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(again.matrices[view].m[i], geometry.matrices[view].m[i], 1e-9);
}

TEST(Exchange, SaysWhatIsMissingOrWrong) {
  const std::string good = "0 -500 0 0 500 0 0.5 0 0 0 0 0.25";
  expect_error(ErrorKind::usage, "columns", [&] { parse_astra(good, "x", {}); });
  expect_error(ErrorKind::input, "12 per view", [&] { parse_astra(good + " 1", "x", frames(9, 9)); });
  expect_error(ErrorKind::input, "line 2", [&] { parse_astra("0 -500 0\n0 five 0", "x", frames(9, 9)); });
  expect_error(ErrorKind::geometry, "view 0", [&] { parse_astra("0 500 0 0 900 0 1 0 0 0 0 1", "x", frames(9, 9)); });
  expect_error(ErrorKind::geometry, "view 0", [&] { parse_astra("0 -500 0 0 500 0 1 0 0 2 0 0", "x", frames(9, 9)); });
  expect_error(ErrorKind::input, "number", [&] { parse_astra("0 -500 0 0 nan 0 1 0 0 0 0 1", "x", frames(9, 9)); });
  expect_error(ErrorKind::usage, "pixel", [&] { parse_rtk(projection(""), "x", frames(9, 9)); });
  expect_error(ErrorKind::input, "<GantryAngel>",
               [&] { parse_rtk(projection("<GantryAngel>1</GantryAngel>"), "x", frames(9, 9, 1, 1)); });
  expect_error(ErrorKind::unsupported, "version", [&] {
    parse_rtk("<RTKThreeDCircularGeometry version=\"1\"></RTKThreeDCircularGeometry>", "x", frames(9, 9, 1, 1));
  });
  expect_error(ErrorKind::input, "not an RTK", [&] { parse_rtk("<svg></svg>", "x", frames(9, 9, 1, 1)); });
  expect_error(ErrorKind::input, "DSO",
               [&] { parse_tigre("{\"DSD\":1,\"nDetector\":[1,1],\"dDetector\":[1,1],\"angles\":[0]}", "x", {}); });
  expect_error(ErrorKind::input, "COR", [&] { parse_tigre(tigre(",\"COR\":[1,2,3]", "[0,1]"), "x", {}); });
  expect_error(ErrorKind::input, "JSON", [&] { parse_tigre("{\"DSD\":", "x", {}); });
  expect_error(ErrorKind::input, "beam",
               [&] { parse_matrices("# lepus matrices beam=\"laser\" columns=\"4\" rows=\"4\"\n", "x", {}); });
}

TEST(Exchange, GarbageIsRefusedAndNeverCrashes) {
  // Files with bytes changed, removed, doubled, cut off. Each must be read or refused with an Error; sanitizers watch.
  const ScanGeometry g = build_scan(random_scan(2, Beam::cone, 3));
  const std::string texts[] = {format_rtk(g, {}), format_astra(g, {}), format_tigre(g), format_matrices(g, {})};
  std::mt19937_64 engine(7);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = texts[round % 4];
    for (auto edits = engine() % 6; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = engine() % text.size();
      switch (engine() % 4) {
        case 0:
          text[at] = static_cast<char>(engine());
          break;
        case 1:
          text.erase(at, 1 + engine() % 20);
          break;
        case 2:
          text.insert(at, text.substr(engine() % text.size(), engine() % 50));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    try {
      const auto parse = round % 4 == 0   ? parse_rtk
                         : round % 4 == 1 ? parse_astra
                         : round % 4 == 2 ? parse_tigre
                                          : parse_matrices;
      check_views(parse(text, "x", {}));
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::internal) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4000);  // some are untouched
}

}  // namespace
}  // namespace lepus
