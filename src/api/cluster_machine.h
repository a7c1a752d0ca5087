// SPDX-License-Identifier: Apache-2.0
// A cluster as its user describes it, in the words of lepus plan --nodes -> what the model of its time takes.
#pragma once

#include <optional>

#include "run/cluster_model.h"

namespace lepus {

void check_cluster(const Cluster& cluster);  // Error(usage) for what is no cluster
// speed: of this machine's host or device, where the cluster's is not given. Throws Error(usage) where neither is
// known.
ClusterMachine machine_of(const Cluster& cluster, const std::optional<MachineSpeed>& speed, bool on_host);

}  // namespace lepus
