// SPDX-License-Identifier: Apache-2.0
// Headers of SkyScan, phoenix, YXLON, Diondo and North Star: what they say, what is wrong with them, cut off anywhere.
#include <cmath>

#include "import/test_folder.h"

namespace lepus {
namespace {

using namespace import_test;

const std::string skyscan =
    "[System]\nScanner=SkyScan1173\nCamera Pixel Size (um)=5000\nCameraXYRatio=1.25\n[Acquisition]\nFilename "
    "Prefix=bone_\n"
    "Number of Files=4\nNumber of Rows=6\nNumber of Columns=8\nOptical Axis (line)=1.5\nObject to Source (mm)=100\n"
    "Camera to Source (mm)=400\nImage Pixel Size (um)=1250\nDepth (bits)=16\nReference Intensity=57000\nRotation Step "
    "(deg)=90\n"
    "Use 360 Rotation=YES\nFlat Field Correction=ON\nRotation Direction=CC\nScanning Start Angle=10\n";
const std::string phoenix =
    "[General]\nSystemName=v|tome|x\n[Geometry]\nFDD=400\nFOD=100\nVoxelSizeX=1.25\nVoxelSizeY=1.0\ncx=4.5\ncy=2.5\n["
    "CT]\n"
    "NumberImages=4\nRotationSector=360\nNrImgDone=4\n[Image]\nDimX=8\nDimY=6\nMirrorX=1\nFreeRay=50000\n";
const std::string yxlon =
    "<ScanParameter>\n<ConeBeamScanParameter>\n<PixelSize><Width>5</Width><Height>4</Height></PixelSize>\n"
    "<ProjectionSize><Width>8</Width><Height>6</Height></ProjectionSize>\n<ScanTrajectory><PixelPitch>5</PixelPitch>"
    "<Fdd>80</Fdd><Fod>20</Fod><YoCenter>0.1</YoCenter><NumberOfProjections>4</NumberOfProjections>"
    "<StartAngle>30</StartAngle><Rotation>360</Rotation></ScanTrajectory>\n</ConeBeamScanParameter>\n</"
    "ScanParameter>\n";
const std::string diondo =
    "<Scan><ScanParameter><HelixMode>false</HelixMode></ScanParameter>\n<Geometrie><SourceDetectorDist>400</"
    "SourceDetectorDist>"
    "<SourceObjectDist>100</SourceObjectDist></Geometrie>\n<Recon><ProjectionCount>4</ProjectionCount>"
    "<ProjectionDimX>8</ProjectionDimX><ProjectionDimY>6</ProjectionDimY><ProjectionPixelSizeX>5</ProjectionPixelSizeX>"
    "<ProjectionPixelSizeY>4</ProjectionPixelSizeY><ProjectionCenterOffsetX>0.2</ProjectionCenterOffsetX></Recon></"
    "Scan>\n";
const std::string northstar =
    "<efX-CT Project>\n<CT Project Configuration>\n<Rotation range>360\n</CT Project "
    "Configuration>\n<Detector>\n<width pixels>8\n"
    "<height pixels>6\n</Detector>\n<Object Radiograph>\n<pitch>5 4\n<number>4\n<angleStep>90\n</Object "
    "Radiograph>\n<Correction>\n"
    "<rotate>0\n<flipH>False\n</Correction>\n<Processed>\n<clockwise>True\n</Processed>\n<Result>\n<source>0.5 -0.3 "
    "-100\n"
    "<reference>-16 -11 300\n<axis>0.02 0.9998 0\n<normal>0 0 1\n<horizontal>1 0 0\n</Result>\n</efX-CT Project>\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

// As scan_0000.raw: 48 pixels of 16 bits.
void raw_frames(const Folder& folder, const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) folder.write(format("{}{:04}.raw", prefix, i), std::string(96, '\x20'));
}

// Where the middle of the volume is seen in a view.
Pixel seen(const Scan& scan, std::size_t view, Vec3 p) {
  const Matrix34& m = scan.geometry.matrices[view];
  const auto row = [&](int i) { return m(i, 0) * p.x + m(i, 1) * p.y + m(i, 2) * p.z + m(i, 3); };
  return {row(0) / row(2), row(1) / row(2)};
}

void expect_read_or_refused(const Folder& folder, const std::string& name, const std::string& header) {
  for (std::size_t cut = 0; cut < header.size(); cut += 11) {
    folder.write(name, header.substr(0, cut));
    try {
      folder.scan();
    } catch (const Error&) {
    }
  }
}

TEST(SkyScanHeader, gives_pixels_at_the_camera_and_the_central_row) {
  const Folder folder;
  folder.frames("bone_%04d.tif", 4);
  folder.write("bone_.log", skyscan);
  const Scan scan = folder.scan();
  EXPECT_EQ(scan.intensity_value, 57000);
  EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).u, 3.5, 1e-9);
  EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).v, 5 - 1.5, 1e-9);  // line 1.5 from the bottom of six rows
  const double turn = radians(10);
  EXPECT_NEAR(seen(scan, 0, {std::cos(turn), std::sin(turn), 0}).u - 3.5, 4 / 5.0,
              1e-9);                                              // 1 mm, magnified, pixels of 5 mm
  EXPECT_NEAR(seen(scan, 0, {0, 0, 1}).v - 3.5, -4 / 4.0, 1e-9);  // width / 1.25 = 4 mm
  expect_read_or_refused(folder, "bone_.log", skyscan);
}

