// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "io/test_support.h"
#include "live/arrivals.h"
#include "live/frame_series.h"
#include "live/live_display.h"
#include "live/live_volume.h"
#include "live/scan_ahead.h"
#include "live/view_corrections.h"

namespace lepus {
namespace {

void write_bytes(const std::filesystem::path& file, std::size_t bytes) {
  std::ofstream(file, std::ios::binary) << std::string(bytes, 'x');
}

std::vector<std::int64_t> frames_of(FrameSeries& series) {
  std::vector<std::int64_t> frames;
  for (const auto& [frame, file] : series.present()) frames.push_back(frame);
  return frames;
}

TEST(FrameSeries, NumbersInNames) {
  const auto number = frame_number("run2_img_0017.tif");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->before, "run2_img_");
  EXPECT_EQ(number->number, 17);
  EXPECT_EQ(number->after, ".tif");
  EXPECT_EQ(number->digits, 4U);
  EXPECT_EQ(frame_number("9.raw")->number, 9);
  EXPECT_FALSE(frame_number("flat.tif"));
  EXPECT_FALSE(frame_number("20261115123000123456.tif"));
  EXPECT_EQ(ranges_of({3, 5, 6, 8, 9, 10, 12}), "3, 5, 6, 8-10, 12");
}

TEST(FrameSeries, AGapShiftsNoOtherFrame) {
  const test::TempFolder folder;
  FrameSeries series(folder.path(), {"*.tif"}, 12, std::nullopt);
  EXPECT_TRUE(frames_of(series).empty());
  write_bytes(folder / "5.tif", 1);
  EXPECT_TRUE(frames_of(series).empty());  // it may be the first, the fifth or the sixth
  EXPECT_NE(series.unplaced(), "");
  write_bytes(folder / "1.tif", 1);
  write_bytes(folder / "12.tif", 1);
  write_bytes(folder / "other.txt", 1);
  EXPECT_EQ(frames_of(series), (std::vector<std::int64_t>{0, 4, 11}));
  EXPECT_EQ(series.unplaced(), "");
  EXPECT_EQ(series.name(1), (folder / "2.tif").string());
  EXPECT_EQ(series.name(9), (folder / "10.tif").string());
  write_bytes(folder / "05.tif", 1);
  EXPECT_THROW(series.present(), Error);  // 5 twice
  std::filesystem::remove(folder / "05.tif");
  write_bytes(folder / "0.tif", 1);
  EXPECT_THROW(series.present(), Error);  // before the first
  std::filesystem::remove(folder / "0.tif");
  write_bytes(folder / "13.tif", 1);
  EXPECT_THROW(series.present(), Error);  // after the last
}

TEST(FrameSeries, ZeroThatComesLateMovesAllFrames) {
  const test::TempFolder folder;
  FrameSeries series(folder.path(), {"*.tif"}, 4, std::nullopt);
  Arrivals arrivals(series, 0);
  for (const char* name : {"1.tif", "2.tif"}) write_bytes(folder / name, 1);
  EXPECT_EQ(arrivals.look(10).size(), 2U);
  arrivals.taken(0);
  EXPECT_TRUE(series.first_number_is_a_guess());
  EXPECT_FALSE(arrivals.take_renumbered());
  write_bytes(folder / "0.tif", 1);
  const auto again = arrivals.look(10);  // the one that was taken, too
  EXPECT_TRUE(arrivals.take_renumbered());
  EXPECT_FALSE(arrivals.take_renumbered());
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[1].frame, 1);
  EXPECT_EQ(again[1].file.filename(), "1.tif");
  EXPECT_FALSE(series.first_number_is_a_guess());
}

