// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "app/progress.h"
#include "core/format.h"

namespace lepus::app {

Session::Session(const CommonOptions& common, ProgressDisplay& display, const Call& call, Ranks& ranks)
    : common_(common), display_(display), call_(call), ranks_(ranks) {}

void Session::wait_in_silence() { display_.abandon(); }

void Session::print(const std::string& text) const {
  if (common_.json || text.empty()) return;
  print_always(text);
  if (text.back() != '\n') print_always("\n");
}

void Session::print_always(const std::string& text) const {
  display_.make_way();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Session::report(const std::string& text, const std::string& details) const {
  if (common_.quiet) return;
  if (common_.verbose) print(details);
  print(text);
  if (const std::size_t warnings = display_.warnings().size(); warnings > 0)
    print(format("warnings  {}, above", warnings));
}

void Session::result(const nlohmann::json& object) const {
  if (!common_.json) return;
  nlohmann::json whole = object;
  whole["warnings"] = display_.warnings();
  print_always(whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void add_common_options(Command& command, CommonOptions& common) {
  OptionTable& table = command.options;
  table.group("Common options");
  if (command.writes) table.flag("-f,--force", common.force, "overwrite files that exist");
  table.flag("-q,--quiet", common.quiet,
             "no progress, no notes, no report of what was written; what was asked for, warnings and errors stay");
  table.flag("-v,--verbose", common.verbose, "report more: the plan, the kernel, where the time went, memory");
  table.flag("--json", common.json, "print the result, or the error, as one JSON object on standard output");
  table.value("--threads", "N", common.threads, "how many threads to use").otherwise("every core");
  table.value("--memory", "SIZE", common.memory, "how much memory to use at most, such as 800MB or 4GiB")
      .otherwise("60 % of what is free");
  table.flag("-h,--help", common.help, "explain the command and give an example");
}

}  // namespace lepus::app
