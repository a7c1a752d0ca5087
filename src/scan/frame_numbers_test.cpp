// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "scan/frame_numbers.h"

namespace lepus {
namespace {

std::vector<std::filesystem::path> series(int first, int last, int step, int without) {
  std::vector<std::filesystem::path> files;
  for (int i = first; i <= last; i += step)
    if (i != without)
      files.emplace_back("f2/img_" + std::string(i < 10 ? "00" : i < 100 ? "0" : "") + std::to_string(i) + ".tif");
  return files;
}

TEST(FrameNumbers, NamesTheFileThatIsMissing) {
  EXPECT_EQ(missing_in_series(series(0, 23, 1, 7)), "f2/img_007.tif");
  EXPECT_EQ(missing_in_series(series(90, 110, 1, 100)), "f2/img_100.tif");
  EXPECT_EQ(missing_in_series(series(1, 99, 2, 51)), "f2/img_051.tif");
}

TEST(FrameNumbers, AcceptsWholeSeriesAndOtherNames) {
  EXPECT_EQ(missing_in_series(series(5, 40, 1, -1)), "");
  EXPECT_EQ(missing_in_series(series(0, 300, 3, -1)), "");
  EXPECT_EQ(missing_in_series({"a.tif", "b.tif", "d.tif"}), "");
  EXPECT_EQ(missing_in_series({"x1.tif", "y2.tif", "x9.tif"}), "");
  EXPECT_EQ(missing_in_series({"s1.h5"}), "");
  EXPECT_EQ(missing_in_series({"t1.tif", "t5.tif", "t6.tif", "t19.tif"}), "") << "no series at all";
}

}  // namespace
}  // namespace lepus
