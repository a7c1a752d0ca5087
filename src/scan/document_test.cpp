// SPDX-License-Identifier: Apache-2.0
// The first check of a scan file: names, types, ranges, each with its line; and the table behind it.
#include "scan/document.h"

#include <set>

#include "scan/scan_folder_test.h"

namespace lepus {
namespace {

using scan_test::expect_contains;

Error error_of(const std::string& toml) {
  try {
    const ScanDocument document(toml, "folder/scan.toml");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error from\n" << toml;
  return Error(ErrorKind::internal, {});
}

struct Case {
  std::string toml;
  int line;
  std::string what, why, hint;
};

void expect(const Case& c) {
  SCOPED_TRACE(c.toml);
  const Error error = error_of(c.toml);
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.parts().where, format("folder/scan.toml:{}", c.line));
  expect_contains(error.parts().what, c.what);
  expect_contains(error.parts().why, c.why);
  expect_contains(error.parts().hint, c.hint);
}

TEST(ScanKeys, TableIsSound) {
  std::set<std::string> names, sections;
  for (const auto& section : scan_sections()) {
    EXPECT_FALSE(section.meaning.empty());
    sections.emplace(section.name);
  }
  for (const auto& key : scan_keys()) {
    SCOPED_TRACE(std::string(key.section) + "." + std::string(key.name));
    EXPECT_TRUE(names.insert(format("{}.{}", key.section, key.name)).second) << "twice";
    EXPECT_TRUE(sections.contains(std::string(key.section)));
    EXPECT_TRUE(key.meaning.ends_with('.')) << "a sentence";
    EXPECT_NE(key.default_toml.empty(), key.default_words.empty()) << "says a default in exactly one way"
                                                                   << " (or none, in words)";
    // Units are part of the names.
    for (const char* unit : {"mm", "deg"}) EXPECT_EQ(key.unit == unit, key.name.ends_with(std::string("_") + unit));
    const bool needs_choices = key.type == ScanKeyType::choice || key.type == ScanKeyType::choice_or_integers;
    EXPECT_EQ(needs_choices, !key.choices.empty());
  }
  // Every default is read by the same code as a file, so it has its key's type and range.
  for (const auto& key : scan_keys())
    EXPECT_EQ(default_values().contains(format("{}.{}", key.section, key.name)), !key.default_toml.empty());
}

TEST(ScanDocument, UnknownKeysSuggestTheNearest) {
  expect({"[geometry]\nbeam = \"cone\"\nsource_axs_mm = 5\n", 3, "unknown key geometry.source_axs_mm", "",
          "did you mean source_axis_mm?"});
  expect({"\n[geometry]\nvoxel_mm = 1\n", 3, "unknown key geometry.voxel_mm", "", "it belongs to [volume]"});
  expect({"[frames]\nvoxl_mm = 1\n", 2, "unknown key frames.voxl_mm", "",
          "did you mean voxel_mm, which belongs to [volume]?"});
  expect({"source_axis_mm = 1\n", 1, "outside every section", "", "it belongs to [geometry]"});
  expect({"[frames]\ncolumns = 1\n", 2, "unknown key frames.columns", "", "it belongs to [frames.raw]"});
  expect({"[frames]\nzzzzzzzzzz = 1\n", 2, "unknown key frames.zzzzzzzzzz", "", "docs/scan-file.md"});
  expect({"[frames.raw]\ncolunms = 1\n", 2, "unknown key frames.raw.colunms", "", "did you mean columns?"});
}

TEST(ScanDocument, UnknownSectionsSuggestTheNearest) {
  expect({"[geometri]\n", 1, "unknown section [geometri]", "", "did you mean [geometry]?"});
  expect(
      {"[frames]\nfiles = \"a\"\n[frames.row]\n", 3, "unknown section [frames.row]", "", "did you mean [frames.raw]?"});
  expect({"[[corect]]\n", 1, "unknown section [corect]", "", "did you mean [[correct]]?"});
  expect({"volume = 3\n", 1, "volume is a section", "found an integer", "write [volume]"});
}

TEST(ScanDocument, TypesAreSaidInWords) {
  expect({"[geometry]\nsource_axis_mm = \"5\"\n", 2, "geometry.source_axis_mm has the wrong type",
          "found text, expected number", "Distance from the source"});
  expect({"[geometry]\ncolumns = 5.5\n", 2, "wrong type", "found a number, expected integer", ""});
  expect({"[volume]\nmask = 1\n", 2, "wrong type", "found an integer, expected true or false", ""});
  expect({"[frames]\nfiles = 5\n", 2, "wrong type", "found an integer, expected text or list of texts", ""});
  expect({"[frames]\nfiles = [1]\n", 2, "wrong type", "found an integer", ""});
  expect({"[frames]\nfiles = []\n", 2, "wrong length", "found 0 values", ""});
  expect({"[geometry]\nangles_deg = 5\n", 2, "wrong type", "found an integer, expected list of numbers", ""});
  expect({"[geometry]\nangles_deg = [1, true]\n", 2, "wrong type", "found true or false", ""});
  expect(
      {"[volume]\nsize = [1, 2]\n", 2, "wrong length", "found 2 values, expected \"auto\" or list of 3 integers", ""});
  expect({"[volume]\nsize = \"aut\"\n", 2, "volume.size = \"aut\" is not known", "", "did you mean \"auto\"?"});
  expect({"[geometry]\nbeam = 1979-05-27\n", 2, "wrong type", "found a date or time", ""});
  expect({"[geometry]\nbeam = { a = 1 }\n", 2, "wrong type", "found a table", ""});
  expect({"[output]\nfile = \"\"\n", 2, "output.file is empty", "", ""});
}

TEST(ScanDocument, NumbersMustBeFiniteAndInRange) {
  expect({"[geometry]\naxis_offset_mm = nan\n", 2, "geometry.axis_offset_mm is not a finite number", "nan", ""});
  expect({"[geometry]\nangles_deg = [0, -inf]\n", 2, "not a finite number", "-inf", ""});
  expect({"[geometry]\nsource_axis_mm = 1e300\n", 2, "geometry.source_axis_mm is out of range",
          "found 1e+300, must be at least 1e-09 and at most 1e+09", "rotation axis"});
  expect({"[volume]\nvoxel_mm = 1e-300\n", 2, "volume.voxel_mm is out of range", "found 1e-300, must be at least 1e-09",
          ""});
  expect({"[geometry]\nin_plane_deg = -1e300\n", 2, "geometry.in_plane_deg is out of range",
          "found -1e+300, must be at least -1e+07 and at most 1e+07", ""});
  expect({"[geometry]\narc_deg = 359,5\n", 2, "not a valid TOML file", "", "359.5"});
  expect({"[geometry]\nsource_axis_mm = 0\n", 2, "geometry.source_axis_mm is out of range", "found 0, must be above 0",
          ""});
  expect({"[geometry]\nsource_detector_mm = -3\n", 2, "out of range", "found -3, must be above 0", ""});
  expect({"[filter]\ncutoff = 1.5\n", 2, "out of range", "must be above 0 and at most 1", ""});
  expect({"[frames]\nview_step = 0\n", 2, "out of range", "must be at least 1", ""});
  expect({"[volume]\nsize = [4, 4, 0]\n", 2, "out of range", "found 0", ""});
  expect({"[volume]\nvoxel_mm = [1, -1, 1]\n", 2, "out of range", "found -1", ""});
}

TEST(ScanDocument, ChoicesSuggestTheNearest) {
  expect({"[filter]\nwindow = \"han\"\n", 2, "filter.window = \"han\" is not known",
          "\"ram-lak\", \"shepp-logan\", \"cosine\", \"hamming\", \"hann\"", "did you mean \"hann\"?"});
}

TEST(ScanDocument, SyntaxErrorsHaveTheirLine) {
  expect({"[frames]\nfiles = \"a\nrows = 3\n", 2, "not a valid TOML file", "", "examples"});
  expect({"[frames]\norder = \"frames\"\norder = \"frames\"\n", 3, "not a valid TOML file", "order", ""});
}

TEST(ScanDocument, DecimalCommasAreShownWithAPoint) {
  const std::string remark = "  # " + std::string(1'000'000, 'a');
  expect({"[geometry]\narc_deg = -0,25" + remark + "\n", 2, "not a valid TOML file", "", "point: -0.25"});
  expect({"[geometry]\narc_deg=+1,5 \n", 2, "not a valid TOML file", "", "point: +1.5"});
  for (const char* text : {"1,", ",5", "1,5,2", "1,5 mm", ""})
    expect({format("[geometry]\narc_deg = {}\n", text), 2, "not a valid TOML file", "", "examples"});
}

TEST(ScanDocument, Corrections) {
  const ScanDocument document(
      "[[correct]]\nkind = \"dead-pixels\"\n\n[[correct]]\nkind = \"dead-pixels\"\nthreshold = 0.5\n", "scan.toml");
  ASSERT_EQ(document.corrections().size(), 2u);
  EXPECT_EQ(document.corrections()[0].kind, "dead-pixels");
  EXPECT_EQ(document.corrections()[0].line, 1);
  EXPECT_EQ(std::get<double>(document.corrections()[0].parameters.at("threshold")), 0.05) << "the default";
  EXPECT_EQ(document.corrections()[1].line, 4);
  EXPECT_EQ(std::get<double>(document.corrections()[1].parameters.at("threshold")), 0.5);

  expect({"[[correct]]\nkind = \"dead-pixel\"\n", 2, "unknown correction \"dead-pixel\"", "known: dead-pixels",
          "did you mean \"dead-pixels\"?"});
  expect({"[[correct]]\nkind = \"dead-pixels\"\ntreshold = 1\n", 3,
          "unknown key treshold of correction \"dead-pixels\"", "", "did you mean threshold?"});
  expect({"[[correct]]\nkind = \"dead-pixels\"\nthreshold = 3\n", 3, "correct.threshold is out of range", "at most 1",
          ""});
  expect({"[[correct]]\nthreshold = 3\n", 1, "correct.kind is missing", "", "known: dead-pixels"});
  expect({"[correct]\nkind = \"dead-pixels\"\n", 1, "correct is a list of sections", "found a table", "[[correct]]"});
}

TEST(ScanDocument, ValuesDefaultsAndPlaces) {
  const ScanDocument d(
      "[geometry]\nsource_axis_mm = 5\n[frames]\nfiles = [\"a\", \"b\"]\nflats = \"c\"\n[volume]\nvoxel_mm = 2\n",
      "folder/scan.toml");
  EXPECT_EQ(d.get<double>("geometry.source_axis_mm"), 5.0) << "an integer will do for a number";
  EXPECT_EQ(d.get<double>("geometry.arc_deg"), 360.0);
  EXPECT_FALSE(d.given("geometry.arc_deg"));
  EXPECT_FALSE(d.find<double>("geometry.angle_step_deg").has_value());
  EXPECT_EQ(d.get<std::vector<std::string>>("frames.files"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(d.get<std::vector<std::string>>("frames.flats"), (std::vector<std::string>{"c"}));
  EXPECT_EQ(d.get<std::vector<double>>("volume.voxel_mm"), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(d.where("geometry.source_axis_mm"), "folder/scan.toml:2");
  EXPECT_EQ(d.where("geometry.arc_deg"), "folder/scan.toml:1") << "its section's";
  EXPECT_EQ(d.where("filter.window"), "folder/scan.toml");
  EXPECT_EQ(d.folder(), "folder");
  EXPECT_EQ(ScanDocument("", "scan.toml").folder(), ".");
}

}  // namespace
}  // namespace lepus
