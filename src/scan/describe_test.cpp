// SPDX-License-Identifier: Apache-2.0
#include "scan/describe.h"

#include <nlohmann/json.hpp>

#include "scan/scan_folder_test.h"

namespace lepus {
namespace {

using namespace scan_test;

TEST(Describe, NumbersOfAConeBeamScan) {
  const ScanFolder folder;
  const auto j =
      describe_json(folder.read(scan_text + "arc_deg = 240\nfirst_angle_deg = 10\n[volume]\nsize = [5, 4, 3]\n"
                                            "[[correct]]\nkind = \"dead-pixels\"\n[output]\nfile = \"v.mha\"\n"));
  EXPECT_EQ(j["frames"]["count"], 12);
  EXPECT_EQ(j["frames"]["type"], "uint16");
  EXPECT_EQ(j["frames"]["bytes"], 12 * 16 * 8 * 2);
  EXPECT_EQ(j["frames"]["intensity"], "value");
  EXPECT_EQ(j["views"]["count"], 12);
  EXPECT_EQ(j["geometry"]["beam"], "cone");
  EXPECT_EQ(j["geometry"]["detector"], "flat");
  // Read back from the matrices: a few double operations.
  EXPECT_NEAR(j["geometry"]["first_angle_deg"].get<double>(), 10, 1e-9);
  EXPECT_NEAR(j["geometry"]["angle_step_deg"].get<double>(), 20, 1e-9);
  EXPECT_NEAR(j["geometry"]["arc_deg"].get<double>(), 240, 1e-9);
  EXPECT_NEAR(j["geometry"]["source_axis_mm"].get<double>(), 100, 1e-9);
  EXPECT_NEAR(j["geometry"]["magnification"].get<double>(), 2, 1e-9);
  EXPECT_NEAR(j["geometry"]["pixel_at_axis_mm"][0].get<double>(), 0.5, 1e-9);
  EXPECT_GT(j["field_of_view"]["radius_mm"].get<double>(), 3.7);
  EXPECT_LT(j["field_of_view"]["radius_mm"].get<double>(), 3.75);
  EXPECT_EQ(j["volume"]["size"], (std::vector<int>{5, 4, 3}));
  EXPECT_EQ(j["volume"]["bytes"], 5 * 4 * 3 * 4);
  EXPECT_EQ(j["volume"]["automatic"], false);
  EXPECT_EQ(j["corrections"][0]["kind"], "dead-pixels");
  EXPECT_EQ(j["corrections"][0]["threshold"], 0.05);
  EXPECT_EQ(j["output"], "v.mha");
}

TEST(Describe, ViewsInAnyOrderCoverWhatTheyCover) {
  const ScanFolder folder;
  const auto geometry = [&](const std::string& angles) {
    return describe_json(folder.read(scan_text + "angles_deg = [" + angles + "]\n"))["geometry"];
  };
  const auto turn = geometry("90, 0, 180, 30, 270, 330, 60, 210, 120, 300, 240, 150");
  EXPECT_NEAR(turn["first_angle_deg"].get<double>(), 90, 1e-9);
  EXPECT_NEAR(turn["arc_deg"].get<double>(), 360, 1e-9);
  EXPECT_NEAR(turn["angle_step_deg"].get<double>(), 30, 1e-9);
  const auto part = geometry("10, 350, 30, 340, 0, 50, 40, -40, 20, -30, 60, 70");
  EXPECT_NEAR(part["first_angle_deg"].get<double>(), -40, 1e-9);
  EXPECT_NEAR(part["arc_deg"].get<double>(), 120, 1e-9);
  const auto twice = geometry("0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 660");
  EXPECT_NEAR(twice["arc_deg"].get<double>(), 720, 1e-9);
  EXPECT_NEAR(geometry("0, -60, -120, -180, -240, -300, -360, -420, -480, -540, -600, -660")["arc_deg"].get<double>(),
              -720, 1e-9);
}

TEST(Describe, MethodStepsAndAxis) {
  const ScanFolder folder;
  const auto plain = describe_json(folder.read(scan_text + "first_angle_deg = -0.0\n"));
  EXPECT_EQ(plain["method"]["name"], "fdk");
  EXPECT_EQ(plain["geometry"]["center"], "given");
  EXPECT_EQ(plain["geometry"]["first_angle_deg"].dump(), "0.0");
  const Scan scan = folder.read(scan_text +
                                "center = \"auto\"\n[method]\nname = \"sirt\"\niterations = 7\n"
                                "[[post]]\nkind = \"ring-mask\"\n");
  const auto j = describe_json(scan);
  EXPECT_EQ(j["method"]["name"], "sirt");
  EXPECT_EQ(j["method"]["iterations"], 7);
  EXPECT_EQ(j["geometry"]["center"], "auto");
  EXPECT_EQ(j["post"][0]["kind"], "ring-mask");
  const std::string text = describe_text(scan);
  for (const char* words : {"sirt, 7 iterations", "auto: the axis is found", "ring-mask"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
  EXPECT_EQ(text.find("ram-lak"), std::string::npos) << text;
}

TEST(Describe, TextForPeople) {
  const ScanFolder folder;
  const std::string text = describe_text(folder.read(scan_text + "[volume]\nsize = [64, 4, 3]\n"));
  for (const char* part :
       {"12 of 16 x 8 pixels, uint16", "cone, flat detector", "source to axis 100 mm", "magnification 2",
        "360 deg in mean steps of 30 deg", "0.5 x 0.5 mm", "64 x 4 x 3 voxels", "ram-lak", "not seen by every view"})
    expect_contains(text, part);
  const std::string parallel = describe_text(
      folder.read(frames_text + "[geometry]\nbeam = \"parallel\"\npixel_width_mm = 0.01\narc_deg = 180\n"));
  expect_contains(parallel, "parallel, flat detector");
  EXPECT_EQ(parallel.find("magnification"), std::string::npos);
}

}  // namespace
}  // namespace lepus
