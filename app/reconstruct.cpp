// SPDX-License-Identifier: Apache-2.0
// lepus reconstruct: a scan file becomes a volume file.
#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/compute_options.h"
#include "app/method_options.h"
#include "app/output_options.h"
#include "app/resume_options.h"
#include "core/format.h"
#include <lepus/compare_methods.h>
#include <lepus/error.h>
#include <lepus/memory.h>
#include <lepus/text.h>

namespace lepus::app {
namespace {

struct ReconstructArguments {
  std::string scan_file, output, compared, share;
  ComputeOptions compute;
  MethodArguments method;
  ResumeOptions resume;
  OutputOptions stored;
  int wedges = 0;
  std::string trace;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// "3/16"
void set_share(const std::string& text, ReconstructOptions& options) {
  if (text.empty()) return;
  const auto [after_share, first] = std::from_chars(text.data(), text.data() + text.size(), options.share);
  const char* const end = text.data() + text.size();
  if (first == std::errc{} && after_share != end && *after_share == '/') {
    const auto [after, second] = std::from_chars(after_share + 1, end, options.shares);
    if (second == std::errc{} && after == end && options.share >= 1 && options.share <= options.shares) return;
  }
  throw Error(ErrorKind::usage, {.what = format("'{}' is no share of a volume", shown(text)),
                                 .where = "option --share",
                                 .why = "it is a number from 1 to the number of shares, a stroke, and that number",
                                 .hint = "give for example 3/16: the third of sixteen"});
}

std::string details(const ReconstructReport& report) {
  const double gups = report.updates / std::max(1e-9, report.backproject_seconds) / 0x1p30;
  std::string text = format(
      "{}\nkernel    {} on {}, {:.2f} GUPS\nspent     filter {:.2f} s, backprojection {:.2f} s, waiting for the writer "
      "{:.2f} s\npeak      {} of {} allowed\n",
      report.plan, report.kernel, report.device, gups, report.filter_seconds, report.backproject_seconds,
      report.write_wait_seconds, format_bytes(report.peak_memory_bytes), format_bytes(report.memory_limit_bytes));
  for (const std::string& step : report.post) text += format("post      {}\n", step);
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankReport& did = report.ranks[rank];
    text += did.rows > 0 ? format(
                               "rank {:4} {}: {} rows of the detector in {:.2f} s, {:.2f} s of them iterating; peak "
                               "{}\n",
                               rank, did.node, did.rows, did.seconds, did.backproject_seconds,
                               format_bytes(did.peak_memory_bytes))
                         : format(
                               "rank {:4} {}: {} slices in {:.2f} s; filter {:.2f} s, backprojection {:.2f} s, "
                               "waiting for the writer {:.2f} s; peak {}\n",
                               rank, did.node, did.slices, did.seconds, did.filter_seconds, did.backproject_seconds,
                               did.write_wait_seconds, format_bytes(did.peak_memory_bytes));
  }
  return text;
}

std::string summary(const ReconstructReport& report) {
  const VolumeGrid& grid = report.grid;
  if (!report.complete)
    return format("made      this share of {}; other shares are still to come\ntime      {:.2f} s",
                  report.output.string(), report.seconds);
  return format("wrote     {}: {} x {} x {} voxels, {}\ntime      {:.2f} s", report.output.string(), grid.nx, grid.ny,
                grid.nz, format_bytes(report.output_bytes), report.seconds);
}

nlohmann::json ranks_json(const std::vector<RankReport>& ranks) {
  nlohmann::json list = nlohmann::json::array();
  for (const RankReport& rank : ranks) list.push_back(nlohmann::json::parse(to_json(rank)));
  return list;
}

ReconstructOptions reconstruct_options(const ReconstructArguments& a, Session& session) {
  const Call call = session.call();
  ReconstructOptions options;
  options.method = a.method.choices();
  options.compute = a.compute.compute(&session.ranks());
  options.compute.threads = call.threads;
  options.compute.memory_bytes = call.memory_bytes;
  options.force = call.force;
  options.output = a.stored.values();
  options.progress = call.progress;
  options.cancel = call.cancel;
  options.resume = a.resume.resume;
  options.restart = a.resume.restart;
  set_share(a.share, options);
  options.trace = a.trace;
  options.ranks = &session.ranks();
  options.wedges = a.wedges;
  return options;
}

int run_comparison(const ReconstructArguments& a, const std::vector<std::string>& names, Session& session) {
  const MethodComparison done = compare_methods(a.scan_file, a.output, names, reconstruct_options(a, session));
  std::string table = format("{:<16} {:>9} {:>10}\n", "method", "time s", "residual");
  nlohmann::json methods = nlohmann::json::array();
  for (const auto& [name, seconds, residual] : done.methods) {
    table += format("{:<16} {:>9.2f} {:>10.4g}\n", name, seconds, residual);
    methods.push_back({{"name", name}, {"seconds", seconds}, {"residual", residual}});
  }
  session.print(table);
  session.report(format("wrote     {}: {} methods, slice {} of a slab of {} slices from {} rows", done.picture.string(),
                        methods.size(), done.slice, done.slices, done.rows));
  session.result(
      {{"output", done.picture.string()}, {"slices", done.slices}, {"rows", done.rows}, {"methods", methods}});
  return exit_ok;
}

int run_reconstruct(const ReconstructArguments& a, Session& session) {
  if (const auto names = names_in(a.compared); !names.empty()) return run_comparison(a, names, session);
  const ReconstructReport report = reconstruct(a.scan_file, a.output, reconstruct_options(a, session));
  if (!session.ranks().first()) return exit_ok;  // rank 0 reports for all
  session.report(summary(report), details(report));
  session.result({{"output", report.output.string()},
                  {"complete", report.complete},
                  {"seconds", report.seconds},
                  {"filter_seconds", report.filter_seconds},
                  {"backproject_seconds", report.backproject_seconds},
                  {"write_wait_seconds", report.write_wait_seconds},
                  {"voxel_updates", report.updates},
                  {"peak_memory_bytes", report.peak_memory_bytes},
                  {"memory_limit_bytes", report.memory_limit_bytes},
                  {"corrections", report.corrections},
                  {"post", report.post},
                  {"ranks", ranks_json(report.ranks)},
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
      "limit and the number of threads. An iterative method keeps its state beside the output, and the same "
      "command goes on from there with the same bits after whatever ended it.\n\n"
      "The ending of the output chooses its format. Where a run ends early, killed or by an error, what it has "
      "finished stays beside the output (FILE.unfinished and FILE.journal), and the same command goes on from there to "
      "the same bits; lepus status says how far it is (docs/restart.md).";
  command->examples = {
      {"lepus reconstruct scan.toml -o volume.mha", "the whole volume that the scan file describes"},
      {"lepus reconstruct scan.toml -o volume.h5 --memory 4GiB --threads 8", "within 4 GiB, on 8 threads"},
      {"lepus reconstruct scan.toml -o volume.mha --backend cuda --device all --precision fast",
       "on all GPUs of the machine"},
      {"lepus reconstruct scan.toml -o volume.mha --method os-sart --subsets 20 --iterations 10",
       "by an iterative method, for few views"},
      {"lepus reconstruct scan.toml -o volume.mha --share 3/16", "the third of sixteen jobs that make it together"},
      {"srun --mpi=pmix lepus reconstruct scan.toml -o volume.h5", "on all nodes of a Slurm job, into one file"},
      {"lepus reconstruct scan.toml -o methods.png --compare-methods fdk,os-sart,fista-tv --iterations 20 --strength "
       "0.001",
       "which method to take: one slab by each"}};
  command->writes = true;
  command->over_ranks = true;
  command->options
      .positional("SCAN", arguments->scan_file,
                  "the scan file (TOML; docs/scan-file.md lists its keys), or the folder of a scanner (lepus import)")
      .must()
      .file();
  command->options
      .value("-o,--output", "FILE", arguments->output, "the volume to write: .mha .mhd .nrrd .tif .h5 .raw .zarr")
      .file()
      .otherwise("output.file of the scan file");
  arguments->stored.describe(command->options);
  arguments->compute.describe(command->options);
  arguments->method.describe(command->options);
  arguments->resume.describe(command->options);
  command->options
      .value("--share", "K/N", arguments->share,
             "make one of N parts of the volume, as one job of an array does; the last to end completes it")
      .otherwise("all of it");
  command->options
      .value("--compare-methods", "LIST", arguments->compared,
             "try these, with commas between them, on one slab: a picture (-o FILE.png) and a table")
      .otherwise("one volume is made");
  command->options
      .value("--trace", "FILE", arguments->trace,
             "write when each device read, filtered, summed and wrote, for chrome://tracing or ui.perfetto.dev (JSON; "
             "FDK)")
      .file();
  command->options
      .value("--wedges", "N", arguments->wedges,
             "over many processes: so many share out the views of a slab, and sum (docs/cluster.md)")
      .otherwise("1, or more where there are more processes than slabs");
  command->run = [arguments](Session& session) { return run_reconstruct(*arguments, session); };
  return command;
}

}  // namespace lepus::app
