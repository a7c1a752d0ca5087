// SPDX-License-Identifier: Apache-2.0
// lepus live: a scan that is still being measured becomes a volume view by view.
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/compute_options.h"
#include "core/format.h"
#include <lepus/live.h>
#include <lepus/memory.h>

namespace lepus::app {
namespace {

struct LiveArguments {
  std::string scan_file, output, preview, status, missing = "fail";
  LiveOptions live;
  ComputeOptions compute;
};

LiveOptions live_options(const LiveArguments& a, const Session& session) {
  LiveOptions options = a.live;
  options.compute = a.compute.compute();
  options.preview = a.preview;
  options.status = a.status;
  options.finish_incomplete = a.missing == "finish";
  options.call = session.call();
  return options;
}

nlohmann::json live_json(const LiveReport& r) {
  return {{"volume", r.output.string()},
          {"size", {r.grid.nx, r.grid.ny, r.grid.nz}},
          {"backend", r.backend},
          {"device", r.device},
          {"kernel", r.kernel},
          {"views", r.views},
          {"missing", r.missing},
          {"left_out", r.left_out},
          {"previews", r.previews},
          {"seconds", r.seconds},
          {"filter_seconds", r.filter_seconds},
          {"backproject_seconds", r.backproject_seconds},
          {"ready_seconds", r.ready_seconds},
          {"written_seconds", r.written_seconds},
          {"peak_memory_bytes", r.peak_memory_bytes},
          {"memory_limit_bytes", r.memory_limit_bytes}};
}

int run_live(const LiveArguments& a, Session& session) {
  const LiveReport r = reconstruct_live(a.scan_file, a.output, live_options(a, session));
  session.report(
      format("wrote     {}: {} x {} x {} voxels from {} views{}\ntime      {:.2f} s\n"
             "ready     {:.1f} ms after the last view came, on disk after {:.1f} ms",
             r.output.string(), r.grid.nx, r.grid.ny, r.grid.nz, r.views,
             r.missing.empty() ? std::string() : format(", {} are missing", r.missing.size()), r.seconds,
             1e3 * r.ready_seconds, 1e3 * r.written_seconds),
      format("kernel    {} on {}\nspent     filter {:.2f} s, backprojection {:.2f} s, the rest waiting and reading\n"
             "peak      {} of {} allowed",
             r.kernel, r.device, r.filter_seconds, r.backproject_seconds, format_bytes(r.peak_memory_bytes),
             format_bytes(r.memory_limit_bytes)));
  session.result(live_json(r));
  return exit_ok;
}

void add_live_options(OptionTable& table, LiveArguments& a) {
  table.positional("SCAN", a.scan_file, "the scan file, as for lepus reconstruct; its frames need not be there yet")
      .must()
      .file();
  table.value("-o,--output", "VOLUME", a.output, "the volume to write when the last view is in").must().file();
  table.group("Views");
  table.value("--views", "N", a.live.views, "how many frames will come").otherwise("as many as the scan file lists");
  table.value("--first-number", "N", a.live.first_number, "the number in the name of the first frame")
      .otherwise("0 or 1, whichever comes");
  table.value("--timeout", "SECONDS", a.live.timeout_s, "how long to wait while no file comes or grows");
  table.value("--missing", "WHAT", a.missing, "after that: fail, or finish with the views that came")
      .one_of({"fail", "finish"});
  table.value("--settle", "SECONDS", a.live.settle_s,
              "how long a file must stay the same where the system does not tell that it was closed");
  table.group("Preview");
  table.value("--preview", "PNG", a.preview, "three slices of the volume so far, replaced again and again")
      .file()
      .otherwise("none");
  table.value("--status", "JSON", a.status, "how far it is, for other programs, replaced again and again")
      .file()
      .otherwise("none");
  table.value("--every", "SECONDS", a.live.every_s, "at least so long between two previews");
  table.group("Computing");
  a.compute.describe(table);
}

}  // namespace

std::unique_ptr<Command> live_command() {
  auto arguments = std::make_shared<LiveArguments>();
  auto command = std::make_unique<Command>();
  command->name = "live";
  command->summary = "reconstruct while the scanner measures, with a preview";
  command->description =
      "Watches the folder that a scanner writes frames into, adds each view to the volume when its file is whole, and\n"
      "writes the volume when the last one is in: the volume that lepus reconstruct would make. Files may come "
      "slowly,\n"
      "late or in another order; their numbers say which view they are. Interrupted, it is simply started again.\n\n"
      "Flats and darks must be there when the first view is. Corrections that compare views with each other (rings, "
      "hot\n"
      "pixels, lag, zingers) are left out and named; run lepus reconstruct afterwards for those.";
  command->examples = {
      {"lepus live demo/scan.toml --views 24 -o live.mha --preview live.png", "24 views, a picture every 5 s"},
      {"lepus live demo/scan.toml --views 25 -o live.mha --timeout 2 --missing finish",
       "Finish with what there is when nothing comes for two seconds"}};
  command->writes = true;
  add_live_options(command->options, *arguments);
  command->run = [arguments](Session& session) { return run_live(*arguments, session); };
  return command;
}

}  // namespace lepus::app
