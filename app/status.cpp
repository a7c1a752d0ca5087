// SPDX-License-Identifier: Apache-2.0
// lepus status: how far a run is that is working or was ended, from what lies beside its output.
#include <lepus/status.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "core/format.h"
#include <lepus/text.h>

namespace lepus::app {
namespace {

nlohmann::json to_json(const RunStatus& status, const std::string& word) {
  nlohmann::json parts = nlohmann::json::array();
  for (const RunPart& part : status.parts)
    parts.push_back({{"part", part.name}, {"holder", part.holder}, {"done", part.done}});
  return {{"output", status.output.string()},
          {"state", word},
          {"command", status.command},
          {"lepus", status.lepus},
          {"unit", status.unit},
          {"all", status.all},
          {"done", status.done},
          {"left", status.left()},
          {"seconds_left", status.seconds_left ? nlohmann::json(*status.seconds_left) : nlohmann::json()},
          {"parts", parts}};
}

std::string to_text(const RunStatus& status, const std::string& word) {
  const std::int64_t all = std::max<std::int64_t>(1, status.all);
  std::string text =
      format("{}: {}, {}\ndone      {} of {} {} ({} %)\nleft      {} {}, {}\n", status.output.string(), word,
             status.command, status.done, status.all, status.unit, 100 * status.done / all, status.left(), status.unit,
             status.seconds_left ? expected_time(*status.seconds_left) : "how long they take is not known yet");
  for (const RunPart& part : status.parts) {
    if (!part.name.empty()) text += format("{:<9} {} {}\n", part.name, part.done, status.unit);
    if (!part.holder.empty()) text += format("works     {}\n", part.holder);
  }
  if (!status.running()) text += "works     nobody: the same command goes on from here\n";
  return text;
}

int show_status(const std::string& output, Session& session) {
  const RunStatus status = run_status(output);
  if (status.complete) {
    session.print(format("{}: complete, no run of it is unfinished", output));
    session.result({{"output", output}, {"state", "complete"}});
    return exit_ok;
  }
  const std::string word = status.running() ? "running" : "unfinished";
  session.print(to_text(status, word));
  session.result(to_json(status, word));
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> status_command() {
  auto command = std::make_unique<Command>();
  const auto output = std::make_shared<std::string>();
  command->name = "status";
  command->summary = "say how far a run is: what is done, what is left, who works on it";
  command->description =
      "Reads what a run keeps beside its output, the journal of finished slabs or the saved state of an iterative "
      "method, and prints what is done, what is left, "
      "how long that will take, and which process on which machine "
      "works on it. Where nobody does, the command that began the run goes on from there. Nothing is changed, and a "
      "running process is not disturbed.";
  command->examples = {{"lepus status volume.mha", "the run that writes volume.mha"},
                       {"lepus status volume.mha --json", "the same for a script"}};
  command->options.positional("OUTPUT", *output, "the output, as it was given with -o").must().file();
  command->run = [output](Session& session) { return show_status(*output, session); };
  return command;
}

}  // namespace lepus::app
