// SPDX-License-Identifier: Apache-2.0
#include "api/cluster_machine.h"

#include <cmath>

#include "api/refuse_option.h"
#include "core/format.h"
#include "run/plan_models.h"

namespace lepus {

void check_cluster(const Cluster& cluster) {
  const std::int64_t devices = cluster.devices_per_node, ranks = cluster.ranks_per_node;
  if (cluster.nodes < 1 || cluster.nodes > 1'000'000 || devices < 0 || devices > 1024)
    refuse_option("--nodes", format("{} nodes of {} GPUs are no cluster", cluster.nodes, devices),
                  "give at least one node, for example --nodes 64");
  if (ranks < 1 || ranks > 1024 || (devices > 0 && ranks > 1))
    refuse_option("--ranks-per-node", format("{} processes cannot share a node's CPU", ranks),
                  "give 1 to 1024; with --gpus-per-node each GPU has a process");
  if (const auto launch = cluster.launch_seconds; launch && !(*launch >= 0 && *launch <= 1e6))
    refuse_option("--launch", format("{} seconds are no time to begin", *launch), "give for example --launch 0.7");
  if (cluster.updates && !(*cluster.updates > 0 && std::isfinite(*cluster.updates)))
    refuse_option("--gups", "a rate must be above zero", "give for example --gups 1200");
  if (devices > 0 && cluster.device_bytes < 1)
    refuse_option("--gpu-memory", "a GPU has memory", "write for example 16GiB");
  if (!(cluster.network_bytes > 0 && std::isfinite(cluster.network_bytes)))
    refuse_option("--network", "a rate must be above zero", "write for example 25GB/s");
  if (!(cluster.disk_bytes > 0 && std::isfinite(cluster.disk_bytes)))
    refuse_option("--disk", "a rate must be above zero", "write for example 25GB/s");
}

ClusterMachine machine_of(const Cluster& cluster, const std::optional<MachineSpeed>& speed, bool on_host) {
  const bool cards = cluster.devices_per_node > 0;
  const std::int64_t ranks = cluster.ranks_per_node;
  if (!cluster.updates && (!speed || on_host == cards))
    refuse_option("--gups",
                  cards ? "no GPU is here whose speed could be taken" : "the speed of a node's CPU is not known",
                  "give it: docs/speed.md has figures, 'lepus bench' measures");
  ClusterMachine machine;
  machine.nodes = cluster.nodes;
  machine.devices_per_node = cards ? cluster.devices_per_node : ranks;
  machine.network_bytes = cluster.network_bytes;
  machine.disk_bytes = cluster.disk_bytes;
  machine.updates = cluster.updates ? *cluster.updates : speed->updates;
  machine.filtered_pixels = cards ? card_filtered_pixels : speed ? speed->filtered_pixels : machine.updates / 7;
  if (!cards) {
    machine.updates /= static_cast<double>(ranks);
    machine.filtered_pixels /= static_cast<double>(ranks);
  }
  machine.link_bytes = cards ? card_link_bytes : 0;
  machine.device_bytes = cards ? cluster.device_bytes : 0;
  // mpirun and MPI_Init: 0.2 to 0.3 s, measured with Open MPI 4.1 and two ranks on a node without a GPU.
  machine.start_seconds = cluster.launch_seconds.value_or(cards ? 0.8 : machine.nodes * ranks > 1 ? 0.27 : 0.02);
  machine.file_seconds = 2e-4;
  machine.rates_from = cluster.updates ? "sums: --gups" : "sums: measured on this machine";
  machine.rates_from += cards   ? "; filter and link: an H200 (docs/speed.md)"
                        : speed ? "; filter: measured on this machine"
                                : "; filter: a seventh of the sums, as on CPUs here";
  return machine;
}

}  // namespace lepus
