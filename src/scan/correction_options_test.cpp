// SPDX-License-Identifier: Apache-2.0
// Keys of [[correct]] sections and the options that they become: the same defaults, files that are read, lines in
// errors.
#include "scan/correction_options.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "scan/document.h"
#include "scan/parameters.h"
#include <lepus/error.h>

namespace lepus {
namespace {

CorrectionSpec spec_of(const std::string& lines) {
  return ScanDocument("[[correct]]\n" + lines, "folder/scan.toml").corrections().front();
}

std::string message_of(const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

// The page takes its defaults from the table of keys, a library's user gets those of the structs.
TEST(CorrectionOptions, DefaultsOfTheKeysAreThoseOfTheStructs) {
  EXPECT_EQ(hot_pixel_options(spec_of("kind = \"hot-pixels\"")), HotPixelOptions{});
  EXPECT_EQ(zinger_options(spec_of("kind = \"zingers\"")), ZingerOptions{});
  EXPECT_EQ(dead_pixel_options(spec_of("kind = \"dead-pixels\"")), DeadPixelOptions{});
  EXPECT_EQ(filter_correction_options(spec_of("kind = \"filter\"")), FilterCorrectionOptions{});
  EXPECT_EQ(rings_options(spec_of("kind = \"rings\"")), RingsOptions{});
  EXPECT_EQ(drift_options(spec_of("kind = \"drift\"")), DriftOptions{});
  EXPECT_EQ(lag_options(spec_of("kind = \"lag\"")), LagOptions{});
  EXPECT_EQ(hardening_options(spec_of("kind = \"hardening\"")), HardeningOptions{});
  // These have keys without a default.
  EXPECT_EQ(dose_options(spec_of("kind = \"dose\"\nvalues = [1, 2]")), (DoseOptions{.values = {1, 2}}));
  EXPECT_EQ(phase_options(spec_of("kind = \"phase\"\nenergy_kev = 20\ndelta_over_beta = 500")),
            (PhaseOptions{.energy_kev = 20, .delta_over_beta = 500}));
  Scan scan;
  scan.recorded.columns = 5;
  scan.recorded.rows = 9;
  scan.selection.first_row = 1;
  scan.selection.row_step = 2;
  EXPECT_EQ(defect_map_options(spec_of("kind = \"defect-map\"\nfile = \"map.txt\""), scan),
            (DefectMapOptions{.file = "folder/map.txt", .columns = 5, .rows = 9, .first_row = 1, .row_step = 2}));
}

TEST(CorrectionOptions, EveryKeyHasItsField) {
  EXPECT_EQ(hot_pixel_options(spec_of("kind = \"hot-pixels\"\nmethod = \"classic\"")).method, HotMethod::classic);
  EXPECT_EQ(
      hot_pixel_options(spec_of("kind = \"hot-pixels\"\ntolerance = 5\nwindow_px = 7\n"
                                "gap_px = 8\ndeviations = 1\nnormalise = false\nbelow = true\n"
                                "share_of_views = 0.5\nreplace_by = \"windows\"\niterations = 9\n"
                                "maximum_share = 0.7")),
      (HotPixelOptions{HotMethod::shifted_window, 7, 8, 5, 1, false, true, 0.5, HotReplacement::windows, 9, 0.7}));
  EXPECT_EQ(zinger_options(spec_of("kind = \"zingers\"\nneighbours = \"row\"")).neighbours,
            pixels::ZingerNeighbours::row);
  EXPECT_EQ(zinger_options(spec_of("kind = \"zingers\"\ntolerance = 5\nradius_views = 3\nalong_px = 4\n"
                                   "maximum_share = 0.7")),
            (ZingerOptions{5, 3, pixels::ZingerNeighbours::both, 4, 0.7}));
  EXPECT_EQ(filter_correction_options(
                spec_of("kind = \"filter\"\nfilter = \"bilateral\"\npictures = \"frames\"\ndimensions = 2\n"
                        "radius_px = 3\nsigma_px = 4.5\nsigma_value = 0.5\nvalue_range = 6\nborder = \"mirror\"\n"
                        "iterations = 7")),
            (FilterCorrectionOptions{{FilterKind::bilateral, 3, 4.5, 0.5, 2, FilterBorder::mirror, 7},
                                     FilterCorrectionOptions::Pictures::frames,
                                     6}));
  EXPECT_EQ(rings_options(spec_of("kind = \"rings\"\nmethod = \"combined\"")).method, RingMethod::combined);
  EXPECT_EQ(rings_options(spec_of("kind = \"rings\"\nfilter = \"median\"")).filter, FilterKind::median);
  EXPECT_EQ(rings_options(spec_of("kind = \"rings\"\nmethod = \"auto\"\niterations = 2\n"
                                  "radius_px = 3\nsigma_px = 4\nsigma_value = 0.5\nvalue_range = 6\nwavelet = 7\n"
                                  "levels = 8\ndamping_sigma = 9\nsmall_px = 11\nlarge_px = 13\nsnr = 14\n"
                                  "maximum_share = 0.7")),
            (RingsOptions{std::nullopt, 2, FilterKind::bilateral, 3, 4, 0.5, 6, 7, 8, 9, 11, 13, 14, 0.7}));
  EXPECT_EQ(lag_options(spec_of("kind = \"lag\"\nfraction = 0.1\ndecay_frames = 4\nbefore = \"dark\"")),
            (LagOptions{0.1, 4, LagStart::dark}));
  EXPECT_EQ(drift_options(spec_of("kind = \"drift\"\nregion_px = [1, 2, 3, 4]\nlowest_level = 0.5")),
            (DriftOptions{DriftOptions::Region{1, 2, 3, 4}, 0.5}));
  EXPECT_NE(message_of([] {
              drift_options(spec_of("kind = \"drift\"\nregion_px = [0.5, 2, 3, 4]"));
            }).find("not a part of the detector"),
            std::string::npos);
}

TEST(CorrectionOptions, WhatWouldHaveNoEffectIsRefused) {
  const auto refused = [](const std::string& lines, const std::string& needle) {
    const std::string said = message_of([&] { spec_of(lines); });
    EXPECT_NE(said.find(needle), std::string::npos) << lines << "\n" << said;
  };
  refused("kind = \"rings\"\nlevels = 3",
          "folder/scan.toml:3: correction \"rings\" with method = \"trend\" does not use levels");
  refused("kind = \"rings\"\nlevels = 3",
          "it takes method, iterations, filter, radius_px, sigma_px, sigma_value, value_range");
  refused("kind = \"rings\"\nlevels = 3", "set method to wavelet-fourier or auto");
  refused("kind = \"rings\"\nmethod = \"sorting\"\nradius_px = 3", "set method to trend or auto");
  refused("kind = \"rings\"\nfilter = \"median\"\nsigma_px = 3", "filter = \"median\" does not use sigma_px");
  refused("kind = \"filter\"\nfilter = \"box\"\nsigma_px = 5.5", "set filter to gaussian or bilateral");
  refused("kind = \"filter\"\npictures = \"frames\"", "dimensions = 1 does not use pictures");
  refused("kind = \"hot-pixels\"\nmethod = \"classic\"\nwindow_px = 3", "set method to shifted-window");
  refused("kind = \"zingers\"\nneighbours = \"views\"\nalong_px = 9", "set neighbours to both");
  // As by default, as a resolved scan file has them.
  for (const char* lines : {"kind = \"rings\"\nmethod = \"sorting\"\nsnr = 3\nfilter = \"bilateral\"\nwavelet = 8",
                            "kind = \"filter\"\nfilter = \"box\"\nsigma_px = 10\npictures = \"sinograms\"",
                            "kind = \"zingers\"\nneighbours = \"row\"\nradius_views = 2"})
    EXPECT_NO_THROW(spec_of(lines)) << lines;
}

TEST(CorrectionOptions, DosesAndCalibrationsAreRead) {
  const auto folder = std::filesystem::temp_directory_path();
  const auto with_file = [&](const std::string& text, const auto& read) {
    const auto file = folder / "lepus_correction_options.txt";
    std::ofstream(file) << text;
    read();
    std::filesystem::remove(file);
  };
  const auto spec = [&](const std::string& lines) {
    CorrectionSpec made = spec_of(lines);
    made.folder = folder;
    return made;
  };
  const std::string doses = "kind = \"dose\"\nfile = \"lepus_correction_options.txt\"\n";
  with_file("# mAs\n10 11\n9\n10\n", [&] {
    EXPECT_EQ(dose_options(spec(doses)).values, (std::vector<double>{10, 11, 9, 10}));
    EXPECT_NE(message_of([&] { dose_options(spec(doses + "values = [1]")); }).find("both values and a file"),
              std::string::npos);
  });
  with_file("frame;time;Exposure (ms)\n0;12.5;100\n1;13.5;200\n2;14.5;50\n", [&] {
    EXPECT_EQ(dose_options(spec(doses + "column = \"exposure (ms)\"")).values, (std::vector<double>{100, 200, 50}));
    EXPECT_THROW(dose_options(spec(doses + "column = \"mAs\"")), Error);
  });
  EXPECT_THROW(dose_options(spec(doses)), Error) << "no such file";
  EXPECT_THROW(dose_options(spec("kind = \"dose\"")), Error);
  EXPECT_THROW(dose_options(spec("kind = \"dose\"\nvalues = [1, 1, 1]\ncolumn = \"1\"")), Error);
  const std::string hardening = "kind = \"hardening\"\ncalibration = \"lepus_correction_options.txt\"\n";
  with_file("# mm, line integral\n1, 0.5\n2, 0.9\n", [&] {
    const HardeningOptions read = hardening_options(spec(hardening + "attenuation_per_mm = 0.7\ndegree = 4"));
    EXPECT_EQ(read, (HardeningOptions{.calibration = {{{1, 0.5}, {2, 0.9}}}, .attenuation_per_mm = 0.7, .degree = 4}));
  });
  with_file("1 2 3", [&] {
    EXPECT_NE(message_of([&] { hardening_options(spec(hardening)); }).find("holds 3 numbers"), std::string::npos);
  });
}

TEST(CorrectionOptions, WhatACorrectionRefusesHasItsLine) {
  const CorrectionSpec spec = spec_of("kind = \"hot-pixels\"\nwindow_px = 9");
  ScanFacts facts;
  facts.columns = 39;
  facts.rows = 1;
  facts.views = 100;
  try {
    located(spec, [&] { return make_hot_pixels(hot_pixel_options(spec), facts); });
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.parts().what, "correction \"hot-pixels\": a row of 39 columns is too short");
    EXPECT_EQ(error.parts().where, "line 1 of the scan file");
  }
  CorrectionSpec unknown = spec;
  unknown.parameters["method"] = std::string("other");
  EXPECT_NE(message_of([&] { hot_pixel_options(unknown); }).find("\"shifted-window\", \"classic\""), std::string::npos);
}

}  // namespace
}  // namespace lepus
