// SPDX-License-Identifier: Apache-2.0
// lepus plan --nodes: what a cluster is like whose time is asked for.
#pragma once

#include <optional>
#include <string>

#include "app/options.h"
#include <lepus/plan.h>

namespace lepus::app {

struct ClusterOptions {
  std::string problem;

  void describe(OptionTable& table);
  // None where nothing is said of one; said without --nodes it has none of them. Throws Error(usage).
  std::optional<Cluster> cluster() const;
  CircularProblem circular_problem() const;  // "2048x2048x4096-4096"; throws Error(usage)

private:
  std::optional<std::int64_t> nodes_;
  std::int64_t devices_per_node_ = 0, ranks_per_node_ = 1;
  std::string network_, disk_, device_memory_;
  std::optional<double> gups_, launch_seconds_;
};

}  // namespace lepus::app
