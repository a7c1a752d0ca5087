// SPDX-License-Identifier: Apache-2.0
// Devices and SIMD targets by name, and cuts that are refused.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "device/host/backprojector.h"
#include "device/host/device.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// What is kept for one must not be found by another that was made where it lay.
TEST(devices, have_a_number_that_is_used_once) {
  ThreadPool threads(1);
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 50; ++i) {
    const auto device = host::make_device("cpu", threads);
    EXPECT_TRUE(ids.insert(device->id()).second);
    EXPECT_TRUE(ids.insert(device->make_queue()->id()).second);
  }
}

TEST(devices, suggest_the_nearest_name) {
  ThreadPool threads(1);
  try {
    open_devices(compute_on("cpuu"), threads);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_EQ(e.parts().hint, "did you mean 'cpu'?");
  }
}

ScanGeometry small_scan() {
  CircularScan s;
  s.source_axis_mm = 100;
  s.source_detector_mm = 200;
  s.columns = 24;
  s.rows = 20;
  s.pixel_width_mm = s.pixel_height_mm = 1;
  for (int i = 0; i < 8; ++i) s.angles_rad.push_back(radians(45.0 * i));
  return build_scan(s);
}

struct Inputs {
  std::vector<float> view = std::vector<float>(24 * 20, 1.0f), slab = std::vector<float>(8 * 8 * 16, 0.0f);
  BandSet wedge() const {
    return {.first = 0, .row_stride = 20, .bands = std::vector<ViewBand>(8, ViewBand{view.data(), 0, 20})};
  }
};

TEST(cpu_targets, the_forced_target_really_runs) {
  const auto grid = centred_grid(8, 8, 8, {1, 1, 1});
  ASSERT_FALSE(cpu_targets().empty());
  // Forwards and backwards: no target may owe its turn to the one before it.
  const auto targets = cpu_targets();
  auto there_and_back = targets;
  there_and_back.insert(there_and_back.end(), targets.rbegin(), targets.rend());
  for (const auto& target : there_and_back) {
    auto g = small_scan();
    for (const bool upright : {true, false}) {
      if (!upright) g.matrices[0](0, 2) += 0.01;
      const auto b = make_backprojector(g, grid, Interpolation::linear, target);
      Inputs in;
      ThreadPool threads(1);
      b->accumulate(in.wedge(), {in.slab.data(), 0, 8, 16}, threads);
      EXPECT_EQ(last_cpu_target(), target) << b->description();
      EXPECT_GT(in.slab[(4 * 8 + 4) * 16 + 4], 7.0f);  // eight views of ones, weights near 1
    }
  }
}

TEST(cpu_targets, the_default_is_the_best) {
  const auto b = make_backprojector(small_scan(), centred_grid(8, 8, 8, {1, 1, 1}), Interpolation::linear);
  Inputs in;
  ThreadPool threads(1);
  b->accumulate(in.wedge(), {in.slab.data(), 0, 8, 16}, threads);
  EXPECT_EQ(last_cpu_target(), cpu_targets().front());
  EXPECT_NE(b->description().find("4 symmetric views"), std::string::npos) << b->description();
}

TEST(cpu_targets, an_unknown_target_is_an_error) { EXPECT_THROW(describe_cpu("MMX"), Error); }

TEST(wedge, cuts_that_would_change_the_result_are_refused) {
  const auto grid = centred_grid(8, 8, 40, {1, 1, 1});
  for (const bool reference : {false, true}) {
    const auto b = reference ? make_reference_backprojector(small_scan(), grid, Interpolation::linear)
                             : make_backprojector(small_scan(), grid, Interpolation::linear);
    Inputs in;
    ThreadPool threads(1);
    BandSet late = in.wedge();
    late.first = 1;
    BandSet half = in.wedge();
    half.bands.resize(4);
    EXPECT_THROW(b->accumulate(late, {in.slab.data(), 0, 16, 16}, threads), Error);
    EXPECT_THROW(b->accumulate(half, {in.slab.data(), 0, 16, 16}, threads), Error);
    EXPECT_THROW(b->accumulate(in.wedge(), {in.slab.data(), -1, 15, 16}, threads), Error);
    EXPECT_THROW(b->accumulate(in.wedge(), {in.slab.data(), 32, 48, 16}, threads), Error);
    EXPECT_THROW(b->accumulate(in.wedge(), {in.slab.data(), 3, 8, 4}, threads), Error);
    EXPECT_NO_THROW(b->accumulate(in.wedge(), {in.slab.data(), 16, 32, 16}, threads));
    EXPECT_NO_THROW(b->accumulate(in.wedge(), {in.slab.data(), 9, 12, 16}, threads));
  }
}

}  // namespace
}  // namespace lepus
