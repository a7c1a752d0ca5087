// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run/cluster_model.h"

namespace lepus {
namespace {

ScanGeometry scan_of(std::int64_t detector, std::int64_t views) {
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = scan.rows = detector;
  scan.pixel_width_mm = scan.pixel_height_mm = 200.0 / static_cast<double>(detector);
  for (std::int64_t i = 0; i < views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(views));
  return build_scan(scan);
}

PlanRequest request_of(const ScanGeometry& geometry, std::int64_t size) {
  PlanRequest request;
  request.geometry = &geometry;
  request.grid = centred_grid(
      size, size, size,
      {95.0 / static_cast<double>(size), 95.0 / static_cast<double>(size), 95.0 / static_cast<double>(size)});
  request.cylinder_mm = 1e9;
  request.frame_pixel_bytes = 2;
  return request;
}

ClusterMachine machine_of(std::int64_t nodes, std::int64_t devices) {
  ClusterMachine machine;
  machine.nodes = nodes;
  machine.devices_per_node = devices;
  machine.updates = 1e12;
  machine.filtered_pixels = 1e11;
  machine.disk_bytes = 5e10;
  machine.device_bytes = std::int64_t{16} << 30;
  return machine;
}

double seconds_of(const ClusterPlan& plan, const std::string& name) {
  for (const ClusterTerm& term : plan.terms)
    if (term.name == name) return term.seconds;
  return -1;
}

TEST(ClusterModel, TheSumSharesOutAndTheDiskDoesNot) {
  const ScanGeometry geometry = scan_of(256, 256);
  const PlanRequest request = request_of(geometry, 256);
  const ClusterPlan one = plan_cluster(request, machine_of(1, 1)), eight = plan_cluster(request, machine_of(2, 4));
  EXPECT_NEAR(seconds_of(eight, "sum"), seconds_of(one, "sum") / 8, 1e-12);
  EXPECT_EQ(seconds_of(eight, "write"), seconds_of(one, "write"));
  EXPECT_GE(seconds_of(eight, "read"), seconds_of(one, "read")) << "neighbouring slabs need the same rows";
  EXPECT_LE(eight.seconds, one.seconds);
}

// Hosts: what a run would do, with what its kernels cost.
TEST(ClusterModel, HostsShareOutSlabsAsRunsDo) {
  const ScanGeometry geometry = scan_of(448, 64);
  const PlanRequest request = request_of(geometry, 448);
  const auto plan = [&](std::int64_t ranks) {
    ClusterMachine machine = machine_of(1, ranks);
    machine.link_bytes = 0;
    machine.updates = 1e9;
    machine.filtered_pixels = 1e8;
    return plan_cluster(request, machine);
  };
  const double one = seconds_of(plan(1), "sum");
  EXPECT_NEAR(one, 448.0 * 448 * 448 * 64 / 1e9, 1e-9 * one) << "slabs are whole chunks of 64";
  const ClusterPlan two = plan(2), eight = plan(8);
  EXPECT_EQ(two.wedges, 1);
  EXPECT_GE(two.slabs_each, 3) << "something can be taken over";
  // Halves of 224 slices, the last 32 of them in half a chunk: (3 x 72 + 40) / (3.5 x 72) of what they would cost.
  EXPECT_NEAR(seconds_of(two, "sum"), one / 2 * 256 / 252, 1e-9 * one);
  // Blocks of 16 slices: one of eight ranks has at least 64 of 448, and not a chunk that is cut, which would be 71.
  EXPECT_NEAR(seconds_of(eight, "sum"), one * 64 / 448, 1e-9 * one);
  EXPECT_GT(seconds_of(eight, "filter"), seconds_of(plan(1), "filter") / 8) << "neighbours filter the same rows";
}

TEST(ClusterModel, ASlowPartIsNamed) {
  const ScanGeometry geometry = scan_of(128, 128);
  const PlanRequest request = request_of(geometry, 128);
  ClusterMachine machine = machine_of(1, 1);
  machine.updates = 1e6;
  EXPECT_EQ(plan_cluster(request, machine).bound, "sum");
  machine = machine_of(1, 1);
  machine.disk_bytes = 1e3;
  EXPECT_EQ(plan_cluster(request, machine).bound, "write");
  machine = machine_of(1, 1);
  machine.filtered_pixels = 1e3;
  EXPECT_EQ(plan_cluster(request, machine).bound, "filter");
}

TEST(ClusterModel, MoreRanksThanSlabsReduce) {
  const ScanGeometry geometry = scan_of(64, 512);
  const PlanRequest request = request_of(geometry, 64);  // four slabs
  const ClusterPlan plan = plan_cluster(request, [] {
    ClusterMachine machine = machine_of(4, 4);
    machine.updates = 1e8;
    return machine;
  }());
  EXPECT_EQ(plan.groups, 4);
  EXPECT_EQ(plan.wedges, 4);
  EXPECT_GT(seconds_of(plan, "reduce"), 0);
}

}  // namespace
}  // namespace lepus