TEST(SkyScanHeader, shifts_of_single_frames_are_applied) {
  const Folder folder;
  folder.frames("bone_%04d.tif", 4);
  folder.write("bone_.log", skyscan);
  folder.write("bone__TS.csv", "no,x,y\n0,0,0\n1,0.5,-1\n2,0,0\n3,0,0\n");
  const Scan scan = folder.scan();
  EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).u, 3.5, 1e-9);
  EXPECT_NEAR(seen(scan, 1, {0, 0, 0}).u, 4, 1e-9);
  EXPECT_NEAR(seen(scan, 1, {0, 0, 0}).v, 2.5, 1e-9);
  folder.write("bone__TS.csv", "0,0,0\n1,0.5,-1\n");
  expect_says(folder.error(), "the shifts do not match the frames");
}

TEST(SkyScanHeader, names_scans_that_stop_early_and_parallel_beams) {
  const Folder folder;
  folder.frames("bone_%04d.tif", 4);
  folder.write("bone_.log", with_field(skyscan, "Rotation Step (deg)", "40"));
  expect_says(folder.error(), "the views stop early");
  folder.write("bone_.log", with_field(skyscan, "Number of Files", "5"));
  expect_says(folder.error(), "frames are missing");
  folder.write("bone_.log", with_field(skyscan, "Object to Source (mm)", "1000000"));
  EXPECT_EQ(folder.scan().geometry.beam, Beam::parallel);
}

TEST(SkyScanHeader, given_numbers_go_before_all_that_is_made_of_the_log) {
  const Folder folder;
  folder.frames("bone_%04d.tif", 4);
  folder.write("bone_.log", skyscan);
  folder.write("bone__TS.csv", "no,x,y\n0,0,0\n1,0.5,-1\n2,0,0\n3,0,0\n");
  for (const GivenNumbers& given :
       {GivenNumbers{.pixel_mm = 10}, GivenNumbers{.source_detector_mm = 800}, GivenNumbers{.source_axis_mm = 50}}) {
    const Scan scan = read_scan_text(folder.text(given), folder.path() / "scan.toml");
    EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).v, 5 - 1.5, 1e-9);  // pixels stay pixels
    EXPECT_NEAR(seen(scan, 1, {0, 0, 0}).u, 4, 1e-9);
    EXPECT_NEAR(seen(scan, 1, {0, 0, 0}).v, 2.5, 1e-9);
  }
  expect_has(folder.text({.source_detector_mm = 800}), "pixel_width_mm = 10.0");  // 1.25 mm at the object
}

