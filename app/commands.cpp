// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"

#include "core/format.h"
#include "core/text.h"
#include <lepus/error.h>

namespace lepus::app {

void add_all_commands(Commands& commands, CommonOptions& common) {
  commands.push_back(simulate_command());
  commands.push_back(info_command());
  commands.push_back(plan_command());
  commands.push_back(center_command());
  commands.push_back(calibrate_command());
  commands.push_back(preview_command());
  commands.push_back(reconstruct_command());
  commands.push_back(live_command());
  commands.push_back(post_command());
  commands.push_back(compare_command());
  commands.push_back(convert_command());
  commands.push_back(slice_command());
  commands.push_back(scan_keys_command());
  commands.push_back(rabbitct_command());
  commands.push_back(bench_command());
  commands.push_back(completion_command(commands));
  commands.push_back(man_command(commands));
  for (const auto& command : commands) add_common_options(*command, common);
}

const Command& find_command(const Commands& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command->name == name) return *command;
    names.push_back(command->name);
  }
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorKind::usage, {.what = format("there is no command '{}'", name),
                                 .where = {},
                                 .why = {},
                                 .hint = nearest.empty() ? "'lepus --help' lists the commands"
                                                         : format("did you mean 'lepus {}'?", nearest)});
}

}  // namespace lepus::app
