// SPDX-License-Identifier: Apache-2.0
// lepus plan: what a reconstruction will take, before it starts.
#include <nlohmann/json.hpp>

#include "app/cluster_options.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "app/method_options.h"
#include <lepus/error.h>

namespace lepus::app {
namespace {

struct PlanArguments {
  std::string scan_file;
  ComputeOptions compute;
  MethodArguments method;
  ClusterOptions cluster;
};

PlanOptions plan_options(const PlanArguments& a, const Session& session) {
  PlanOptions options;
  options.method = a.method.choices();
  options.compute = a.compute.compute();
  options.cluster = a.cluster.cluster();
  options.call = session.call();
  return options;
}

// json: what there is beside the cluster's.
int show_cluster(const ClusterPlan& plan, nlohmann::json json, Session& session) {
  session.print(plan.text);
  nlohmann::json terms = nlohmann::json::array();
  for (const auto& [name, seconds, how] : plan.terms)
    terms.push_back({{"name", name}, {"seconds", seconds}, {"how", how}});
  json["cluster"] = {{"groups", plan.groups}, {"wedges", plan.wedges}, {"slabs_each", plan.slabs_each},
                     {"terms", terms},        {"bound", plan.bound},   {"seconds", plan.seconds}};
  session.result(json);
  return exit_ok;
}

int run_plan(const PlanArguments& a, Session& session) {
  const PlanOptions options = plan_options(a, session);
  if (!a.cluster.problem.empty())
    return show_cluster(plan_problem(a.cluster.circular_problem(), options), nlohmann::json::object(), session);
  if (a.scan_file.empty())
    throw Error(ErrorKind::usage,
                {.what = "SCAN is required", .where = {}, .why = {}, .hint = "see 'lepus plan --help'"});
  const PlanReport plan = plan_reconstruction(a.scan_file, options);
  session.print(plan.text);
  if (plan.cluster) return show_cluster(*plan.cluster, nlohmann::json::parse(plan.json), session);
  session.result(nlohmann::json::parse(plan.json));
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