TEST(SkyScanHeader, a_byte_order_mark_changes_nothing) {
  const Folder folder;
  folder.frames("bone_%04d.tif", 4);
  folder.write("bone_.log", "\xef\xbb\xbf" + skyscan);
  expect_has(folder.text(), "pixel_height_mm = 4.0");
}

TEST(SkyScanHeader, of_connected_scans_the_one_that_is_named_is_read) {
  const Folder folder;
  for (const char* part : {"emb_~00", "emb_~01"}) {
    folder.frames(format("{}%08d.tif", part), 4);
    folder.write(format("{}.log", part), with_field(skyscan, "Filename Prefix", part));
  }
  const std::string text = folder.text({}, "emb_~01.log");
  expect_has(text, "\"emb_~0100000003.tif\"");
  EXPECT_EQ(text.find("emb_~0000000003"), std::string::npos);
  EXPECT_EQ(text.find("would be named"), std::string::npos);
}

TEST(PhoenixHeader, given_numbers_go_before_all_that_is_made_of_the_header) {
  const Folder folder;
  folder.frames("part_%05d.tif", 4);
  folder.write("part.pca", with_field(phoenix, "MirrorX", "0"));
  expect_has(folder.text(), "detector_shift_u_mm = -5.0");  // cx lies a pixel beside the middle
  expect_has(folder.text({.pixel_mm = 2}), "detector_shift_u_mm = -2.0");
  expect_has(folder.text({.source_detector_mm = 800}), "pixel_width_mm = 10.0");  // of a voxel of 1.25 mm
  folder.write("part.pca", phoenix);
  expect_has(folder.text(), "# Warning: cx and cy are taken as pixels of the mirrored image");
}

TEST(PhoenixHeader, gives_the_pixel_of_the_central_ray_and_leaves_out_the_closing_frame) {
  const Folder folder;
  folder.frames("part_%05d.tif", 5);
  folder.write("part.pca", phoenix);
  const Scan scan = folder.scan();
  EXPECT_EQ(scan.geometry.views(), 4);
  EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).u, 7 - 4.5, 1e-9);  // mirrored columns: cx is of the detector
  EXPECT_NEAR(seen(scan, 0, {1, 0, 0}).u - 2.5, -4 / 5.0, 1e-9);
  EXPECT_NEAR(seen(scan, 1, {0, 1, 0}).u - 2.5, -4 / 5.0, 1e-9);
  folder.write("part.pca", with_field(phoenix, "NrImgDone", "2"));
  expect_says(folder.error(), "the scan stopped early");
  expect_read_or_refused(folder, "part.pca", phoenix);
}

TEST(YxlonHeader, counts_in_pixels_of_the_trajectory) {
  const Folder folder;
  raw_frames(folder, "Projections/p_", 4);
  folder.write("ScanParameter.xml", yxlon);
  const Scan scan = folder.scan();
  EXPECT_NEAR(seen(scan, 0, {0, 0, 0}).u, 3.5 + 4 * 0.5 / 5, 1e-9);   // 0.1 pixels of 5 mm beside the central ray
  EXPECT_GT(seen(scan, 0, {0, 0, 1}).v, seen(scan, 0, {0, 0, 0}).v);  // raw frames begin at the bottom
  folder.write("ScanParameter.xml", replaced(yxlon, "<NumberOfProjections>4", "<NumberOfProjections>7"));
  expect_says(folder.error(), "frames are missing");
  folder.write("ScanParameter.xml",
               replaced(yxlon, "<ScanTrajectory>", "<ScanTrajectory xsi:type=\"HelixTrajectory\">"));
  expect_says(folder.error(), "the trajectory is no circle");
  folder.write("ScanParameter.xml",
               replaced(yxlon, "<ScanTrajectory>", "<ScanTrajectory xsi:type=\"CircleTrajectory\">"));
  EXPECT_EQ(folder.scan().geometry.views(), 4);
  expect_read_or_refused(folder, "ScanParameter.xml", yxlon);
}

