// SPDX-License-Identifier: Apache-2.0
// lepus plan --nodes: what a cluster is like, and how long it would take.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/options.h"
#include "run/cluster_model.h"

namespace lepus::app {

struct ClusterOptions {
  std::optional<std::int64_t> nodes;
  std::int64_t devices_per_node = 0, ranks_per_node = 1;  // ranks: that share a CPU
  std::string network, disk, device_memory, problem;
  std::optional<double> gups, launch_seconds;

  void describe(OptionTable& table);
  bool asked() const { return nodes.has_value(); }
  void check() const;  // Error(usage) for what is no cluster, or is said of one without --nodes
  // speed: of this machine's host or device, where --gups does not say it. Throws Error(usage) for what makes no sense.
  ClusterMachine machine(const std::optional<MachineSpeed>& speed, bool on_host) const;
  // "2048x2048x4096-4096": a circular scan of so many columns, rows and views to a cube of so many voxels each way.
  struct Problem {
    ScanGeometry geometry;
    PlanRequest request;  // points to the geometry
  };
  std::unique_ptr<Problem> synthetic() const;
};

nlohmann::json to_json(const ClusterPlan& plan);

}  // namespace lepus::app
