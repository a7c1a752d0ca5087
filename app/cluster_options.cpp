// SPDX-License-Identifier: Apache-2.0
#include "app/cluster_options.h"

#include <regex>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/memory.h"
#include "run/plan_models.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

constexpr const char *usual_network = "25GB/s", *usual_disk = "5GB/s", *usual_device_memory = "16GiB";

[[noreturn]] void refuse_cluster(const std::string& option, std::string what, std::string hint) {
  throw Error(ErrorKind::usage,
              {.what = std::move(what), .where = "option " + option, .why = {}, .hint = std::move(hint)});
}

// "25GB/s", "25GB"
double bytes_per_second(const std::string& option, std::string text) {
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  try {
    if (const std::int64_t bytes = parse_bytes(text); bytes > 0) return static_cast<double>(bytes);
  } catch (const Error&) {  // is refused below
  }
  refuse_cluster(option, format("'{}' is no rate", text), "write for example 25GB/s");
}

}  // namespace

void ClusterOptions::describe(OptionTable& table) {
  table.group("Many machines");
  table.value("--nodes", "N", nodes, "how long it would take on so many nodes, term by term (docs/cluster.md)")
      .otherwise("this machine");
  table.value("--gpus-per-node", "N", devices_per_node, "of each node; 0: its CPU computes");
  table.value("--ranks-per-node", "N", ranks_per_node, "processes that share a node's CPU and its --threads");
  table.value("--network", "RATE", network, "of each node, each way").otherwise(usual_network);
  table.value("--disk", "RATE", disk, "of the file system, all nodes together").otherwise(usual_disk);
  table.value("--gups", "X", gups, "updates of one GPU, or of a node's CPU, in 2^30 per second")
      .otherwise("what this machine does");
  table.value("--gpu-memory", "SIZE", device_memory, "of one GPU").otherwise(usual_device_memory);
  table
      .value("--launch", "SECONDS", launch_seconds, "until all processes are at work: mpirun's or srun's, the driver's")
      .otherwise("as measured, docs/cluster.md");
  table.value("--problem", "SIZES", problem,
              "instead of a scan file: COLUMNSxROWSxVIEWS-VOXELS, for example 2048x2048x4096-4096; needs --gups");
}

void ClusterOptions::check() const {
  const bool described = devices_per_node != 0 || ranks_per_node != 1 || gups || launch_seconds || !network.empty() ||
                         !disk.empty() || !device_memory.empty();
  const bool wanted = asked() || described;
  const std::int64_t count = nodes.value_or(0);
  if (wanted && (count < 1 || count > 1'000'000 || devices_per_node < 0 || devices_per_node > 1024))
    refuse_cluster("--nodes", format("{} nodes of {} GPUs are no cluster", count, devices_per_node),
                   "give at least one node, for example --nodes 64");
  if (ranks_per_node < 1 || ranks_per_node > 1024 || (devices_per_node > 0 && ranks_per_node > 1))
    refuse_cluster("--ranks-per-node", format("{} processes cannot share a node's CPU", ranks_per_node),
                   "give 1 to 1024; with --gpus-per-node each GPU has a process");
  if (launch_seconds && !(*launch_seconds >= 0 && *launch_seconds <= 1e6))
    refuse_cluster("--launch", format("{} seconds are no time to begin", *launch_seconds),
                   "give for example --launch 0.7");
  if (gups && !(*gups > 0)) refuse_cluster("--gups", "a rate must be above zero", "give for example --gups 1200");
}

ClusterMachine ClusterOptions::machine(const std::optional<MachineSpeed>& speed, bool on_host) const {
  const bool cards = devices_per_node > 0;
  if (!gups && (!speed || on_host == cards))
    refuse_cluster("--gups",
                   cards ? "no GPU is here whose speed could be taken" : "the speed of a node's CPU is not known",
                   "give it: docs/speed.md has figures, 'lepus bench' measures");
  ClusterMachine machine;
  machine.nodes = nodes.value_or(1);
  machine.devices_per_node = cards ? devices_per_node : ranks_per_node;
  machine.network_bytes = bytes_per_second("--network", network.empty() ? usual_network : network);
  machine.disk_bytes = bytes_per_second("--disk", disk.empty() ? usual_disk : disk);
  machine.updates = gups ? *gups * 0x1p30 : speed->updates;
  machine.filtered_pixels = cards ? card_filtered_pixels : speed ? speed->filtered_pixels : machine.updates / 7;
  if (!cards) {
    machine.updates /= static_cast<double>(ranks_per_node);
    machine.filtered_pixels /= static_cast<double>(ranks_per_node);
  }
  machine.link_bytes = cards ? card_link_bytes : 0;
  machine.device_bytes = cards ? parse_bytes(device_memory.empty() ? usual_device_memory : device_memory) : 0;
  // mpirun and MPI_Init: 0.2 to 0.3 s, measured with Open MPI 4.1 and two ranks on a node without a GPU.
  machine.start_seconds = launch_seconds.value_or(cards ? 0.8 : machine.nodes * ranks_per_node > 1 ? 0.27 : 0.02);
  machine.file_seconds = 2e-4;
  machine.rates_from = gups ? "sums: --gups" : "sums: measured on this machine";
  machine.rates_from += cards   ? "; filter and link: an H200 (docs/speed.md)"
                        : speed ? "; filter: measured on this machine"
                                : "; filter: a seventh of the sums, as on CPUs here";
  return machine;
}

std::unique_ptr<ClusterOptions::Problem> ClusterOptions::synthetic() const {
  static const std::regex form("([0-9]{1,6})x([0-9]{1,6})x([0-9]{1,6})-([0-9]{1,6})");
  std::smatch sizes;
  if (!std::regex_match(problem, sizes, form))
    refuse_cluster("--problem", format("'{}' is no problem", problem),
                   "write COLUMNSxROWSxVIEWS-VOXELS, such as 2048x2048x4096-4096");
  const auto number = [&](int i) { return std::max<std::int64_t>(1, std::stoll(sizes[static_cast<std::size_t>(i)])); };
  // A detector twice as far as the axis, seen under 11 degrees.
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = number(1);
  scan.rows = number(2);
  scan.pixel_width_mm = scan.pixel_height_mm = 200.0 / static_cast<double>(std::max(scan.columns, scan.rows));
  for (std::int64_t i = 0; i < number(3); ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(number(3)));
  auto made = std::make_unique<Problem>();
  made->geometry = build_scan(scan);
  const double step = 95.0 / static_cast<double>(number(4));
  made->request.geometry = &made->geometry;
  made->request.grid = centred_grid(number(4), number(4), number(4), {step, step, step});
  made->request.cylinder_mm = 1e9;  // the whole cube, as papers count it
  return made;
}

nlohmann::json to_json(const ClusterPlan& plan) {
  nlohmann::json terms = nlohmann::json::array();
  for (const ClusterTerm& term : plan.terms)
    terms.push_back({{"name", term.name}, {"seconds", term.seconds}, {"how", term.how}});
  return {{"groups", plan.groups}, {"wedges", plan.wedges}, {"slabs_each", plan.slabs_each},
          {"terms", terms},        {"bound", plan.bound},   {"seconds", plan.seconds}};
}

}  // namespace lepus::app