TEST(DiondoHeader, reads_circles_alone) {
  const Folder folder;
  raw_frames(folder, "Projection/_0000,00_", 4);
  folder.write("scan.xml", diondo);
  EXPECT_NEAR(seen(folder.scan(), 0, {0, 0, 0}).u, 3.5 + 4 * 0.2 / 5, 1e-9);
  expect_has(folder.text(), "arc_deg = 360.0");
  expect_has(folder.text(), "# Warning: ProjectionCenterOffsetX = 0.2 is taken in mm");
  folder.write("scan.xml", replaced(diondo, "<ProjectionDimX>",
                                    "<ProjectionCountPer360deg>8</ProjectionCountPer360deg><ProjectionDimX>"));
  expect_has(folder.text(), "arc_deg = 180.0");
  folder.write("scan.xml", replaced(diondo, "<HelixMode>false", "<HelixMode>true"));
  expect_says(folder.error(), "HelixMode is on");
  expect_read_or_refused(folder, "scan.xml", diondo);
}

// The scanner as vectors: the object turns clockwise about its leaning axis, rays go from the source through a point to
// the detector.
TEST(NorthStarHeader, projects_as_the_vectors_of_the_scanner) {
  const Folder folder;
  folder.frames("Radiographs/r_%04d.tif", 4);
  folder.write("scan.nsipro", northstar);
  const Scan scan = folder.scan();
  const Vec3 source{0.5, -0.3, -100}, first{-16, -11, 300};
  const double phi = std::atan2(0.02, 0.9998);
  const Vec3 axis{std::sin(phi), std::cos(phi), 0},
      across{std::cos(phi), -std::sin(phi), 0};  // down; to the right of it
  for (std::size_t view = 0; view < 4; ++view)
    for (const Vec3 p : {Vec3{0, 0, 0}, Vec3{1, 2, 0.5}, Vec3{-2, 1, -0.7}}) {
      // lepus counts z from the plane of the source, up.
      const double turn = radians(90.0 * static_cast<double>(view));
      const double right = p.x * std::cos(turn) + p.y * std::sin(turn),
                   depth = -p.x * std::sin(turn) + p.y * std::cos(turn);
      const double down = dot(source, axis) - p.z;
      const Vec3 point{right * across.x + down * axis.x, right * across.y + down * axis.y, depth};
      const double scale = (first.z - source.z) / (point.z - source.z);
      const Pixel pixel = seen(scan, view, p);
      EXPECT_NEAR(pixel.u, (source.x + scale * (point.x - source.x) - first.x) / 5, 1e-9);
      EXPECT_NEAR(pixel.v, (source.y + scale * (point.y - source.y) - first.y) / 4, 1e-9);
    }
}

TEST(NorthStarHeader, turned_radiographs_flats_and_mistakes) {
  const Folder folder;
  folder.frames("Radiographs/r_%04d.tif", 4);
  folder.frames("Corrections/gain0.tif", 1);
  folder.frames("Corrections/offset.tif", 1);
  // 8 x 6 images of a detector that is 6 wide and 8 high; the header counts before the turn.
  folder.write("scan.nsipro", replaced(northstar, "<rotate>0", "<rotate>90"));
  const Scan scan = folder.scan();
  EXPECT_EQ(scan.recorded.columns, 6);
  EXPECT_EQ(scan.intensity, Intensity::flats);
  EXPECT_TRUE(scan.darks);
  folder.write("scan.nsipro", replaced(northstar, "<angleStep>90", "<angleStep>10"));
  expect_says(folder.error(), "the views stop early");
  folder.write("scan.nsipro", replaced(northstar, "<source>0.5 -0.3 -100", "<source>0.5 -0.3"));
  expect_says(folder.error(), "does not hold 3 numbers");
  folder.write("scan.nsipro", replaced(northstar, "-11 300", "-11 -200"));
  expect_says(folder.error(), "not in this order");
  expect_read_or_refused(folder, "scan.nsipro", northstar);
}

}  // namespace
}  // namespace lepus
