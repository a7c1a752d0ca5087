// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"

#include "bench/program/options.h"

namespace lepus::app {

void add_commands(Commands& commands) {
  commands.push_back(simulate_command());
  commands.push_back(import_command());
  commands.push_back(info_command());
  commands.push_back(plan_command());
  commands.push_back(center_command());
  commands.push_back(calibrate_command());
  commands.push_back(preview_command());
  commands.push_back(reconstruct_command());
  commands.push_back(project_command());
  commands.push_back(live_command());
  commands.push_back(post_command());
  commands.push_back(analyze_command());
  commands.push_back(compare_command());
  commands.push_back(convert_command());
  commands.push_back(slice_command());
  commands.push_back(view_command());
  commands.push_back(scan_keys_command());
  static RabbitArguments rabbitct;  // read here only to be checked: lepus-bench runs these two
  static BenchArguments bench;
  commands.push_back(described_rabbitct(rabbitct));
  commands.push_back(described_bench(bench));
  commands.push_back(completion_command(commands));
  commands.push_back(man_command(commands));
}

}  // namespace lepus::app
