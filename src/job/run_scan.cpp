// SPDX-License-Identifier: Apache-2.0
#include "job/run_scan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/memory.h"
#include "device/device.h"
#include "io/output_values.h"
#include "io/scratch_volume.h"
#include "iterative/saved_states.h"
#include "job/automatic_center.h"
#include "job/iterate_scan.h"
#include "job/method_input.h"
#include "job/outputs.h"
#include "job/warn_once.h"
#include "run/rank_run.h"
#include "run/reconstruct_scan.h"
#include "run/run_state.h"
#include "post/post.h"
#include <lepus/error.h>
#include <lepus/ranks.h>

namespace lepus {
namespace {

std::vector<PostSpec> chain_of(const Scan& scan) {
  std::vector<PostSpec> chain;
  for (const CorrectionSpec& step : scan.post) chain.push_back({step, format("{}:{}", scan.file.string(), step.line)});
  return chain;
}

// same_run: of what `before` is; not given: nothing stays of the output where it is not finished.
void post_into(const std::filesystem::path& output, const VolumeReader& before, const Scan& scan,
               const ReconstructOptions& options, const std::optional<JournalHeader>& same_run,
               ReconstructReport& report, Context& context) {
  const std::int64_t limit = host_memory_limit(options.compute);
  PostSettings post;
  post.input = scan.file.string();
  post.backend = options.compute.backend == "reference" ? "cpu" : options.compute.backend;
  post.device_memory_bytes = options.compute.device_memory_bytes;
  post.memory_bytes = std::max<std::int64_t>(1, limit - resident_bytes());
  post.force = options.force;
  post.stored = options.output;
  post.same_run = same_run;
  const PostReport done = post_process(before, output, chain_of(scan), post, context);
  report.output = output;
  report.grid = done.grid;
  report.post = done.steps;
  report.provenance = done.provenance;
  report.seconds += done.seconds;
}

constexpr const char* center_kind = "center";

// As an earlier run found it, where this one goes on with its volume.
void center_automatically(Scan& scan, ResumableVolume& volume, Context& context) {
  if (!scan.automatic_center) return;
  for (const auto& [kind, text] : volume.earlier_notes())
    if (kind == center_kind) return use_automatic_center(scan, automatic_center_from_json(text), context.progress);
  const AutomaticCenter found = find_automatic_center(scan, context);
  volume.note({center_kind, to_json(found)});
  use_automatic_center(scan, found, context.progress);
}

// Of two unfinished runs of one output the next start could not tell which is meant.
[[noreturn]] void refuse_other_run(const std::filesystem::path& output, const std::string& was,
                                   const std::string& now) {
  throw Error(ErrorKind::usage, {.what = "an unfinished run of this output cannot be gone on with",
                                 .where = output.string(),
                                 .why = format("the method was {}, now it is {}", was, now),
                                 .hint = "repeat the command as it was, or begin anew with --restart"});
}

void remove_what_was_made(const std::filesystem::path& volume_file) {
  if (journals_of(volume_file).empty()) return;  // an unfinished volume without one is none of ours
  remove_unfinished(volume_file);
  remove_journals(volume_file);
}

// An iterative method keeps states, FDK journals, FDK before steps those of two volumes. With --restart what another
// kind of run left goes.
void leave_no_other_run(const std::filesystem::path& volume_file, const Scan& scan, bool restart) {
  const std::filesystem::path output = files_of_volume(volume_file).front(), between = volume_before_steps(volume_file);
  const bool iterative = scan.method.iterative(), steps_follow = !iterative && !scan.post.empty();
  const std::string now = iterative ? scan.method.name : steps_follow ? "fdk with [[post]]" : "fdk";
  if (restart) {
    if (!iterative) remove_states(output);
    if (iterative || steps_follow) remove_what_was_made(volume_file);
    if (journals_of(between).empty()) return;
    remove_unfinished(between);
    remove_with_journals(between);
    return;
  }
  const auto state = newest_state(output);
  if (state && !iterative) refuse_other_run(volume_file, state->method, now);
  if (!journals_of(between).empty()) {
    if (!steps_follow) refuse_other_run(volume_file, "fdk with [[post]]", now);
  } else if ((iterative || steps_follow) && !journals_of(volume_file).empty()) {
    refuse_other_run(volume_file, "fdk", now);
  }
}

ReconstructReport run_fdk(Scan scan, const std::filesystem::path& volume_file, bool keep_journals,
                          const ReconstructOptions& options, Context& context) {
  const auto volume = open_output(scan, volume_file, options, keep_journals, context);
  try {
    center_automatically(scan, *volume, context);
    ReconstructReport report = reconstruct_scan(scan, *volume, files_of_volume(volume_file).front(), options, context);
    report.output = volume_file;
    return report;
  } catch (const std::exception& exception) {
    throw volume->ended_by(as_error(exception));
  }
}

// Where nothing of the steps is finished yet, the volume before them is.
Error ended_in_steps(const Error& error, const std::filesystem::path& volume_file) {
  if (!journals_of(volume_file).empty()) return error;  // it says so
  ErrorParts parts = error.parts();
  parts.hint += format("{}the volume before the steps is kept beside the output: the same command goes on from there",
                       parts.hint.empty() ? "" : "; ");
  return Error(error.kind(), parts);
}

// FDK, by all ranks, then the steps on its volume, by the first. The volume between them is a file beside the output
// whose journals stay, so that a run that is killed goes on with it, in the steps too.
ReconstructReport run_fdk_and_post(const Scan& scan, const std::filesystem::path& volume_file, Sharing sharing,
                                   const ReconstructOptions& options, Context& context) {
  const std::filesystem::path between = volume_before_steps(volume_file);
  check_steps(chain_of(scan), scan.grid, "1/mm");
  std::error_code code;
  if (std::filesystem::exists(between, code) && open_volume(between)->provenance().empty())
    throw Error(ErrorKind::disk, {.what = "a file of this name is in the way",
                                  .where = between.string(),
                                  .why = "the volume before the steps is written there, and this one is not lepus'",
                                  .hint = "move it away"});
  ReconstructOptions overwriting = options;
  overwriting.force = true;  // one without a journal was left by a run that was killed when it had finished
  overwriting.output = {};   // what is stored is said of the output: the steps get floats
  const auto locks = reserve_volume(between, true, context.progress, sharing);
  ReconstructReport report = run_fdk(scan, between, true, overwriting, context);
  if (options.ranks && !options.ranks->first()) return report;
  JournalHeader run{"reconstruct", facts_of(scan)};
  run.facts.push_back({"what computes", format("{}, {}", report.backend, report.kernel)});
  try {
    const auto before = open_volume(between);
    post_into(volume_file, *before, scan, options, run, report, context);
  } catch (const std::exception& exception) {
    throw ended_in_steps(as_error(exception), volume_file);
  }
  remove_with_journals(between);
  return report;
}

}  // namespace

ReconstructReport run_scan(Scan scan, const std::filesystem::path& volume_file, const ReconstructOptions& options,
                           Context& context) {
  WarnOnce progress(context.progress);
  Context once{context.threads, context.cancel, progress};
  require_named_method(scan);
  check_outputs(scan, volume_file, options.trace);
  check_output_values(volume_file, options.output);
  check_output_values(chain_of(scan), options.output);
  if (!options.trace.empty() && (scan.method.iterative() || !scan.post.empty()))
    throw Error(ErrorKind::usage, {.what = "a trace is made of FDK alone",
                                   .where = "option --trace",
                                   .why = "an iterative method or a step on the volume was asked for",
                                   .hint = "leave --trace out, or the method and the steps"});
  const bool together = options.ranks && !options.ranks->alone(), shared = options.shares > 0;
  if (options.wedges > 0 && scan.method.iterative())
    throw Error(ErrorKind::usage, {.what = "views are shared out by FDK alone",
                                   .where = "option --wedges",
                                   .why = "an iterative method was asked for, which shares out rows of the detector",
                                   .hint = "leave --wedges out"});
  if (together && shared)
    throw Error(ErrorKind::usage, {.what = "shares are made by single processes",
                                   .where = "option --share",
                                   .why = "several were started by mpirun or srun",
                                   .hint = "leave --share out: the ranks share the volume among themselves"});
  if (shared && (scan.method.iterative() || !scan.post.empty()))
    throw Error(
        ErrorKind::unsupported,
        {.what = "this scan cannot be made in shares",
         .where = scan.file.string(),
         .why = scan.method.iterative() ? "iterative methods need the whole volume"
                                        : "the steps of [[post]] need the whole volume",
         .hint = scan.method.iterative() ? "leave --share out" : "make the volume in shares, then use lepus post"});
  const Sharing sharing = together || shared ? Sharing::with_others : Sharing::alone;
  const auto locks = reserve_volume(volume_file, options.force, once.progress, sharing);
  const bool writes = !together || options.ranks->first();  // FDK's slabs alone are written by all ranks
  if (writes) leave_no_other_run(volume_file, scan, options.restart);
  if (together) require_common_run(*options.ranks, scan, volume_file, options);
  const bool iterative = scan.method.iterative();
  if (!iterative)
    return scan.post.empty() ? run_fdk(std::move(scan), volume_file, false, options, once)
                             : run_fdk_and_post(scan, volume_file, sharing, options, once);
  center_automatically(scan, once);
  if (scan.post.empty()) return iterate_scan(scan, volume_file, options, once);
  std::optional<ScratchVolume> before;
  if (writes) before.emplace(std::filesystem::absolute(volume_file).parent_path(), scan.grid, "1/mm");
  const std::filesystem::path output = files_of_volume(volume_file).front();
  ReconstructReport report = iterate_scan(scan, before ? &*before : nullptr, output, options, once);
  if (!writes) return report;
  post_into(volume_file, *before, scan, options, {}, report, once);
  remove_states(output);
  return report;
}

}  // namespace lepus
