// SPDX-License-Identifier: Apache-2.0
// Phantom files: what they mean, and that every mistake is named with its line.
#include "simulate/phantom_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include <lepus/error.h>

namespace lepus {
namespace {

constexpr const char* everything = R"(
name = "all kinds"
combine = "replace"
[[shape]]
kind = "box"
size_mm = [40, 40, 40]
value_per_mm = 1
[[shape]]
kind = "ellipsoid"
centre_mm = [10, 0, 0]
half_axes_mm = [8, 2, 2]
rotation_deg = [0, 0, 90]
value_per_mm = 2
[[shape]]
kind = "cylinder"
name = "rod"
axis = [1, 0, 0]
first_axis = [0, 0, 1]
centre_mm = [-10, -10, 0]
half_axes_mm = [4, 1]
length_mm = 6
value_per_mm = 3.0
[[shape]]
kind = "cone"
centre_mm = [0, 0, 10]
bottom_radius_mm = 4
top_radius_mm = 2
aspect = 0.5
length_mm = 8
value_per_mm = 4
[[shape]]
kind = "sphere"
centre_mm = [-10, 10, 0]
radius_mm = 5
clip = [[0, 0, 1, 0.0], [-1, 0, 0, 10.0]]
material = "aluminium"
)";

TEST(PhantomFile, EveryKindIsWhereItShouldBe) {
  const Phantom p = parse_phantom_toml(everything, "all.toml");
  EXPECT_EQ(p.name(), "all kinds");
  EXPECT_EQ(p.combine(), Combine::replace);
  EXPECT_EQ(p.value_at({19, 19, 19}), 1);
  EXPECT_EQ(p.value_at({21, 0, 0}), 0);
  EXPECT_EQ(p.value_at({10, 7, 0}), 2);  // turned: its long axis is along y
  EXPECT_EQ(p.value_at({17, 0, 0}), 1);
  EXPECT_EQ(p.value_at({-12.9, -10, 3.9}), 3);  // wide along z, which is its first axis
  EXPECT_EQ(p.value_at({-13.1, -10, 0}), 1);
  EXPECT_EQ(p.value_at({-10, -8.9, 0}), 1);
  EXPECT_EQ(p.value_at({3.9, 0, 6.1}), 4);
  EXPECT_EQ(p.value_at({0, 1.9, 6.1}), 4);
  EXPECT_EQ(p.value_at({0, 2.1, 6.1}), 1);
  EXPECT_EQ(p.value_at({2.1, 0, 13.9}), 1);
  EXPECT_EQ(p.value_at({1.9, 0, 13.9}), 4);
  EXPECT_NEAR(p.value_at({-9, 10, -1}), 2.699 * 0.02778, 1e-12);  // z <= 0 and x >= -10 are kept
  EXPECT_EQ(p.value_at({-9, 10, 1}), 1);
  EXPECT_EQ(p.value_at({-11, 10, -1}), 1);
}

void expect_error(const std::string& text, const std::string& where, const std::string& part, bool pd = false) {
  try {
    if (pd)
      parse_pd(text, "f.pd", {});
    else
      parse_phantom_toml(text, "f.toml");
    ADD_FAILURE() << "no error for: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    EXPECT_EQ(e.parts().where, where) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    EXPECT_FALSE(e.parts().hint.empty()) << e.what();
  }
}

TEST(PhantomFile, MistakesAreNamedWithTheirLine) {
  const std::string head = "[[shape]]\nkind = \"sphere\"\n";
  expect_error("x = ", "f.toml:1", "not a TOML file");
  expect_error("", "f.toml", "no shapes");
  expect_error("combine = \"sum\"\n", "f.toml:1", "unknown way");
  expect_error("nmae = \"a\"\n", "f.toml:1", "did you mean \"name\"?");
  expect_error("[[shape]]\nvalue_per_mm = 1\n", "f.toml:1", "\"kind\" is missing");
  expect_error("[[shape]]\nkind = \"spere\"\n", "f.toml:2", "did you mean \"sphere\"?");
  expect_error(head + "radius_mn = 3\nvalue_per_mm = 1\n", "f.toml:3", "did you mean \"radius_mm\"?");
  expect_error(head + "value_per_mm = 1\n", "f.toml:1", "\"radius_mm\" is missing");
  expect_error(head + "radius_mm = 1\n", "f.toml:1", "either value_per_mm or material");
  expect_error(head + "radius_mm = 1\nvalue_per_mm = 1\nmaterial = \"iron\"\n", "f.toml:1", "either value_per_mm");
  expect_error(head + "radius_mm = 1\nmaterial = \"irn\"\n", "f.toml:4", "did you mean \"iron\"?");
  expect_error(head + "radius_mm = \"1\"\nvalue_per_mm = 1\n", "f.toml:3", "is not a number");
  expect_error(head + "radius_mm = -1\nvalue_per_mm = 1\n", "f.toml:1", "half axes");
  expect_error(head + "radius_mm = 1\nvalue_per_mm = 1\ncentre_mm = [1, 2]\n", "f.toml:5", "list of 3 numbers");
  expect_error(head + "radius_mm = 1\nvalue_per_mm = 1\nclip = [[0, 0, 1]]\n", "f.toml:5", "list of 4 numbers");
  EXPECT_THROW(read_phantom("does-not-exist.toml"), Error);
}

TEST(PhantomFile, PdForm) {
  const Phantom p = parse_pd(
      "units=mm\n"
      "{type=sphere; x=2*cos(60); r=0.5; rhoe=1.8*0.554;} # on top\n"
      "{type=cylinder_y; dy=6; rx=1; rz=3; rhoe=0.554;}\n"
      "{type=box; rx=9; ry=9; rz=9; clipz>-2; rhoe=0.277;}\n",
      "f.pd", {.water_per_mm = 0.02});
  EXPECT_NEAR(p.value_at({1, 0, 0}), 0.036, 1e-15);
  EXPECT_NEAR(p.value_at({0, 2.9, 0}), 0.02, 1e-15);
  EXPECT_NEAR(p.value_at({0, 0, 2.9}), 0.02, 1e-15);
  EXPECT_NEAR(p.value_at({0, 3.1, 0}), 0.01, 1e-15);
  EXPECT_EQ(p.value_at({8, 8, -3}), 0);
  expect_error("{type=sphere; r=1; rhoe=1;}\n{type=sphere; q=1; rhoe=1;}\n", "f.pd:2", "unknown entry \"q\"", true);
  expect_error("{type=spere; r=1; rhoe=1;}\n", "f.pd:1", "did you mean \"sphere\"?", true);
  expect_error("{type=sphere; rhoe=1;}\n", "f.pd:1", "\"r\" is missing", true);
  expect_error("{type=sphere; r=1+2; rhoe=1;}\n", "f.pd:1", "not a number", true);
  expect_error("{type=sphere; r=1;\n", "f.pd:1", "not an object", true);
  expect_error("units=inch\n", "f.pd:1", "unknown unit", true);
  expect_error("\n\n", "f.pd", "no objects", true);
}

TEST(PhantomFile, ExamplesCanBeRead) {
  for (const char* name : {"step_wedge.toml", "turbine_blade.toml", "resolution_rods.toml"}) {
    const Phantom p = read_phantom(std::string(LEPUS_SOURCE_DIR "/examples/phantoms/") + name);
    EXPECT_GE(p.shapes().size(), 5u) << name;
    const Bounds b = p.bounds();
    EXPECT_LT(norm(b.high - b.low), 200) << name;
  }
}

}  // namespace
}  // namespace lepus
