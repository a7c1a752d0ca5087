// SPDX-License-Identifier: Apache-2.0
// lepus plan: what a reconstruction will take, before it starts.
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/commands.h"
#include "app/compute_options.h"
#include "run/reconstruct_scan.h"

namespace lepus::app {
namespace {

struct PlanArguments {
  std::string scan_file;
  ComputeOptions compute;
};

int run_plan(const PlanArguments& arguments, Session& session) {
  ReconstructOptions options;
  options.compute = arguments.compute.compute();
  options.compute.memory_bytes = session.memory_bytes();
  const PlanReport report = plan_scan(read_scan(arguments.scan_file), options, session.context());
  session.print(report.text);
  session.result(nlohmann::json::parse(report.json));
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
      "written.";
  command->examples = {{"lepus plan scan.toml", "with 60 % of the free memory"},
                       {"lepus plan scan.toml --memory 4GiB --json", "for a limit of 4 GiB, for a script"}};
  command->options.positional("SCAN", arguments->scan_file, "the scan file (TOML)").must().file();
  arguments->compute.describe(command->options);
  command->run = [arguments](Session& session) { return run_plan(*arguments, session); };
  return command;
}

}  // namespace lepus::app
