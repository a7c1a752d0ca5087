// SPDX-License-Identifier: Apache-2.0
// Views whose rays a device traces, with the host as the device: its tracer takes two crossings at a time.
#include "simulate/traced_views.h"

#include "simulate/traced_views_cases_test.h"

namespace lepus {
namespace {

TEST(TracedViews, AreThoseOfTheProjector) {
  ThreadPool threads(2);
  Devices devices = open_devices(compute_on("cpu"), threads);
  traced_views_test::expect_views_of_the_host(devices, threads);
}

TEST(TracedViews, SayWhatTheyCannotDo) {
  const Shape part = traced_views_test::part_of(box_surface({-1, -1, -1}, {1, 1, 1}), 1);
  EXPECT_EQ(TracedViews::why_not(Phantom("one", Combine::replace, {part})), "");
  EXPECT_NE(TracedViews::why_not(Phantom("mixed", Combine::add, {part, sphere({}, 1, 1)})), "");
  const std::vector<Shape> many(maximum_overlapping_surfaces + 1, part);
  EXPECT_NE(TracedViews::why_not(Phantom("many", Combine::replace, many)), "");
  EXPECT_EQ(TracedViews::why_not(Phantom("many", Combine::add, many)), "");
}

}  // namespace
}  // namespace lepus
