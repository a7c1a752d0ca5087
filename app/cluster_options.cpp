// SPDX-License-Identifier: Apache-2.0
#include "app/cluster_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/format.h"
#include <lepus/error.h>
#include <lepus/memory.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

// "25GB/s", "25GB"
double bytes_per_second(const std::string& option, std::string text) {
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  try {
    if (const std::int64_t bytes = parse_bytes(text); bytes > 0) return static_cast<double>(bytes);
  } catch (const Error&) {  // is refused below
  }
  refuse_option(option, format("'{}' is no rate", text), "write for example 25GB/s");
}

}  // namespace

void ClusterOptions::describe(OptionTable& table) {
  table.group("Many machines");
  table.value("--nodes", "N", nodes_, "how long it would take on so many nodes, term by term (docs/cluster.md)")
      .otherwise("this machine");
  table.value("--gpus-per-node", "N", devices_per_node_, "of each node; 0: its CPU computes");
  table.value("--ranks-per-node", "N", ranks_per_node_, "processes that share a node's CPU and its --threads");
  table.value("--network", "RATE", network_, "of each node, each way").otherwise("25GB/s");
  table.value("--disk", "RATE", disk_, "of the file system, all nodes together").otherwise("5GB/s");
  table.value("--gups", "X", gups_, "updates of one GPU, or of a node's CPU, in 2^30 per second")
      .otherwise("what this machine does");
  table.value("--gpu-memory", "SIZE", device_memory_, "of one GPU").otherwise("16GiB");
  table
      .value("--launch", "SECONDS", launch_seconds_,
             "until all processes are at work: mpirun's or srun's, the driver's")
      .otherwise("as measured, docs/cluster.md");
  table.value("--problem", "SIZES", problem,
              "instead of a scan file: COLUMNSxROWSxVIEWS-VOXELS, for example 2048x2048x4096-4096; needs --gups");
}

std::optional<Cluster> ClusterOptions::cluster() const {
  const bool described = devices_per_node_ != 0 || ranks_per_node_ != 1 || gups_ || launch_seconds_ ||
                         !network_.empty() || !disk_.empty() || !device_memory_.empty();
  if (!nodes_ && !described) return std::nullopt;
  Cluster cluster;
  cluster.nodes = nodes_.value_or(0);
  cluster.devices_per_node = devices_per_node_;
  cluster.ranks_per_node = ranks_per_node_;
  if (!network_.empty()) cluster.network_bytes = bytes_per_second("--network", network_);
  if (!disk_.empty()) cluster.disk_bytes = bytes_per_second("--disk", disk_);
  if (gups_) cluster.updates = *gups_ * 0x1p30;
  if (!device_memory_.empty()) cluster.device_bytes = parse_bytes(device_memory_);
  cluster.launch_seconds = launch_seconds_;
  return cluster;
}

CircularProblem ClusterOptions::circular_problem() const {
  std::array<std::uint32_t, 4> sizes{};
  const char *at = problem.data(), *end = at + problem.size();
  bool understood = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [past, failure] = std::from_chars(at, end, sizes[i]);
    const bool separated = i == 3 ? past == end : past != end && *past == (i == 2 ? '-' : 'x');
    understood = understood && failure == std::errc() && sizes[i] < 1'000'000 && separated;
    at = past == end ? end : past + 1;
  }
  if (!understood)
    refuse_option("--problem", format("'{}' is no problem", shown(problem)),
                  "write COLUMNSxROWSxVIEWS-VOXELS, such as 2048x2048x4096-4096");
  const auto size = [&](std::size_t i) { return std::max<std::int64_t>(1, sizes[i]); };
  return {.columns = size(0), .rows = size(1), .views = size(2), .voxels = size(3)};
}

}  // namespace lepus::app
