// SPDX-License-Identifier: Apache-2.0
#include "scan/edit_scan.h"

#include <gtest/gtest.h>

#include <lepus/error.h>

namespace lepus {
namespace {

std::string edited(const std::string& text, const NumbersOfKeys& keys = {{"shift", 6.6}, {"angle", -0.25}}) {
  return with_numbers(text, "geometry", keys, "scan.toml");
}

TEST(EditScan, ReplacesValuesAndAddsKeysAndKeepsTheRest) {
  EXPECT_EQ(
      edited(
          "# mine\n[frames]\nfiles = \"a\"\n\n  [geometry]  # of Ünal's scanner\nshift   = 1e3 # measured\nangle = 2\n"
          "[volume]\nshift = 3\n"),
      "# mine\n[frames]\nfiles = \"a\"\n\n  [geometry]  # of Ünal's scanner\nshift   = 6.6 # measured\nangle = -0.25\n"
      "[volume]\nshift = 3\n");
  EXPECT_EQ(edited("[geometry]\nother = 'ö' # é\nangle = 7\n"),
            "[geometry]\nshift = 6.6\nother = 'ö' # é\nangle = -0.25\n");
  EXPECT_EQ(edited("[geometry]\r\nother = 1\r\n"), "[geometry]\r\nshift = 6.6\r\nangle = -0.25\r\nother = 1\r\n");
  EXPECT_EQ(edited("[geometry]"), "[geometry]\nshift = 6.6\nangle = -0.25\n");
  EXPECT_EQ(edited("geometry = { a = 1, shift = 2, angle = 3 }\n"),
            "geometry = { a = 1, shift = 6.6, angle = -0.25 }\n");
  EXPECT_EQ(edited("geometry.shift = 2\ngeometry.angle = 3 # x\n"),
            "geometry.shift = 6.6\ngeometry.angle = -0.25 # x\n");
  // Twice is as once.
  EXPECT_EQ(edited(edited("[geometry]\na = 1\n")), edited("[geometry]\na = 1\n"));
}

TEST(EditScan, RefusesWhatItCannotDo) {
  for (const char* text : {"[frames]\n", "geometry = { a = 1 }\n", "geometry.a = 1\n", "[geometry]\na = \n"}) try {
      edited(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.parts().where, "scan.toml");
    }
}

}  // namespace
}  // namespace lepus
