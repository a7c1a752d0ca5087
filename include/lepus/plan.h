// SPDX-License-Identifier: Apache-2.0
// What a reconstruction will take, before it starts: memory, how the work is cut, time; on this machine or, term by
// term, on a cluster (docs/cluster.md). Nothing is reconstructed or written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lepus/call.h>
#include <lepus/compute.h>
#include <lepus/geometry.h>
#include <lepus/method.h>

namespace lepus {

struct Cluster {
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 0;   // GPUs, a process each; 0: CPUs compute
  std::int64_t ranks_per_node = 1;     // processes that share a node's CPU and its threads
  double network_bytes = 25e9;         // per second and node, each way
  double disk_bytes = 5e9;             // per second, of the file system, all nodes together
  std::optional<double> updates = {};  // of voxels per second, by one GPU or a node's CPU; none: as here
  std::int64_t device_bytes = std::int64_t{16} << 30;  // memory of one GPU
  std::optional<double> launch_seconds = {};           // until all processes are at work; none: as measured
};

struct ClusterTerm {
  std::string name;    // "sum"
  double seconds = 0;  // on the rank that needs longest
  std::string how;     // "1.6e+13 updates on 256 devices of 1.2e+12 per second"
};

struct ClusterPlan {
  int groups = 1, wedges = 1;   // of ranks: groups share the slabs, the ranks of a group the views
  std::int64_t slabs_each = 1;  // one after the other, of a rank
  std::vector<ClusterTerm> terms;
  std::string bound;  // the longest of those that overlap
  double seconds = 0;
  std::string text;  // all of it, a few lines
};

struct PlanOptions {
  MethodChoices method = {};
  Compute compute = {};                 // its threads and memory are the call's where it has none
  std::optional<Cluster> cluster = {};  // FDK alone
  Call call = {};
};

struct PlanReport {
  std::string text;  // for people: volume, field of view, plan, time; without the cluster
  std::string json;  // the same for programs
  VolumeGrid grid;
  std::int64_t memory_bytes = 0, memory_limit_bytes = 0;  // of the host, or of a GPU where it holds the arrays
  double seconds = 0;                                     // expected; what is not counted, `text` says
  std::optional<ClusterPlan> cluster;
};

// The backprojection, or an iteration, is timed on a small piece for it. Throws what the reconstruction would throw
// before its work: Error(memory) where it does not fit, Error(usage) for choices that make no sense.
LEPUS_API PlanReport plan_reconstruction(const std::filesystem::path& scan_file, const PlanOptions& options = {});

// A full circle of views to a cube of so many voxels each way, as papers state problems.
struct CircularProblem {
  std::int64_t columns = 0, rows = 0, views = 0, voxels = 0;
};
// By FDK, on options.cluster, whose `updates` must be given; threads, memory and devices do not count.
LEPUS_API ClusterPlan plan_problem(const CircularProblem& problem, const PlanOptions& options);

}  // namespace lepus
