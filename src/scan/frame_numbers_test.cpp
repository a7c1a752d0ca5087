// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/format.h"
#include "scan/frame_numbers.h"

namespace lepus {
namespace {

using Files = std::vector<std::filesystem::path>;
using Names = std::vector<std::string>;

Files series(int first, int last, int step = 1, int without = -1) {
  Files files;
  for (int i = first; i <= last; i += step)
    if (i != without) files.emplace_back(format("f2/img_{:03}.tif", i));
  return files;
}

Files with(Files files, std::size_t at, const char* name) {
  files.insert(files.begin() + static_cast<std::ptrdiff_t>(at), name);
  return files;
}

Files rounded(double step) {  // names that tell the angle
  Files files;
  for (int i = 0; i < 100; ++i) files.emplace_back(format("deg_{:04.0f}.tif", step * i));
  return files;
}

TEST(FrameNames, NamesTheFileThatIsMissing) {
  EXPECT_EQ(look_at_names(series(0, 23, 1, 7)).missing, Names{"f2/img_007.tif"});
  EXPECT_TRUE(look_at_names(series(0, 23, 1, 7)).nearly_whole);
  EXPECT_EQ(look_at_names(series(90, 110, 1, 100)).missing, Names{"f2/img_100.tif"});
  EXPECT_EQ(look_at_names(series(1, 99, 2, 51)).missing, Names{"f2/img_051.tif"});
  EXPECT_EQ(look_at_names({"1.tif", "2.tif", "4.tif", "5.tif"}).missing, Names{"3.tif"}) << "in a short series too";
  EXPECT_EQ(look_at_names({"a1_t17.tif", "a2_t39.tif", "a3_t44.tif", "a5_t72.tif", "a6_t73.tif"}).missing,
            Names{"a4_t*.tif"})
      << "the number that grows evenly counts";
  Files two_folders = series(0, 20, 1, 7);
  for (int i = 0; i < 9; ++i) two_folders.emplace_back(format("g/{}.tif", i));
  EXPECT_EQ(look_at_names(two_folders).missing, Names{"f2/img_007.tif"});
}

TEST(FrameNames, AcceptsWholeSeriesAndOtherNames) {
  for (const Files& files :
       {series(5, 40), series(0, 300, 3), Files{"a.tif", "b.tif", "d.tif"}, Files{"x1.tif", "y2.tif", "x9.tif"},
        Files{"s1.h5"}, Files{"t1.tif", "t5.tif", "t6.tif", "t19.tif"}, Files(7, "live.tif"),
        Files{"a1.tif", "a2.tif", "a3.tif", "b1.tif", "b2.tif", "b3.tif"},
        Files{"p_0.00.tif", "p_0.50.tif", "p_1.00.tif", "p_1.50.tif"}, Files{"one/proj.tif", "two/proj.tif", "x/p.tif"},
        rounded(4.0 / 3), rounded(1.05), rounded(14.4)}) {
    const FrameNames names = look_at_names(files);
    EXPECT_TRUE(names.missing.empty()) << names.missing.front();
    EXPECT_TRUE(names.unlike.empty()) << files[names.unlike.front()];
    EXPECT_FALSE(names.same_number);
    EXPECT_EQ(names.mixed, "");
  }
}

TEST(FrameNames, TwoPartsOfUnequalLengthAreBothFrames) {
  Files files = series(0, 99);
  for (int i = 0; i < 30; ++i) files.emplace_back(format("f2/second_{:03}.tif", i));
  EXPECT_TRUE(look_at_names(files).unlike.empty());
  EXPECT_EQ(look_at_names(files).mixed, "");
  files.resize(103);
  EXPECT_EQ(look_at_names(files).unlike.size(), 3u);
}

TEST(FrameNames, NumbersOfFlatsAreNotMissing) {
  Files files = series(0, 9);
  for (const auto& file : series(12, 40)) files.push_back(file);
  FrameNames names = look_at_names(files);
  EXPECT_EQ(names.missing, (Names{"f2/img_010.tif", "f2/img_011.tif"}));
  leave_out(names, {"flats/img_010.tif", "flats/img_011.tif"});
  EXPECT_TRUE(names.missing.empty());
}

TEST(FrameNames, FindsStrangers) {
  FrameNames names = look_at_names(with(series(0, 23), 4, "f2/img_003 (copy).tif"));
  EXPECT_EQ(names.unlike, std::vector<std::size_t>{4});
  EXPECT_EQ(names.copies, std::vector<std::size_t>{4});
  EXPECT_EQ(names.usual, "img_000.tif");
  EXPECT_TRUE(names.missing.empty());
  names = look_at_names(with(series(0, 23), 24, "f2/preview.tif"));
  EXPECT_EQ(names.unlike, std::vector<std::size_t>{24});
  EXPECT_TRUE(names.copies.empty());
  names = look_at_names({"1.tif", "0002.tif", "2.tif", "3.tif", "4.tif", "5.tif"});
  ASSERT_TRUE(names.same_number);
  EXPECT_EQ(*names.same_number, std::pair(std::size_t{1}, std::size_t{2}));
  EXPECT_NE(look_at_names({"1_high.tif", "1_low.tif", "2_high.tif", "2_low.tif", "3_high.tif", "3_low.tif"})
                .mixed.find("#_high.tif, #_low.tif"),
            std::string::npos);
}

TEST(FrameNames, DoubtsAnOrderByDigits) {
  EXPECT_NE(look_at_names({"p-1.tif", "p-2.tif", "p-10.tif", "p0.tif", "p1.tif", "p2.tif"}).mixed.find("minus"),
            std::string::npos);
  EXPECT_NE(look_at_names({"p0.0.tif", "p0.5.tif", "p0.25.tif", "p0.75.tif"}).mixed.find("decimal point"),
            std::string::npos);
  EXPECT_EQ(look_at_names({"p-1.tif", "p-2.tif", "p-10.tif"}).mixed, "") << "a hyphen";
}

TEST(FrameNames, ExplainsACount) {
  Files files = series(0, 22);
  EXPECT_EQ(explain_count(look_at_names(files), files, 24), "f2/img_023.tif is missing");
  EXPECT_EQ(explain_count(look_at_names(files), files, 23), "");
  files = series(1, 22);
  EXPECT_EQ(explain_count(look_at_names(files), files, 23), "f2/img_023.tif is missing, or f2/img_000.tif");
  files = series(0, 22, 1, 7);
  EXPECT_EQ(explain_count(look_at_names(files), files, 23), "f2/img_007.tif is missing");
  files = with(series(0, 22), 23, "f2/preview.tif");
  EXPECT_NE(explain_count(look_at_names(files), files, 23).find("preview.tif is named unlike"), std::string::npos);
}

TEST(FrameTimes, TellOnlyWhereTheyCan) {
  std::vector<double> times(100);
  std::iota(times.begin(), times.end(), 1000.0);
  using Found = std::vector<std::size_t>;
  EXPECT_EQ(out_of_time(times), Found{});
  auto late = times;
  late[30] = 9000;
  EXPECT_EQ(out_of_time(late), Found{30});
  auto early = times;
  early[30] = 10;
  EXPECT_EQ(out_of_time(early), Found{30}) << "a frame of an older scan";
  auto changed = times;
  std::swap(changed[30], changed[31]);
  EXPECT_EQ(out_of_time(changed), Found{}) << "two that were written at once";
  EXPECT_EQ(out_of_time(std::vector<double>(100, 5.0)), Found{}) << "copies";
  std::reverse(times.begin(), times.end());
  EXPECT_EQ(out_of_time(times), Found{}) << "copied backwards";
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i * 37 % 100);
  EXPECT_EQ(out_of_time(times), Found{}) << "copied in any order";
}

}  // namespace
}  // namespace lepus
