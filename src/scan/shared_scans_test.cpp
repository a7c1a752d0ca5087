// SPDX-License-Identifier: Apache-2.0
// Scan files for real scans: HDF5 in the Data Exchange layout, and TIFF frames whose list of angles holds more.
#include <cstdlib>

#include "geometry/camera.h"
#include "scan/scan_folder_test.h"

namespace lepus {
namespace {

std::filesystem::path shared_data(const std::string& name) {
  const char* given = std::getenv("LEPUS_SHARED_DATA");
  return std::filesystem::path(given ? given : LEPUS_SOURCE_DIR "/../shared/data") / name;
}

double angle_deg(const Scan& scan, std::int64_t view) {
  return degrees(view_angle_rad(camera_of(scan.geometry, view)));
}

// Angles pass through a matrix and back: 1e-4 deg is far below a step, far above rounding (theta is stored as float).
constexpr double angle_tolerance_deg = 1e-4;

#ifdef LEPUS_HAVE_HDF5
TEST(SharedScans, ToothInHdf5) {
  const auto folder = shared_data("tomopy_tooth");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const Scan scan = read_scan_text(
      "[frames]\nfiles = \"tooth.h5\"\nflats = \"tooth.h5\"\ndarks = \"tooth.h5\"\n"
      "[geometry]\nbeam = \"parallel\"\npixel_width_mm = 0.005\nangles_dataset = \"/exchange/theta\"\n",
      folder / "scan.toml");
  EXPECT_EQ(scan.recorded.frames, 181);
  EXPECT_EQ(scan.recorded.rows, 2);
  EXPECT_EQ(scan.recorded.columns, 640);
  EXPECT_EQ(open_frames(*scan.flats)->frames(), 10);
  EXPECT_EQ(open_frames(*scan.darks)->frames(), 10);
  EXPECT_NEAR(angle_deg(scan, 180), 179.0055, angle_tolerance_deg);
}
#endif

#ifdef LEPUS_HAVE_TIFF
TEST(SharedScans, TiffFramesWithALongerListOfAngles) {
  const auto folder = shared_data("savu_i13_24737");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const std::string text =
      "[frames]\nfiles = \"tiffs\"\nflats = \"flat_00001.tiff\"\ndarks = \"dark_00001.tiff\"\n"
      "[geometry]\nbeam = \"parallel\"\npixel_width_mm = 0.01\nangles_file = \"angles.txt\"\n";
  const Scan scan = read_scan_text(text + "first_angle_index = 10\n", folder / "scan.toml");
  EXPECT_EQ(scan.recorded.frames, 91);
  EXPECT_EQ(scan.recorded.columns, 160);
  EXPECT_NEAR(angle_deg(scan, 0), -88.2, angle_tolerance_deg);
  EXPECT_NEAR(angle_deg(scan, 90), 91.8, angle_tolerance_deg);
  try {
    read_scan_text(text, folder / "scan.toml");
    ADD_FAILURE() << "111 angles for 91 frames";
  } catch (const Error& error) {
    scan_test::expect_contains(error.parts().why, "111 angles, there are 91 frames");
    scan_test::expect_contains(error.parts().hint, "first_angle_index");
  }
}
#endif

}  // namespace
}  // namespace lepus
