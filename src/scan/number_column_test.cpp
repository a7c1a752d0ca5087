// SPDX-License-Identifier: Apache-2.0
#include "scan/number_column.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <lepus/error.h>

namespace lepus {
namespace {

class NumberColumn : public testing::Test {
protected:
  std::vector<double> read(const std::string& text, const std::string& column) {
    std::ofstream(file_) << text;
    return read_number_column(file_, column);
  }
  std::string refusal(const std::string& text, const std::string& column) {
    try {
      read(text, column);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.what();
    }
    return "";
  }
  void TearDown() override { std::filesystem::remove(file_); }

  std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                (std::string("lepus_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

using Values = std::vector<double>;

TEST_F(NumberColumn, IsFoundByNameOrNumberWhateverSeparatesTheFields) {
  EXPECT_EQ(read("frame,Exposure (ms)\n0,100\n1,2e2\n", "exposure (MS)"), (Values{100, 200}));
  EXPECT_EQ(read("\"frame\";\"mAs\"\r\n0;1.5\r\n1;-2.5\r\n", "mAs"), (Values{1.5, -2.5}));
  EXPECT_EQ(read("frame\ttube current\n0\t+7\n", "tube current"), (Values{7}));
  EXPECT_EQ(read("  frame   mAs  \n\n  0   3\n  1   4  # late\n", "mAs"), (Values{3, 4}));
  EXPECT_EQ(read("Scanner X\n# frame mAs\n0 3\n1 4\n", "mas"), (Values{3, 4}));
  EXPECT_EQ(read("frame,mAs\n0,3\n1,4\n", "2"), (Values{3, 4}));
  EXPECT_EQ(read("0 3\n1 4", "1"), (Values{0, 1}));
}

TEST_F(NumberColumn, WhatIsMissingIsSaidWithFileAndLine) {
  EXPECT_NE(refusal("frame,mAs\n0,3\n1,\n", "mAs").find(":3"), std::string::npos);
  EXPECT_NE(refusal("frame,mAs\n0,3\n1\n", "mAs").find(":3"), std::string::npos);
  EXPECT_NE(refusal("frame,mAs\n0,nan\n", "mAs").find("nan"), std::string::npos);
  EXPECT_NE(refusal("frame,mAs\n0,3\n", "dose").find("\"mAs\""), std::string::npos);
  EXPECT_NE(refusal("frame,mAs\n0,3\n", "3").find("no column"), std::string::npos);
  EXPECT_NE(refusal("", "1").find("no column"), std::string::npos);
}

}  // namespace
}  // namespace lepus
