// SPDX-License-Identifier: Apache-2.0
// lepus plan: what a reconstruction will take, before it starts.
#include <nlohmann/json.hpp>

#include "app/cluster_options.h"
#include "app/command.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "app/method_options.h"
#include "core/format.h"
#include "job/method_choices.h"
#include "job/plan_iterations.h"
#include "run/correction_chain.h"
#include "run/reconstruct_scan.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

struct PlanArguments {
  std::string scan_file;
  ComputeOptions compute;
  MethodArguments method;
  ClusterOptions cluster;
};

// For people and for machines.
void show(const ClusterPlan& plan, const ClusterMachine& machine, nlohmann::json result, Session& session) {
  session.print(format("cluster   {} nodes, {}\n{}", machine.nodes, machine.rates_from, describe(plan)));
  result["cluster"] = to_json(plan);
  session.result(result);
}

void require_fdk(const MethodSettings& method) {
  if (!method.iterative()) return;
  throw Error(ErrorKind::usage, {.what = "clusters are planned for fdk alone",
                                 .where = format("method {}", method.name),
                                 .why = "what its processes exchange in an iteration is not modelled",
                                 .hint = "leave --nodes out for the plan of one machine, or add --method fdk"});
}

int plan_problem(const PlanArguments& arguments, Session& session) {
  const ClusterOptions& cluster = arguments.cluster;
  Scan without_file;
  const MethodChoices choices = arguments.method.choices();
  if (!choices.name.empty()) without_file.method.name = choices.name;
  require_fdk(without_file.method);
  choose_method(without_file, choices);  // fdk has none of its options
  if (!cluster.asked())
    throw Error(ErrorKind::usage, {.what = "how large is the cluster?",
                                   .where = "option --problem",
                                   .why = "a problem without a scan is planned for a cluster",
                                   .hint = "give --nodes and --gups, too"});
  const auto problem = cluster.synthetic();
  const ClusterMachine machine = cluster.machine({}, false);
  show(plan_cluster(problem->request, machine), machine, nlohmann::json::object(), session);
  return exit_ok;
}

int run_plan(const PlanArguments& arguments, Session& session) {
  const ClusterOptions& cluster = arguments.cluster;
  cluster.check();
  if (!cluster.problem.empty()) return plan_problem(arguments, session);
  if (arguments.scan_file.empty())
    throw Error(ErrorKind::usage,
                {.what = "SCAN is required", .where = {}, .why = {}, .hint = "see 'lepus plan --help'"});
  ReconstructOptions options;
  options.compute = arguments.compute.compute();
  options.compute.memory_bytes = session.memory_bytes();
  Scan scan = read_scan(arguments.scan_file);
  choose_method(scan, arguments.method.choices());
  if (cluster.asked()) require_fdk(scan.method);
  check_corrections(scan);
  const PlanReport report = scan.method.iterative() ? plan_iterations(scan, options, session.context())
                                                    : plan_scan(scan, options, session.context());
  session.print(report.text);
  if (!cluster.asked()) {
    session.result(nlohmann::json::parse(report.json));
    return exit_ok;
  }
  PlanRequest request;
  request.geometry = &scan.geometry;
  request.grid = scan.grid;
  request.cylinder_mm = report.cylinder_mm;
  request.interpolation = scan.interpolation;
  request.frame_pixel_bytes = report.frame_pixel_bytes;
  const ClusterMachine machine = cluster.machine(report.speed, report.on_host);
  show(plan_cluster(request, machine), machine, nlohmann::json::parse(report.json), session);
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> plan_command() {
  auto command = std::make_unique<Command>();
  const auto arguments = std::make_shared<PlanArguments>();
  command->name = "plan";
  command->summary = "say what a reconstruction will take, before it starts";
  command->description =
      "Reads the scan file and the frames' headers and prints the volume, how much of a turn the scan covers, the "
      "field of "
      "view, how the work will be cut to fit the memory limit, how often rows are read again, the space on disk and "
      "the time "
      "that is to be expected on this machine. The backprojection is timed on a small piece for that; nothing is "
      "written.\n\n"
      "With --method, or [method] in the scan file, it is the plan of an iterative method: the memory of its vectors, "
      "how the operator and its transpose are cut on the device, the time of an iteration and of all, the size of "
      "its saved state.";
  command->examples = {
      {"lepus plan scan.toml", "with 60 % of the free memory"},
      {"lepus plan scan.toml --memory 4GiB --json", "for a limit of 4 GiB, for a script"},
      {"lepus plan scan.toml --method os-sart --subsets 20 --iterations 10", "what an iterative method will take"},
      {"lepus plan scan.toml --nodes 64 --gpus-per-node 4 --gups 1000 --network 25GB/s --disk 50GB/s",
       "on a cluster: every term of the time, and which one bounds it"}};
  command->options.positional("SCAN", arguments->scan_file, "the scan file (TOML)").file();
  arguments->compute.describe(command->options);
  arguments->method.describe(command->options);
  arguments->cluster.describe(command->options);
  command->run = [arguments](Session& session) { return run_plan(*arguments, session); };
  return command;
}

}  // namespace lepus::app
