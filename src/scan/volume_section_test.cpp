// SPDX-License-Identifier: Apache-2.0
// The grid: automatic, given, a part of it, mirrored, and one that the scan does not see.
#include "scan/scan_folder_test.h"

#include "geometry/row_band.h"

namespace lepus {
namespace {

using namespace scan_test;

TEST(VolumeSection, AutomaticFillsTheFieldOfView) {
  const ScanFolder folder;
  const Scan scan = folder.read(scan_text);
  const VolumeGrid expected = automatic_grid(scan.geometry);
  EXPECT_TRUE(scan.automatic_grid);
  EXPECT_EQ(scan.grid.nx, expected.nx);
  EXPECT_EQ(scan.grid.nz, expected.nz);
  // Pixels of 1 mm at magnification 2, on both sides of the axis.
  EXPECT_NEAR(scan.grid.step_mm.x, 0.5, 1e-12);
  EXPECT_NEAR(scan.grid.step_mm.z, 0.5, 1e-12);
  EXPECT_NEAR(scan.grid.origin_mm.z, expected.origin_mm.z, 1e-12);
  EXPECT_TRUE(scan.warnings.empty());
  // A given voxel size changes the number of voxels, not what they cover.
  const Scan fine = folder.read(scan_text + "[volume]\nvoxel_mm = 0.25\n");
  EXPECT_EQ(fine.grid.nx, 2 * scan.grid.nx);
  EXPECT_EQ(fine.grid.nz, 2 * scan.grid.nz);
  EXPECT_NEAR(fine.grid.origin_mm.x - 0.125, scan.grid.origin_mm.x - 0.25, 1e-12) << "the outer face";
}

TEST(VolumeSection, GivenSize) {
  const ScanFolder folder;
  const Scan scan = folder.read(scan_text + "[volume]\nsize = [5, 4, 3]\n");
  EXPECT_FALSE(scan.automatic_grid);
  const VolumeGrid expected{5, 4, 3, {-1, -0.75, -0.5}, {0.5, 0.5, 0.5}};
  EXPECT_NEAR(scan.grid.origin_mm.x, expected.origin_mm.x, 1e-12) << "voxels as large as pixels at the axis";
  EXPECT_NEAR(scan.grid.origin_mm.y, expected.origin_mm.y, 1e-12);
  EXPECT_NEAR(scan.grid.origin_mm.z, expected.origin_mm.z, 1e-12);
  // Exact in binary: halves and quarters only.
  const Scan placed = folder.read(scan_text +
                                  "[volume]\nsize = [5, 4, 3]\nvoxel_mm = [0.25, 0.5, 0.75]\ncentre_mm = [1, 0, -0.5]\n"
                                  "mirror = [true, false, false]\nmask = false\n");
  EXPECT_TRUE(placed.grid == (VolumeGrid{5, 4, 3, {1.5, -0.75, -1.25}, {-0.25, 0.5, 0.75}}));
  EXPECT_FALSE(placed.field_of_view_mask);
}

TEST(VolumeSection, SlicesAndRegionAreAPartOfTheSameVoxels) {
  const ScanFolder folder;
  const std::string volume = "[volume]\nsize = [8, 6, 7]\nvoxel_mm = 0.25\nmirror = [false, true, false]\n";
  const VolumeGrid whole = folder.read(scan_text + volume).grid;
  const VolumeGrid part =
      folder.read(scan_text + volume + "first_slice = 1\nlast_slice = 6\nslice_step = 2\nregion_px = [2, 7, 1, 4]\n")
          .grid;
  EXPECT_EQ(part.nx, 5);
  EXPECT_EQ(part.ny, 3);
  EXPECT_EQ(part.nz, 3);
  EXPECT_EQ(part.centre(0, 0, 0), whole.centre(2, 1, 1));
  EXPECT_EQ(part.centre(4, 2, 2), whole.centre(6, 3, 5));

  std::string text = scan_text + volume + "first_slice = 7\n";
  expect_error(folder.error(text), text, "first_slice", "volume.first_slice = 7 is past the end", "7 slices", "0 to 6");
  text = scan_text + volume + "first_slice = 4\nlast_slice = 3\n";
  expect_error(folder.error(text), text, "last_slice", "no slices are selected", "first_slice = 4", "");
  text = scan_text + volume + "region_px = [2, 2, 0, 4]\n";
  expect_error(folder.error(text), text, "region_px", "empty or leaves the volume", "8 x 6 voxels", "[x0, x1, y0, y1]");
  text = scan_text + volume + "region_px = [0, 9, 0, 4]\n";
  expect_error(folder.error(text), text, "region_px", "empty or leaves the volume", "x [0, 9)", "");
}

TEST(VolumeSection, OutsideTheFieldOfView) {
  const ScanFolder folder;
  for (const char* centre : {"[50, 0, 0]", "[3, 3, 0]", "[0, 0, 40]", "[0, 0, -40]"}) {
    const std::string text = scan_text + "[volume]\nsize = [3, 3, 3]\nvoxel_mm = 0.25\ncentre_mm = " + centre + "\n";
    const Error error = folder.error(text);
    SCOPED_TRACE(error.what());
    EXPECT_EQ(error.kind(), ErrorKind::geometry);
    expect_error(error, text, "[volume]", "the volume lies outside the field of view", "it spans x", "centre_mm");
    expect_contains(error.parts().why, "the cylinder of radius 3.7");  // 7.5 pixels of 0.5 mm, a little less in a fan
  }
  const std::string beside = scan_text + "detector_shift_u_mm = 50\n[volume]\nsize = [3, 3, 3]\n";
  expect_error(folder.error(beside), beside, "[volume]", "outside the field of view", "no common part",
               "sees the axis");
  const std::string automatic = scan_text + "detector_shift_u_mm = 50\n";
  const Error error = folder.error(automatic);
  EXPECT_EQ(error.kind(), ErrorKind::geometry);
  expect_contains(error.parts().where, "scan.toml");
}

TEST(VolumeSection, PartlyOutsideIsAWarning) {
  const ScanFolder folder;
  for (const char* volume :
       {"size = [64, 4, 4]\n", "size = [4, 4, 64]\n", "size = [4, 4, 4]\ncentre_mm = [3.5, 0, 0]\n"}) {
    const Scan scan = folder.read(scan_text + "[volume]\n" + volume);
    ASSERT_EQ(scan.warnings.size(), 1u) << volume;
    expect_contains(scan.warnings[0], "a part of the volume is not seen by every view");
  }
  EXPECT_TRUE(folder.read(scan_text + "[volume]\nsize = [14, 14, 6]\n").warnings.empty());
}

TEST(VolumeSection, TooLarge) {
  const ScanFolder folder;
  std::string text = scan_text + "[volume]\nsize = [1000000, 1000000, 1000000]\nvoxel_mm = 1e-6\n";
  expect_error(folder.error(text), text, "size", "the volume is too large", "1000000 x 1000000", "check size");
  text = scan_text + "[volume]\nvoxel_mm = 1e-9\n";
  expect_error(folder.error(text), text, "voxel_mm", "too large a volume", "voxels over", "larger voxel_mm");
}

}  // namespace
}  // namespace lepus
