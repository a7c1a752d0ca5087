// SPDX-License-Identifier: Apache-2.0
// Geometry from parameters, angle lists, perturbations, matrices; what contradicts itself; selected rows.
#include <cmath>

#include "geometry/camera.h"
#include "geometry/exchange.h"
#include "scan/scan_folder_test.h"
#include <lepus/math.h>

namespace lepus {
namespace {

using namespace scan_test;

struct Pixel {
  double u, v;
};
Pixel project(const ScanGeometry& geometry, std::size_t view, Vec3 point) {
  const Vec3 p = transform(geometry.matrices[view], point);
  return {p.x / p.z, geometry.beam == Beam::fan ? p.y : p.y / p.z};
}

// The matrices come from a few dozen double operations on numbers below 1e3: 1e-10 is far above their rounding.
constexpr double tight = 1e-10;

std::vector<double> angles_deg(const Scan& scan) {
  std::vector<double> angles;
  for (std::int64_t i = 0; i < scan.geometry.views(); ++i)
    angles.push_back(degrees(view_angle_rad(camera_of(scan.geometry, i))));
  return angles;
}

void expect_angles(const Scan& scan, double first, double step) {
  const auto found = angles_deg(scan);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(std::remainder(found[i] - (first + step * static_cast<double>(i)), 360.0), 0, 1e-9) << i;
}

TEST(GeometrySection, ParametersProjectKnownPoints) {
  const ScanFolder folder;
  const Scan scan = folder.read(frames_text +
                                "[geometry]\nsource_axis_mm = 100\nsource_detector_mm = 200\npixel_width_mm = 1\n"
                                "pixel_height_mm = 0.5\ndetector_shift_u_mm = 3\ndetector_shift_v_mm = -1\n");
  // Magnification 2. The detector's middle (7.5, 3.5) lies 3 mm right of and 1 mm above the central ray.
  const Pixel origin = project(scan.geometry, 0, {0, 0, 0});
  EXPECT_NEAR(origin.u, 7.5 - 3, tight);
  EXPECT_NEAR(origin.v, 3.5 + 2, tight);
  const Pixel point = project(scan.geometry, 0, {1, 0, 1});
  EXPECT_NEAR(point.u - origin.u, 2, tight);
  EXPECT_NEAR(point.v - origin.v, -4, tight) << "rows grow downwards";
  EXPECT_EQ(scan.geometry.source_detector_mm, 200);
  const Pixel mirrored =
      project(folder.read(scan_text + "mirror_columns = true\nmirror_rows = true\n").geometry, 0, {1, 0, 1});
  EXPECT_NEAR(mirrored.u, 7.5 - 2, tight);
  EXPECT_NEAR(mirrored.v, 3.5 + 2, tight);
}

TEST(GeometrySection, EveryFormOfAngles) {
  const ScanFolder folder;
  folder.write_text("angles.txt", "# degrees\n0, 30 60;90\t120\n+150 180 210 240 2.7e2 300 330 # the end\n");
  folder.write_text("more.txt", "7 7 10 20 30 40 50 60 70 80 90 100 110 120 7\n");
  expect_angles(folder.read(scan_text), 0, 30);
  expect_angles(folder.read(scan_text + "arc_deg = 180\nfirst_angle_deg = 45\n"), 45, 15);
  expect_angles(folder.read(scan_text + "angle_step_deg = 2\nfirst_angle_deg = -10\n"), -10, 2);
  expect_angles(folder.read(scan_text + "angles_deg = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n"), 5, 1);
  expect_angles(folder.read(scan_text + "angles_file = \"angles.txt\"\n"), 0, 30);
  expect_angles(folder.read(scan_text + "angles_file = \"more.txt\"\nfirst_angle_index = 2\n"), 10, 10);
  expect_angles(folder.read(scan_text + "direction = \"clockwise\"\nfirst_angle_deg = 10\n"), -10, -30);
  // A part of the views keeps the angles of the whole scan.
  expect_angles(folder.read(frames_text + "first_view = 2\nview_step = 3\n" + cone_text), 60, 90);
}

TEST(GeometrySection, DecimalCommasAreNotTakenForTwoNumbers) {
  const ScanFolder folder;
  // Six lines of two numbers, or six numbers: with first_angle_index either would do.
  folder.write_text("commas.txt", "# degrees\n0,5\n-30,5\n60\n90,5;120,5\n150,5\n180,5\n");
  std::string text = scan_text + "angles_file = \"commas.txt\"\nfirst_angle_index = 0\n";
  const Error error = folder.error(text);
  expect_error(error, text, "angles_file", "\"0,5\" may be one number or two", "decimal commas", "0.5");
  expect_contains(error.parts().where, "commas.txt:2");
  // A blank, a point or a third number say which it is.
  for (const char* rest : {"90, 120\n", "90.0,120\n", "90,120,150\n"}) {
    folder.write_text("fine.txt", "0,30\n60\n" + std::string(rest));
    text = scan_text + "angles_file = \"fine.txt\"\n";
    expect_error(folder.error(text), text, "angles_file", "do not match", "there are 12 frames", "");
  }
  folder.write_text("far.txt", "0 30 60 90 120 150 180 210 240 270 300 1e308\n");
  text = scan_text + "angles_file = \"far.txt\"\n";
  expect_error(folder.error(text), text, "angles_file", "1e+308 degrees", "no scanner", "unit");
}

TEST(GeometrySection, AnglesThatDoNotMatch) {
  const ScanFolder folder;
  folder.write_text("short.txt", "1 2 3\n");
  folder.write_text("long.txt", "1 2 3 4 5 6 7 8 9 10 11 12 13\n");
  folder.write_text("bad.txt", "1 2\n3 four\n");
  folder.write_text("nan.txt", "1 nan\n");
  std::string text = scan_text + "angles_deg = [1, 2]\n";
  expect_error(folder.error(text), text, "angles_deg", "the angles do not match the frames",
               "2 angles, there are 12 frames", "each frame");
  text = scan_text + "angles_file = \"short.txt\"\n";
  expect_error(folder.error(text), text, "angles_file", "do not match", "3 angles, there are 12 frames", "missing");
  text = scan_text + "angles_file = \"long.txt\"\n";
  expect_error(folder.error(text), text, "angles_file", "do not match", "13 angles, there are 12 frames",
               "first_angle_index");
  text = scan_text + "angles_file = \"long.txt\"\nfirst_angle_index = 5\n";
  expect_error(folder.error(text), text, "first_angle_index", "do not match", "13 angles", "only 8 remain");
  text = scan_text + "angles_file = \"bad.txt\"\n";
  Error error = folder.error(text);
  expect_error(error, text, "angles_file", "\"four\" is not a finite number", "", "# starts a comment");
  expect_contains(error.parts().where, "bad.txt:2");
  text = scan_text + "angles_file = \"nan.txt\"\n";
  expect_error(folder.error(text), text, "angles_file", "\"nan\" is not a finite number", "", "");
  text = scan_text + "angles_file = \"none.txt\"\n";
  error = folder.error(text);
  expect_error(error, text, "angles_file", "cannot open", "no such file", "relative to its folder");
  expect_contains(error.parts().where, "none.txt");
  text = scan_text + "angles_dataset = \"/exchange/theta\"\n";
  expect_error(folder.error(text), text, "angles_dataset", "needs frames in an HDF5, MATLAB, .npz or FITS file",
               "frames.raw", "angles_file");
}

TEST(GeometrySection, AnglesGivenTwice) {
  const ScanFolder folder;
  std::string text = scan_text + "arc_deg = 180\nangle_step_deg = 3\n";
  expect_error(folder.error(text), text, "angle_step_deg", "the angles are given twice",
               "geometry.arc_deg and geometry.angle_step_deg", "keep one");
  text = scan_text + "angles_deg = [1]\nfirst_angle_deg = 3\n";
  expect_error(folder.error(text), text, "first_angle_deg", "given twice", "geometry.angles_deg", "keep one");
  text = scan_text + "first_angle_index = 3\n";
  expect_error(folder.error(text), text, "first_angle_index", "no use here", "angles_file", "leave it out");
}

TEST(GeometrySection, Perturbations) {
  const ScanFolder folder;
  std::string lines = "# source u v d, detector u v d, in-plane pitch yaw, angle\n";
  for (int i = 0; i < frames; ++i) lines += i == 1 ? "0,0,0, 0.5,-0.25,0, 0,0,0, 0\n" : "0 0 0 0 0 0 0 0 0 0\n";
  folder.write_text("jitter.csv", lines);
  const Scan moved = folder.read(scan_text + "perturbations_file = \"jitter.csv\"\n");
  const Scan still = folder.read(scan_text);
  EXPECT_TRUE(moved.geometry.matrices[0] == still.geometry.matrices[0]);
  // The detector moves right and up, so the object's shadow moves left and down on it.
  const Pixel a = project(still.geometry, 1, {0, 0, 0}), b = project(moved.geometry, 1, {0, 0, 0});
  EXPECT_NEAR(b.u - a.u, -0.5, tight);
  EXPECT_NEAR(b.v - a.v, 0.25, tight);

  const std::string text = scan_text + "perturbations_file = \"jitter.csv\"\n";
  folder.write_text("jitter.csv", "0 0 0 0 0 0 0 0 0 0\n0 0 0\n");
  expect_error(folder.error(text), text, "perturbations_file", "does not hold 10 numbers", "jitter.csv:2",
               "source u, v, depth");
  folder.write_text("jitter.csv", "0 0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0\n");
  expect_error(folder.error(text), text, "perturbations_file", "does not hold 10 numbers", "jitter.csv:1", "");
  folder.write_text("jitter.csv", "0 0 0 0 0 0 0 0 0 0\n");
  expect_error(folder.error(text), text, "perturbations_file", "do not match the frames",
               "1 lines, there are 12 frames", "one line");
}

TEST(GeometrySection, PerturbationsInTheScanFile) {
  const ScanFolder folder;
  std::string lines, list = "view_perturbations = [";
  for (int i = 0; i < frames; ++i)
    for (int k = 0; k < 10; ++k) {
      const std::string number = format("{}", 0.01 * (i + 1) * (k - 4));
      lines += number + (k == 9 ? "\n" : " ");
      list += number + ", ";
    }
  folder.write_text("jitter.csv", lines);
  const Scan of_file = folder.read(scan_text + "perturbations_file = \"jitter.csv\"\n");
  const Scan of_list = folder.read(scan_text + list + "]\n"), still = folder.read(scan_text);
  for (std::size_t i = 0; i < frames; ++i) {
    EXPECT_TRUE(of_list.geometry.matrices[i] == of_file.geometry.matrices[i]) << i;
    EXPECT_FALSE(of_list.geometry.matrices[i] == still.geometry.matrices[i]) << i;
  }
  std::string text = scan_text + list + "]\nperturbations_file = \"jitter.csv\"\n";
  expect_error(folder.error(text), text, "view_perturbations", "given twice", "geometry.perturbations_file and",
               "keep");
  text = scan_text + list + "1]\n";
  expect_error(folder.error(text), text, "view_perturbations", "do not match the frames",
               "121 numbers, there are 12 frames", "ten numbers");
}

TEST(GeometrySection, ShiftsOfSingleViews) {
  const ScanFolder folder;
  const std::string text = scan_text + "view_shifts_u_mm = [0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  const Scan still = folder.read(scan_text), moved = folder.read(text);
  EXPECT_TRUE(moved.geometry.matrices[0] == still.geometry.matrices[0]);
  EXPECT_NEAR(project(moved.geometry, 1, {0, 0, 0}).u - project(still.geometry, 1, {0, 0, 0}).u, -0.5, tight);
  std::string lines;
  for (int i = 0; i < frames; ++i) lines += "0 0 0 0 -0.25 0 0 0 0 0\n";
  folder.write_text("jitter.csv", lines);
  const Scan both = folder.read(text + "perturbations_file = \"jitter.csv\"\n");
  EXPECT_NEAR(project(both.geometry, 1, {0, 0, 0}).u - project(still.geometry, 1, {0, 0, 0}).u, -0.5, tight);
  EXPECT_NEAR(project(both.geometry, 1, {0, 0, 0}).v - project(still.geometry, 1, {0, 0, 0}).v, 0.25, tight);
  const std::string few = scan_text + "view_shifts_v_mm = [1, 2]\n";
  expect_error(folder.error(few), few, "view_shifts_v_mm", "do not match the frames", "2 numbers, there are 12 frames",
               "one number");
}

std::string matrix_text(const std::vector<Matrix34>& matrices, double scale) {
  std::string text = "# row-major\n";
  for (const auto& matrix : matrices) {
    for (int i = 0; i < 12; ++i) text += format("{}{}", scale * matrix(i / 4, i % 4), i % 4 == 3 ? "\n" : " ");
    text += "\n";
  }
  return text;
}

TEST(GeometrySection, MatricesInAnyScaling) {
  const ScanFolder folder;
  for (const std::string beam : {"cone", "parallel"}) {
    const Scan truth = folder.read(scan_text + "axis_offset_mm = 0.4\npitch_deg = 2\nbeam = \"" + beam + "\"\n");
    folder.write_text("matrices.txt", matrix_text(truth.geometry.matrices, -3.25));
    const Scan scan =
        folder.read(frames_text + "[geometry]\nmatrices_file = \"matrices.txt\"\nbeam = \"" + beam + "\"\n");
    EXPECT_EQ(scan.geometry.columns, columns);
    EXPECT_EQ(scan.geometry.rows, rows);
    EXPECT_EQ(scan.geometry.source_detector_mm, 0) << "matrices do not tell it";
    for (std::size_t view = 0; view < 12; ++view)
      for (std::size_t i = 0; i < 12; ++i)
        EXPECT_NEAR(scan.geometry.matrices[view].m[i], truth.geometry.matrices[view].m[i], tight);
  }
}

TEST(GeometrySection, MatricesInVoxelIndices) {
  const ScanFolder folder;
  const Scan truth = folder.read(scan_text);
  const std::string volume =
      "[volume]\nsize = [8, 9, 10]\nvoxel_mm = [0.5, 0.6, 0.4]\ncentre_mm = [0.2, 0, 0.1]\nfirst_slice = 3\n";
  // Voxel (0, 0, 0) of the whole volume, whatever part of it is reconstructed.
  const VolumeGrid whole{8, 9, 10, {0.2 - 3.5 * 0.5, -4 * 0.6, 0.1 - 4.5 * 0.4}, {0.5, 0.6, 0.4}};
  std::vector<Matrix34> in_voxels;
  for (const auto& matrix : truth.geometry.matrices) in_voxels.push_back(in_voxel_indices(matrix, whole));
  folder.write_text("matrices.txt", matrix_text(in_voxels, 2));
  const std::string text = frames_text + "[geometry]\nmatrices_file = \"matrices.txt\"\nmatrices_unit = \"voxels\"\n";
  const Scan scan = folder.read(text + volume);
  for (std::size_t view = 0; view < 12; ++view)
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(scan.geometry.matrices[view].m[i], truth.geometry.matrices[view].m[i], tight);
  expect_error(folder.error(text), text, "matrices_unit", "need a volume", "size and voxel_mm", "size = [nx, ny, nz]");
}

TEST(GeometrySection, MatricesThatCannotBeUsed) {
  const ScanFolder folder;
  const std::string text = frames_text + "[geometry]\nmatrices_file = \"matrices.txt\"\n";
  auto matrices = folder.read(scan_text).geometry.matrices;
  matrices[5] = {};
  folder.write_text("matrices.txt", matrix_text(matrices, 1));
  const Error error = folder.error(text);
  EXPECT_EQ(error.kind(), ErrorKind::geometry);
  expect_contains(error.parts().where, format("scan.toml:{}", line_of(text, "matrices_file")));
  expect_contains(error.parts().where, "view 5");
  matrices[5] = matrices[4];
  matrices.pop_back();
  folder.write_text("matrices.txt", matrix_text(matrices, 1));
  expect_error(folder.error(text), text, "matrices_file", "the geometry does not match the frames",
               "11 views, there are 12 frames", "one view");
}

TEST(GeometrySection, ExactlyOneSource) {
  const ScanFolder folder;
  std::string text = scan_text + "matrices_file = \"m.txt\"\n";
  expect_error(folder.error(text), text, "source_axis_mm", "the geometry is given twice",
               "geometry.matrices_file and geometry.source_axis_mm", "keep one");
  text = frames_text + "[geometry]\nmatrices_file = \"m.txt\"\nimport_file = \"g.xml\"\n";
  expect_error(folder.error(text), text, "import_file", "given twice",
               "geometry.matrices_file and geometry.import_file", "");
  text = frames_text + "[geometry]\nimport_file = \"g.xml\"\nbeam = \"cone\"\n";
  expect_error(folder.error(text), text, "beam", "given twice", "geometry.import_file and geometry.beam", "");
  text = scan_text + "matrices_unit = \"mm\"\n";
  expect_error(folder.error(text), text, "matrices_unit", "no use here", "no matrices_file", "leave it out");
  text = scan_text + "import_format = \"rtk\"\n";
  expect_error(folder.error(text), text, "import_format", "no use here", "no import_file", "leave it out");
}

// What lepus exports it imports again: the same matrices, to the 17 digits that files hold.
TEST(GeometrySection, ImportedFiles) {
  const ScanFolder folder;
  const Scan truth = folder.read(scan_text + "detector_shift_u_mm = 0.5\naxis_offset_mm = 0.25\nyaw_deg = 1\n");
  for (const std::string kind : {"rtk", "astra", "tigre", "matrices"}) {
    SCOPED_TRACE(kind);
    const std::string name = kind == "rtk" ? "g.xml" : "g." + kind;
    const ScanGeometry exported = kind == "tigre" ? folder.read(scan_text).geometry : truth.geometry;
    write_geometry(exported, folder.file(name), kind);
    const std::string text =
        frames_text + "[geometry]\n" +
        (kind == "matrices" ? "matrices_file = \"" + name + "\"\n"
                            : "import_file = \"" + name + "\"\nimport_format = \"" + kind + "\"\n");
    const Scan scan = folder.read(text);
    EXPECT_NEAR(scan.geometry.source_detector_mm, exported.source_detector_mm, 1e-6);
    ASSERT_EQ(scan.geometry.views(), 12);
    for (std::size_t view = 0; view < 12; ++view)
      for (const Vec3 point : {Vec3{0, 0, 0}, Vec3{1, 2, 0.5}, Vec3{-2, 1, -1}}) {
        const Pixel a = project(exported, view, point), b = project(scan.geometry, view, point);
        EXPECT_NEAR(a.u, b.u, 1e-8);
        EXPECT_NEAR(a.v, b.v, 1e-8);
      }
    const Scan again = folder.read(scan.resolved);
    EXPECT_TRUE(again.geometry.matrices == scan.geometry.matrices) << scan.resolved;
    EXPECT_EQ(again.resolved, scan.resolved);
  }
  std::string text = frames_text + "[geometry]\nimport_file = \"g.xml\"\nimport_unit_mm = 3\n";
  expect_error(folder.error(text), text, "import_unit_mm", "geometry.import_unit_mm has no use here",
               "import_format is rtk", "leave it out");
  text = frames_text + "[geometry]\nimport_file = \"g.astra\"\n";
  expect_error(folder.error(text), text, "[geometry]", "geometry.import_format is missing", "does not tell",
               "RTK's XML");
  text = frames_text + "[geometry]\nimport_file = \"none.xml\"\n";
  const Error error = folder.error(text);
  expect_error(error, text, "import_file", "not found", "", "");
  expect_contains(error.parts().where, "none.xml");
  ScanGeometry fewer = truth.geometry;
  fewer.matrices.pop_back();
  write_geometry(fewer, folder.file("fewer.xml"), "rtk");
  text = frames_text + "[geometry]\nimport_file = \"fewer.xml\"\n";
  expect_error(folder.error(text), text, "import_file", "does not match the frames", "11 views, there are 12 frames",
               "");
}

TEST(GeometrySection, WhatIsMissingOrImpossible) {
  const ScanFolder folder;
  std::string text = frames_text;
  expect_error(folder.error(text), text, "", "geometry.source_axis_mm is missing", "cone beam",
               "Distance from the source");
  text = frames_text + "[geometry]\nbeam = \"fan\"\nsource_axis_mm = 3\n";
  expect_error(folder.error(text), text, "[geometry]", "geometry.source_detector_mm is missing", "fan beam",
               "add source_detector_mm");
  text = frames_text + "[geometry]\nbeam = \"parallel\"\n";
  expect_error(folder.error(text), text, "[geometry]", "geometry.pixel_width_mm is missing", "parallel beam",
               "columns");
  text = frames_text + "[geometry]\nsource_axis_mm = 200\nsource_detector_mm = 100\npixel_width_mm = 1\n";
  const Error swapped = folder.error(text);
  EXPECT_EQ(swapped.kind(), ErrorKind::geometry);
  expect_error(swapped, text, "source_detector_mm", "between the source and the rotation axis", "source_axis_mm = 200",
               "swapped?");
  text = scan_text + "columns = 17\n";
  expect_error(folder.error(text), text, "columns = 17", "the frames have another size",
               "geometry.columns = 17, the frames are 16 columns x 8 rows", "leave it out");
  text = scan_text + "detector = \"arc\"\nyaw_deg = 3\n";
  const Error arc = folder.error(text);
  EXPECT_EQ(arc.kind(), ErrorKind::geometry);
  expect_error(arc, text, "[geometry]", "arc", "", "");
}

// The pixel that a selected row is in the whole frame: v = first + step * v'.
TEST(GeometrySection, SelectedRowsSeeTheSamePoints) {
  const ScanFolder folder;
  const std::string part = "first_row = 1\nlast_row = 7\nrow_step = 3\nfirst_view = 4\n";
  for (const std::string& geometry :
       {cone_text + "pitch_deg = 3\nin_plane_deg = 2\naxis_offset_mm = 0.5\n", cone_text + "beam = \"fan\"\n",
        cone_text + "beam = \"parallel\"\npitch_deg = 3\n", cone_text + "mirror_rows = true\n"}) {
    SCOPED_TRACE(geometry);
    const Scan whole = folder.read(frames_text + geometry), some = folder.read(frames_text + part + geometry);
    EXPECT_EQ(some.geometry.rows, 3);
    for (const Vec3 point : {Vec3{0, 0, 0}, Vec3{1, 2, 0.5}, Vec3{-2, 1, -1}})
      for (std::size_t view = 0; view < 8; ++view) {
        const Pixel a = project(whole.geometry, view + 4, point), b = project(some.geometry, view, point);
        EXPECT_NEAR(b.u, a.u, tight);
        EXPECT_NEAR(1 + 3 * b.v, a.v, tight);
      }
  }
}

TEST(GeometrySection, SelectedRowsOfAnArcDetector) {
  const ScanFolder folder;
  for (const std::string mirror : {"", "mirror_rows = true\n"}) {
    const std::string geometry = cone_text + "detector = \"arc\"\ndetector_shift_v_mm = 0.75\n" + mirror;
    const Scan whole = folder.read(frames_text + geometry);
    const Scan some = folder.read(frames_text + "first_row = 1\nlast_row = 7\nrow_step = 3\n" + geometry);
    const ArcDetector& a = *whole.geometry.recorded_on_arc;
    const ArcDetector& b = *some.geometry.recorded_on_arc;
    EXPECT_EQ(b.rows, 3);
    EXPECT_EQ(b.columns, a.columns);
    EXPECT_NEAR(1 + 3 * b.central_row, a.central_row, tight);
    EXPECT_NEAR(b.pixel_height_mm, 3 * a.pixel_height_mm, tight);
    // The flat detector differs, but a height above the central ray is the same length on both.
    const double up_a = project(whole.geometry, 0, {0, 0, 1}).v - project(whole.geometry, 0, {0, 0, 0}).v;
    const double up_b = project(some.geometry, 0, {0, 0, 1}).v - project(some.geometry, 0, {0, 0, 0}).v;
    EXPECT_NEAR(3 * up_b, up_a, tight);
  }
}

}  // namespace
}  // namespace lepus
