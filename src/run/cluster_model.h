// SPDX-License-Identifier: Apache-2.0
// How long a reconstruction takes on many nodes, term by term: read, filter, upload, sum, reduce, download, write. Each
// term is an amount of work over a rate; docs/cluster.md says where the rates come from and how far the sum is from
// runs that were measured. After iFDK (Chen, Wahib, Takizawa, Takano, Matsuoka 2019), whose grid of rows and columns of
// ranks is our groups x wedges.
#pragma once

#include <cstdint>
#include <string>

#include "run/plan.h"
#include <lepus/plan.h>

namespace lepus {

struct ClusterMachine {
  std::int64_t nodes = 1, devices_per_node = 1;
  double network_bytes = 25e9;  // per second and node, each way
  double disk_bytes = 5e9;      // per second, of the file system, all nodes together
  // Of one device, per second:
  double updates = 1, filtered_pixels = 1;
  double link_bytes = 5.5e10;     // from and to the host, each way; 0: it computes where the frames are
  std::int64_t device_bytes = 0;  // of its memory that slabs and views may take; 0: enough
  double start_seconds = 0;       // until a device takes work
  double file_seconds = 0;        // to open a frame
  std::string rates_from;         // where updates and filtered_pixels come from
};

// request: geometry, volume, pixel size; its memory and speeds are not looked at.
ClusterPlan plan_cluster(const PlanRequest& request, const ClusterMachine& machine);

std::string describe(const ClusterPlan& plan);

}  // namespace lepus
