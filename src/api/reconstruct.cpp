// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/compare_methods.h"
#include "api/compute_of_call.h"
#include "api/refuse_option.h"
#include "api/unfinished_run.h"
#include "core/format.h"
#include "core/output_file.h"
#include "import/import_scan.h"
#include "job/method_choices.h"
#include "job/run_scan.h"
#include <lepus/error.h>
#include <lepus/memory.h>
#include <lepus/ranks.h>

namespace lepus {
namespace {

namespace fs = std::filesystem;

void check_share(const ReconstructOptions& options) {
  if (options.share == 0 && options.shares == 0) return;
  if (options.share < 1 || options.share > options.shares)
    throw Error(ErrorKind::usage, {.what = format("there is no share {} of {}", options.share, options.shares),
                                   .where = "reconstruct",
                                   .why = {},
                                   .hint = "shares are counted from 1"});
}

void check_wedges(int wedges) {
  if (wedges < 0) refuse_option("--wedges", format("views are not shared out by {} ranks", wedges), "give 0 or more");
}

Scan scan_with_choices(const fs::path& place, const ReconstructOptions& options,
                       void (*choose)(Scan&, const MethodChoices&)) {
  Scan scan = read_scan_at(place);
  check_resume_or_restart(options.resume, options.restart);
  scan.method.resume = options.resume;
  scan.method.restart = options.restart;
  choose(scan, options.method);
  return scan;
}

// The ranks of a node share its threads and its memory.
Call call_of(const ReconstructOptions& options) {
  const Compute& compute = options.compute;
  Call call{compute.threads, compute.memory_bytes, options.force, options.progress, options.cancel};
  if (!options.ranks) return call;
  if (call.threads == 0) call.threads = threads_of_rank(*options.ranks);
  if (call.memory_bytes == 0) call.memory_bytes = available_memory_bytes() / 10 * 6 / options.ranks->node_size();
  return call;
}

OutputLock reserve_trace(const ReconstructOptions& options, CallContext& working) {
  if (options.ranks && !options.ranks->first()) return {};
  return reserve_output(options.trace, options.force, working.context().progress);
}

fs::path output_of(const Scan& scan, const fs::path& given, const fs::path& place) {
  if (!given.empty()) return given;
  if (!scan.output.empty()) return scan.file.parent_path() / scan.output;
  throw Error(ErrorKind::usage, {.what = "no output was named",
                                 .where = place.string(),
                                 .why = "neither -o nor output.file in the scan file is given",
                                 .hint = "add for example -o volume.mha"});
}

void refuse_shares(const ReconstructOptions& options) {
  if (options.share == 0 && options.shares == 0) return;
  throw Error(ErrorKind::usage, {.what = "a share of a comparison",
                                 .where = "option --compare-methods",
                                 .why = "one process makes what is compared",
                                 .hint = "leave --share out"});
}

void refuse_states(const ReconstructOptions& options) {
  if (!options.resume && !options.method.save_every && !options.method.save_minutes) return;
  throw Error(ErrorKind::usage, {.what = options.resume ? "--resume of a comparison" : "--save-every in a comparison",
                                 .where = "option --compare-methods",
                                 .why = "no state of the methods that are compared is kept",
                                 .hint = "leave it out"});
}

}  // namespace

ReconstructReport reconstruct(const fs::path& scan_file, const fs::path& volume_file, const ReconstructOptions& asked) {
  check_share(asked);
  check_wedges(asked.wedges);
  Scan scan = scan_with_choices(scan_file, asked, choose_method);
  const Call call = call_of(asked);
  CallContext working(call);
  ReconstructOptions options = asked;
  options.compute = compute_of_call(asked.compute, call, working);
  const OutputLock traced = reserve_trace(options, working);
  const fs::path output = output_of(scan, volume_file, scan_file);
  if (options.resume && !scan.method.iterative()) require_unfinished_run(output);
  ReconstructReport report = run_scan(std::move(scan), output, options, working.context());
  const bool wrote = report.complete && (!options.ranks || options.ranks->first());
  if (wrote) report.output_bytes = bytes_below(report.output);
  return report;
}

MethodComparison compare_methods(const fs::path& scan_file, const fs::path& picture,
                                 const std::vector<std::string>& methods, const ReconstructOptions& asked) {
  if (methods.empty()) refuse_option("--compare-methods", "no method was named", "name one or more");
  const Scan scan = scan_with_choices(scan_file, asked, set_choices);
  refuse_states(asked);
  refuse_shares(asked);
  const Call call = call_of(asked);
  CallContext working(call);
  const OutputLock traced = reserve_trace(asked, working);
  if (asked.ranks && !asked.ranks->alone())
    throw Error(ErrorKind::usage, {.what = "methods are compared by one process",
                                   .where = "option --compare-methods",
                                   .why = "several were started by mpirun or srun",
                                   .hint = "start it without them"});
  ReconstructOptions options = asked;
  options.compute = compute_of_call(asked.compute, call, working);
  return compare_methods(scan, output_of(scan, picture, scan_file), methods, options, working.context());
}

}  // namespace lepus