TEST(FrameSeries, AnyStartOnceAllFilesAreThereOrWhenItIsGiven) {
  const test::TempFolder folder;
  for (const char* name : {"a100.tif", "a102.tif"}) write_bytes(folder / name, 1);
  FrameSeries unknown(folder.path().parent_path(), {folder.path().filename().string()}, 3, std::nullopt);  // a folder
  EXPECT_TRUE(frames_of(unknown).empty());
  FrameSeries given(folder.path(), {"a*.tif"}, 3, 100);
  EXPECT_EQ(frames_of(given), (std::vector<std::int64_t>{0, 2}));
  write_bytes(folder / "a101.tif", 1);
  EXPECT_EQ(frames_of(unknown), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(FrameSeries, WhatCannotBeWatchedIsRefused) {
  const test::TempFolder folder;
  const auto kind = [&](const std::vector<std::string>& names, std::int64_t frames) {
    try {
      FrameSeries(folder.path(), names, frames, std::nullopt);
      return std::string();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      return error.parts().why;
    }
  };
  EXPECT_NE(kind({"scan.h5"}, 10).find("HDF5"), std::string::npos);
  EXPECT_NE(kind({"stack.tif"}, 10).find("grows"), std::string::npos);
  EXPECT_NE(kind({"a*.tif", "b*.tif"}, 10).find("several"), std::string::npos);
  EXPECT_NE(kind({"part*/a.tif"}, 10).find("wildcard"), std::string::npos);
  EXPECT_EQ(kind({"a.tif", "b.tif"}, 2), "");
}

TEST(Arrivals, AFileIsTakenWhenItStoppedChangingAndTriedAgainWhenItGrew) {
  const test::TempFolder folder, elsewhere;
  FrameSeries series(folder.path(), {"*.raw"}, 4, 0);
  Arrivals arrivals(series, 0.05);
  EXPECT_TRUE(arrivals.look(10).empty());
  // A link: nobody says that it was closed, as on a network folder.
  write_bytes(elsewhere / "0.raw", 10);
  std::filesystem::create_hard_link(elsewhere / "0.raw", folder / "0.raw");
  EXPECT_TRUE(arrivals.look(10).empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  ASSERT_EQ(arrivals.look(10).size(), 1U);
  arrivals.not_readable(0, "too short");
  EXPECT_EQ(arrivals.trouble(0), "too short");
  EXPECT_TRUE(arrivals.look(10).empty());  // nothing changed
  write_bytes(elsewhere / "0.raw", 20);
  arrivals.look(10);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  ASSERT_EQ(arrivals.look(10).size(), 1U);
  arrivals.taken(0);
  EXPECT_EQ(arrivals.trouble(0), "");
  EXPECT_TRUE(arrivals.look(10).empty());
  for (const char* name : {"1.raw", "2.raw", "3.raw"}) write_bytes(folder / name, 5);
  arrivals.look(10);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(arrivals.look(2).size(), 2U);
  arrivals.forget_taken();
  EXPECT_EQ(arrivals.look(10).size(), 4U);
}

TEST(Arrivals, WaitingEndsWhenSomethingComes) {
  const test::TempFolder folder;
  FrameSeries series(folder.path(), {"*.raw"}, 4, 0);
  Arrivals arrivals(series, 10);  // settling would take too long
  arrivals.look(10);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    write_bytes(folder / "0.raw", 5);
  });
  bool taken = false;
  for (int i = 0; i < 200 && !taken; ++i) {
    arrivals.wait(1);
    taken = !arrivals.look(1).empty();
  }
  writer.join();
#if __has_include(<sys/inotify.h>)
  EXPECT_TRUE(taken);  // the system said that it was closed
#endif
}

TEST(ScanAhead, AValueIsExchangedWhereverItStandsAndLinesStayWhereTheyAre) {
  const std::string texts[] = {
      "[frames]\nfiles = \"a/*.tif\"  # these\nflats = \"f\"\n", "frames.files = 'a/*.tif'\nframes.flats = \"f\"\n",
      "[frames]\nflats = \"f\"\nfiles = [\n  \"a.tif\",\n  # two\n  \"b.tif\" ]\n\n[geometry]\nbeam = \"cone\"\n",
      "frames = { flats = \"\xC3\xA4\xE2\x82\xAC.tif\", files = \"x\" }\n"};
  for (const std::string& text : texts) {
    const std::string changed = with_value(text, "frames", "files", "[\"1\", \"2\"]");
    EXPECT_EQ(std::count(changed.begin(), changed.end(), '\n'), std::count(text.begin(), text.end(), '\n')) << changed;
    const std::string value = value_text(changed, "frames", "files");
    EXPECT_TRUE(value.starts_with("[\"1\", \"2\"") && value.ends_with("]")) << value;
    EXPECT_EQ(value_text(changed, "frames", "flats"), value_text(text, "frames", "flats"));
    EXPECT_EQ(with_value(changed, "frames", "files", value_text(text, "frames", "files")).substr(0, text.find("files")),
              text.substr(0, text.find("files")));
  }
}

CorrectionSpec step(const std::string& kind, std::map<std::string, ParameterValue> parameters = {}) {
  CorrectionSpec spec;
  spec.kind = kind;
  spec.parameters = std::move(parameters);
  return spec;
}

TEST(ViewCorrections, WhatComparesViewsIsLeftOut) {
  Scan scan;
  scan.corrections = {step("dead-pixels", {{"threshold", 0.05}}),
                      step("hot-pixels"),
                      step("zingers"),
                      step("lag"),
                      step("drift"),
                      step("drift", {{"region_px", std::vector<double>{0, 1, 0, 1}}}),
                      step("filter", {{"filter", std::string("box")},
                                      {"dimensions", std::int64_t{1}},
                                      {"pictures", std::string("sinograms")},
                                      {"write", std::string("x.mha")}}),
                      step("rings"),
                      step("hardening", {{"homogeneous", true}})};
  const ViewCorrections made = corrections_of_views(scan);
  std::vector<std::string> kept, left;
  for (const auto& spec : made.chain) kept.push_back(spec.kind);
  for (const auto& out : made.left_out) left.push_back(out.kind);
  EXPECT_EQ(kept, (std::vector<std::string>{"dead-pixels", "drift", "filter"}));
  EXPECT_EQ(left, (std::vector<std::string>{"hot-pixels", "zingers", "lag", "drift", "write of filter", "rings",
                                            "hardening"}));
  scan.corrections = {step("dose", {{"values", std::vector<double>{1, 2, 3}}})};
  scan.geometry.matrices.resize(3);
  const auto dose = chain_of_view(corrections_of_views(scan), 1);
  EXPECT_EQ(std::get<std::vector<double>>(dose[0].parameters.at("values")), std::vector<double>{2});
  EXPECT_EQ(std::get<double>(dose[0].parameters.at("reference")), 2);
}

TEST(ViewCorrections, DosesStayWithTheirViews) {
  const test::TempFolder folder;
  std::ofstream(folder / "log.txt") << "frame\tdose\n0\t10\n1\t20\n2\t60\n";
  Scan scan;
  scan.corrections = {step("dose", {{"file", std::string("log.txt")}, {"column", std::string("dose")}})};
  scan.corrections[0].folder = folder.path();
  scan.geometry.matrices.resize(3);
  scan.selection.frames = {0, 1, 2};
  const auto dose_in = [](const Scan& of, std::int64_t view) {
    const auto spec = chain_of_view(corrections_of_views(of), view)[0];
    EXPECT_FALSE(spec.parameters.contains("column")) << "there is no file any more";
    return std::pair(std::get<std::vector<double>>(spec.parameters.at("values")).at(0),
                     std::get<double>(spec.parameters.at("reference")));
  };
  EXPECT_EQ(dose_in(scan, 1), std::pair(20.0, 30.0));
  const Scan fewer = scan_of_views(scan, {0, 2});
  EXPECT_EQ(fewer.selection.frames, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(fewer.geometry.views(), 2);
  EXPECT_EQ(dose_in(fewer, 1), std::pair(60.0, 35.0));
  scan.geometry.matrices.resize(2);
  EXPECT_THROW(corrections_of_views(scan), Error) << "three doses for two views";
}

struct Orbit {
  const char* name;
  CircularScan scan;
};

std::vector<Orbit> orbits() {
  const auto circle = [](std::int64_t views, double arc_rad) {
    CircularScan scan;
    scan.source_axis_mm = 400;
    scan.source_detector_mm = 700;
    scan.columns = 48;
    scan.rows = 40;
    scan.pixel_width_mm = scan.pixel_height_mm = 3;
    for (std::int64_t i = 0; i < views; ++i)
      scan.angles_rad.push_back(arc_rad * static_cast<double>(i) / static_cast<double>(views));
    return scan;
  };
  std::vector<Orbit> all{{"symmetric", circle(24, 2 * pi)}, {"odd", circle(23, 2 * pi)},    {"short", circle(23, 3.7)},
                         {"half-fan", circle(24, 2 * pi)},  {"turned", circle(24, 2 * pi)}, {"arc", circle(20, 2 * pi)},
                         {"parallel", circle(20, pi)}};
  all[3].scan.detector_shift_u_mm = all[4].scan.detector_shift_u_mm = 30;
  all[4].scan.in_plane_rad = 0.03;  // rows are levelled
  all[5].scan.arc = true;
  all[6].scan.beam = Beam::parallel;
  return all;
}

// The sum of views in any order and any blocks is the reconstruction of the whole. Rough data; both kernels are held
// to 1e-5 of the double-precision reference by tests/parity (coordinates are single precision), so that two of them may
// differ by 2e-5.
TEST(LiveVolume, AnyOrderAndBlocksGiveTheReconstruction) {
  const test::TempFolder folder;
  ThreadPool threads(2);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  std::mt19937 random(7);
  for (const Orbit& orbit : orbits()) {
    SCOPED_TRACE(orbit.name);
    Scan scan;
    scan.geometry = build_scan(orbit.scan);
    scan.content = FrameContent::line_integrals;
    scan.grid = centred_grid(30, 28, 21, {2, 2, 2});
    scan.filter.window = Window::hann;
    const std::int64_t columns = orbit.scan.columns, rows = orbit.scan.rows, views = scan.geometry.views();
    std::vector<float> data(static_cast<std::size_t>(columns * rows * views));
    for (float& value : data) value = static_cast<float>(random() >> 8) * 0x1p-24F;
    const auto file = folder / (std::string(orbit.name) + ".raw");
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data.data()), columns * rows * 4);
    scan.frames.files = {file};
    scan.frames.raw = RawLayout{.columns = columns, .rows = rows, .type = PixelType::f32};
    scan.recorded = {columns, rows, views, PixelType::f32};
    scan.selection = {.frames = {}, .first_row = 0, .row_step = 1, .rows = rows};

    std::vector<float> whole(static_cast<std::size_t>(scan.grid.voxels()));
    fdk(scan.geometry, data, scan.grid, whole,
        {.filter = scan.filter, .field_of_view_mask = true, .compute = compute_on("cpu")});

    Compute options;
    options.backend = "cpu";
    LiveVolume volume(scan, file, options, context);
    std::vector<std::int64_t> order(static_cast<std::size_t>(views));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t next = 0; next < order.size();) {
      std::vector<LiveView> block(std::min<std::size_t>(order.size() - next, 1 + random() % 9));
      for (LiveView& view : block) {
        view.view = order[next++];
        view.counts = Buffer<float>(columns * rows);
        std::copy_n(data.data() + view.view * columns * rows, columns * rows, view.counts.data());
      }
      volume.add(block, context);
    }
    volume.wait();
    std::vector<float> live(whole.size());
    const VolumeGrid& g = scan.grid;
    volume.read({0, g.nx, 0, g.ny, 0, g.nz}, live.data());
    double squares = 0, norm = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      squares += std::pow(static_cast<double>(live[i]) - static_cast<double>(whole[i]), 2);
      norm += std::pow(static_cast<double>(whole[i]), 2);
    }
    EXPECT_GT(norm, 0);
    EXPECT_TRUE(std::sqrt(squares / norm) <= 2e-5) << std::sqrt(squares / norm);
    // Any box is a part of the whole.
    const VoxelBox box{7, 8, 3, 20, 5, 19};
    std::vector<float> part(static_cast<std::size_t>(box.voxels()));
    volume.read(box, part.data());
    for (std::int64_t z = box.z0, i = 0; z < box.z1; ++z)
      for (std::int64_t y = box.y0; y < box.y1; ++y, ++i)
        ASSERT_EQ(part[static_cast<std::size_t>(i)], live[static_cast<std::size_t>((z * g.ny + y) * g.nx + box.x0)]);
  }
}

}  // namespace
}  // namespace lepus
