// SPDX-License-Identifier: Apache-2.0
// lepus reconstruct: a scan file becomes a volume file.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/commands.h"
#include "app/compare_methods.h"
#include "app/imported_scan.h"
#include "app/method_options.h"
#include "core/format.h"
#include "core/memory.h"
#include "core/output_lock.h"
#include "job/run_scan.h"

namespace lepus::app {
namespace {

struct ReconstructArguments {
  std::string scan_file, output, compared;
  ComputeOptions compute;
  MethodArguments method;
};

std::filesystem::path output_of(const ReconstructArguments& arguments, const Scan& scan) {
  if (!arguments.output.empty()) return arguments.output;
  if (!scan.output.empty()) return scan.file.parent_path() / scan.output;
  throw Error(ErrorKind::usage, {.what = "no output was named",
                                 .where = arguments.scan_file,
                                 .why = "neither -o nor output.file in the scan file is given",
                                 .hint = "add for example -o volume.mha"});
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::string details(const ReconstructReport& report) {
  const double gups = report.updates / std::max(1e-9, report.backproject_seconds) / 0x1p30;
  std::string text = format(
      "{}\nkernel    {} on {}, {:.2f} GUPS\nspent     filter {:.2f} s, backprojection {:.2f} s, waiting for the writer "
      "{:.2f} s\npeak      {} of {} allowed\n",
      report.plan, report.kernel, report.device, gups, report.filter_seconds, report.backproject_seconds,
      report.write_wait_seconds, format_bytes(report.peak_memory_bytes), format_bytes(report.memory_limit_bytes));
  for (const std::string& step : report.post) text += format("post      {}\n", step);
  return text;
}

std::string summary(const ReconstructReport& report) {
  const VolumeGrid& grid = report.grid;
  return format("wrote     {}: {} x {} x {} voxels, {}\ntime      {:.2f} s", report.output.string(), grid.nx, grid.ny,
                grid.nz, format_bytes(bytes_below(report.output)), report.seconds);
}

int run_reconstruct(const ReconstructArguments& arguments, Session& session) {
  Scan scan = read_scan_argument(arguments.scan_file);
  const std::vector<std::string> compared = names_in(arguments.compared);
  arguments.method.apply(scan, !compared.empty());
  ReconstructOptions options;
  options.compute = arguments.compute.compute();
  options.compute.memory_bytes = session.memory_bytes();
  options.force = session.common().force;
  if (!compared.empty()) return compare_methods(compared, scan, output_of(arguments, scan).string(), options, session);
  const ReconstructReport report = run_scan(scan, output_of(arguments, scan), options, session.context());
  session.report(summary(report), details(report));
  session.result({{"output", report.output.string()},
                  {"seconds", report.seconds},
                  {"filter_seconds", report.filter_seconds},
                  {"backproject_seconds", report.backproject_seconds},
                  {"write_wait_seconds", report.write_wait_seconds},
                  {"voxel_updates", report.updates},
                  {"peak_memory_bytes", report.peak_memory_bytes},
                  {"memory_limit_bytes", report.memory_limit_bytes},
                  {"corrections", report.corrections},
                  {"post", report.post},
                  {"provenance", nlohmann::json::parse(report.provenance)}});
  return exit_ok;
}

}  // namespace

std::unique_ptr<Command> reconstruct_command() {
  auto command = std::make_unique<Command>();
  const auto arguments = std::make_shared<ReconstructArguments>();
  command->name = "reconstruct";
  command->summary = "make a volume from a scan";
  command->description =
      "Reads the frames that the scan file names, turns them into line integrals, filters and backprojects them (FDK), "
      "and "
      "writes the volume in 1/mm. With --method, or [method] in the scan file, the volume is made by an iterative "
      "method "
      "instead. FDK works in slabs within the memory limit; the volume is the same, bit for bit, "
      "whatever the "
      "limit and the number of threads. An iterative method that is interrupted finishes its iteration and keeps its "
      "state beside the output; --resume goes on from it with the same bits.\n\n"
      "The ending of the output chooses its format. Nothing stays under its name if the run fails.";
  command->examples = {
      {"lepus reconstruct scan.toml -o volume.mha", "the whole volume that the scan file describes"},
      {"lepus reconstruct scan.toml -o volume.h5 --memory 4GiB --threads 8", "within 4 GiB, on 8 threads"},
      {"lepus reconstruct scan.toml -o volume.mha --backend cuda --device all --precision fast",
       "on all GPUs of the machine"},
      {"lepus reconstruct scan.toml -o volume.mha --method os-sart --subsets 20 --iterations 10",
       "by an iterative method, for few views"},
      {"lepus reconstruct scan.toml -o methods.png --compare-methods fdk,os-sart,fista-tv --iterations 20 --strength "
       "0.001",
       "which method to take: one slab by each"}};
  command->writes = true;
  command->options.positional("SCAN", arguments->scan_file, "the scan file (TOML; docs/scan-file.md lists its keys), or the folder of a scanner (lepus import)")
      .must()
      .file();
  command->options
      .value("-o,--output", "FILE", arguments->output, "the volume to write: .mha .mhd .nrrd .tif .h5 .raw .zarr")
      .file()
      .otherwise("output.file of the scan file");
  arguments->compute.describe(command->options);
  arguments->method.describe(command->options);
  command->options
      .value("--compare-methods", "LIST", arguments->compared,
             "try these, with commas between them, on one slab: a picture (-o FILE.png) and a table")
      .otherwise("one volume is made");
  command->run = [arguments](Session& session) { return run_reconstruct(*arguments, session); };
  return command;
}

}  // namespace lepus::app
