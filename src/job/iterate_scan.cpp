// SPDX-License-Identifier: Apache-2.0
#include "job/iterate_scan.h"

#include <chrono>
#include <cmath>
#include <optional>

#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/memory_file.h"
#include "core/output_file.h"
#include "device/precision_word.h"
#include "io/output_values.h"
#include "iterative/iterate.h"
#include "iterative/saved_states.h"
#include "job/choose_strength.h"
#include "job/method_input.h"
#include "job/method_memory.h"
#include "job/scan_problem.h"
#include "ranks/agree.h"
#include "run/provenance.h"
#include "run/rank_run.h"
#include "run/reconstruct_scan.h"
#include "run/run_state.h"
#include "run/sweep.h"
#include <lepus/version.h>

namespace lepus {
namespace {

using Json = nlohmann::ordered_json;

// Whose work a state is, but for how long it iterates, as settings.
std::string run_of(const Scan& scan, std::int64_t subsets, const Device& device, const Compute& compute, int ranks) {
  const ScanIdentity identity = identity_of(scan);
  std::string text = format(
      "version of lepus = {}\nnames, sizes and times of the inputs = {}\nthe views' geometry (checksum) = {}\n"
      "backend = {}\nranks = {}\n",
      version, identity.inputs, identity.geometry, device.info().kind, ranks);
  if (!device.info().host) text += format("precision = {}\n", precision_word(compute.precision));
  return text + with_method(scan.resolved, resumable_settings(scan.method, subsets));
}

Json method_json(const MethodOptions& options, const IterateReport& done, double noise) {
  return {{"name", options.method},       {"iterations", done.iterations}, {"subsets", options.subsets},
          {"strength", options.strength}, {"residuals", done.residuals},   {"noise", noise},
          {"stopped", done.stopped},      {"diverged", done.diverged},     {"seconds", done.seconds}};
}

std::string describe_method(const MethodOptions& options, const IterateReport& done) {
  std::string text = format("method    {}", options.method);
  if (options.subsets > 1) text += format(", {} subsets", options.subsets);
  if (options.strength > 0) text += format(", strength {:.3g}", options.strength);
  text += format(", {} iterations in {:.2f} s", done.iterations, done.seconds);
  if (!done.residuals.empty()) text += format(", residual {:.4g}", done.residuals.back());
  return text + format("\nstopped   {}", done.stopped);
}

// What can be said against the method's inputs is said before the views are read.
const Scan& with_checked_inputs(const Scan& scan) {
  const MethodSettings& method = scan.method;
  check_inputs(method_options(method, scan.geometry.views(), 1),
               {.prior = !method.prior.empty(),
                .weights = method.weights != "none",
                .chooses_strength = method.choose_strength,
                .exact_transpose = ray_model(method.model) != RayModel::voxel});
  return scan;
}

class ScanIteration {
public:
  ScanIteration(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                Context& context)
      : scan_(with_checked_inputs(scan)),
        context_(context),
        output_(output),
        ranks_(options.ranks && !options.ranks->alone() ? options.ranks : nullptr),
        devices_(open_devices(options.compute, context.threads)),
        states_(output, run_of(scan, method_options(scan.method, scan.geometry.views(), 1).subsets, *devices_.front(),
                               options.compute, ranks_ ? ranks_->size() : 1)),
        going_on_(state_to_go_on_from()),
        solved_(scan, output, options, context) {
    report_.grid = scan.grid;
    report_.backend = devices_.front()->info().kind;
    report_.device = description(devices_);
    report_.kernel = scan.method.model + "'s operator";
    report_.memory_limit_bytes = host_memory_limit(options.compute);
    report_.corrections = solved_.lines().finish();
    for (const auto& line : report_.corrections) context.progress.note(line);
    if (solved_.files()) {
      files_text_ = describe(*solved_.files(), options.compute);
      context.progress.note("vectors do not fit into the memory: " + files_text_);
      if (const auto& folder = solved_.files()->folder; lies_in_memory(folder))
        warn(format("{} lies in memory itself: files there take what the limit was to spare", folder.string()));
    }
    // What was found in the frames rank 0 knows for all.
    for (const auto& list : {scan.warnings, solved_.lines().pre_pass().warnings,
                             first() ? solved_.lines().warnings() : std::vector<std::string>()})
      for (const auto& warning : list) warn(warning);
    if (const auto negative = solved_.problem().negative_values; negative > 0)
      context.progress.note(format("{} line integrals below zero were taken for zero", negative));
  }

  ReconstructReport run(VolumeWriter* writer, std::chrono::steady_clock::time_point start) {
    warn_of_noise();
    if (scan_.method.choose_strength) find_strength();
    const auto method = make_method(solved_.problem(), solved_.options());
    const IterateReport done = iterate(*method, solved_.problem(), solved_.options(), hooks());
    if (done.cancelled) {
      if (ranks_ && !context_.cancel.cancelled()) ranks_->barrier();  // until a rank that was asked to end ends all
      say_how_to_go_on(done.iterations);
    }
    if (done.diverged)
      warn(format(
          "{}: {}; the volume of the smallest residual is written. Try a smaller relaxation, fewer subsets, or a "
          "model with an exact transpose",
          solved_.options().method, done.stopped));
    else
      context_.progress.note(done.stopped);
    if (done.taken_back)
      warn(
          format("{}: the last iteration led away from the data and was taken back. Try fewer subsets, or more "
                 "iterations, which go on with shorter steps",
                 solved_.options().method));
    if (const std::int64_t best = iteration_before_rise(solved_.options(), done.residuals);
        best > 0 && !done.diverged && !done.taken_back)
      warn(format(
          "{}: the residual rose from {:.3g} in iteration {} to {:.3g} in the last: the volume gets worse. Try "
          "fewer iterations, or a smaller relaxation",
          solved_.options().method, done.residuals[static_cast<std::size_t>(best - 1)], best, done.residuals.back()));
    write(*method, done, writer);
    report_.plan = describe_method(solved_.options(), done);
    if (!files_text_.empty()) report_.plan += "\nvectors   " + files_text_;
    if (ranks_) report_.plan += format("\nranks     {}, which share the rows of the detector", describe_ranks(*ranks_));
    report_.backproject_seconds = done.seconds;
    report_.updates = static_cast<double>(scan_.grid.voxels()) * static_cast<double>(scan_.geometry.views()) *
                      static_cast<double>(done.residuals.size());
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.peak_memory_bytes = peak_resident_bytes();
    if (ranks_) {
      RankReport mine;
      mine.rows = solved_.lines().rows().size();
      mine.seconds = report_.seconds;
      mine.backproject_seconds = done.seconds;
      report_.ranks = reports_of_all(*ranks_, std::move(mine));
    }
    if (!writer) return report_;
    Json all =
        parse_ordered_json(provenance(scan_, solved_.lines().pre_pass(), nullptr, solved_.lines().audit(), report_));
    all["method"] = method_json(solved_.options(), done, solved_.noise());
    if (const auto& files = solved_.files()) all["method"]["file_bytes"] = files->bytes - files->memory_bytes;
    report_.provenance = json_text(all);
    writer->finish(report_.provenance);
    return report_;
  }

private:
  bool first() const { return !ranks_ || ranks_->first(); }

  void warn(const std::string& message) {
    report_.warnings.push_back(message);
    context_.progress.warning(message);
  }

  // Before any work. How far it is; nothing where the run begins anew. Rank 0 looks for all.
  std::optional<StateHeader> state_to_go_on_from() const {
    if (!ranks_) return newest_state_here();
    require_same(*ranks_, {{"what computes", devices_.front()->info().kind}});
    std::optional<StateHeader> found;
    if (first()) found = newest_state_here();
    const std::vector<double> strengths = numbers_of_all(*ranks_, found ? found->strength : -1);
    if (!first() && strengths.front() >= 0) found.emplace().strength = strengths.front();
    return found;
  }

  std::optional<StateHeader> newest_state_here() const {
    if (!scan_.method.keeps_state) return {};
    if (scan_.method.restart) remove_states(output_);
    if (states_.exist()) return states_.check(scan_.method.iterations);
    if (scan_.method.resume)
      throw Error(ErrorKind::input, {.what = "there is no state to go on from",
                                     .where = states_.newest().string(),
                                     .why = "no such file",
                                     .hint = "leave --resume out"});
    return {};
  }

  // Of the line integrals, in their norm.
  double noise_share() {
    Problem& problem = solved_.problem();
    Algebra algebra(*problem.map);
    const double norm = std::sqrt(std::max(1e-300, algebra.squared(problem.data)));
    return solved_.noise() * std::sqrt(algebra.count(problem.data)) / norm;
  }

  void warn_of_noise() {
    if (!scan_.method.choose_strength && !scan_.method.stop_at_noise) return;
    if (const double share = noise_share(); share >= 1)
      warn(
          format("the noise, {:.3g} of the line integrals, is larger than they are: {}. Look for pixels that are not "
                 "corrected, or give method.noise",
                 share, scan_.method.stop_at_noise ? "it stops at once" : "the strongest regularisation is taken"));
  }

  void find_strength() {
    if (going_on_) {
      solved_.set_strength(going_on_->strength);
      context_.progress.note(format("the strength {:.3g} was chosen before", going_on_->strength));
      return;
    }
    Problem& problem = solved_.problem();
    const StrengthChoice choice =
        choose_strength(problem, solved_.options(), solved_.noise(), context_.progress, context_.cancel);
    // Where nodes round differently rank 0's is taken.
    solved_.set_strength(ranks_ ? numbers_of_all(*ranks_, choice.strength).front() : choice.strength);
    std::filesystem::path picture = output_;
    picture += ".l-curve.svg";
    const double noise = noise_share();
    if (first()) write_file(picture, l_curve_svg(choice, noise), true);
    context_.progress.note(format("{}; {} shows the curve", choice.why, picture.string()));
  }

  IterateHooks hooks() {
    IterateHooks hooks;
    hooks.progress = &context_.progress;
    hooks.cancel = &context_.cancel;
    hooks.save_rule = {scan_.method.save_every, 60 * scan_.method.save_minutes};
    if (scan_.method.keeps_state)
      hooks.save = [this](Method& method, const IterateReport& done) { save(method, done); };
    if (going_on_)
      hooks.restore = [this](Method& method) {
        std::string damaged;
        IterateReport done = states_.load(method, damaged).done;
        if (!damaged.empty()) warn(format("{}: the state before it is taken", damaged));
        context_.progress.note(
            format("going on after iteration {}, which {} has", done.iterations, states_.newest().string()));
        return done;
      };
    return hooks;
  }

  // A state that cannot be kept is no reason to lose the run as well.
  void save(Method& method, const IterateReport& done) {
    kept_ = false;
    try {
      StateHeader header;
      header.iterations = solved_.options().iterations;
      header.strength = solved_.options().strength;
      header.done = done;
      states_.save(std::move(header), method);
      kept_ = true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disk) throw;
      warn(format("the state after iteration {} could not be kept: {}", done.iterations, error.what()));
    }
    if (ranks_) kept_ = numbers_of_all(*ranks_, kept_ ? 1 : 0).front() != 0;
  }

  // The volume that was iterated; where that fails its state is kept, so that the iterations need not be repeated.
  void write(Method& method, const IterateReport& done, VolumeWriter* writer) {
    std::optional<Error> failure;
    try {
      if (writer) solved_.write(method.volume(), *writer);
      if (writer) context_.cancel.check();
    } catch (const std::exception& exception) {
      failure = as_error(exception);
    }
    if (!Algebra(*solved_.problem().map).anywhere(failure.has_value())) return;
    if (!done.diverged && scan_.method.keeps_state) save(method, done);
    if (!failure) ranks_->barrier();  // until rank 0, which has failed, ends all
    if (failure && failure->kind() == ErrorKind::cancelled && !done.diverged) say_how_to_go_on(done.iterations);
    if (failure) throw Error(*failure);
  }

  [[noreturn]] void say_how_to_go_on(std::int64_t iteration) const {
    if (!scan_.method.keeps_state)
      throw Error(ErrorKind::cancelled,
                  {.what = format("interrupted in iteration {} of {}", iteration, scan_.method.name),
                   .where = output_.string(),
                   .why = "no state of it is kept",
                   .hint = "give the same command to begin anew"});
    throw Error(ErrorKind::cancelled,
                {.what = format("interrupted after iteration {}", iteration),
                 .where = states_.newest().string(),
                 .why = kept_ ? "the state of that iteration is kept there" : "its state could not be kept",
                 .hint = kept_ ? format("give the same command to go on, or add --iterations {} to write what is there "
                                        "as a volume",
                                        iteration)
                               : "give the same command to go on from the last state that was kept"});
  }

  const Scan& scan_;
  Context& context_;
  std::filesystem::path output_;
  Ranks* ranks_;  // null: one process
  Devices devices_;
  SavedStates states_;
  std::optional<StateHeader> going_on_;
  ScanProblem solved_;
  bool kept_ = true;        // the last state
  std::string files_text_;  // what is kept in files; "": nothing
  ReconstructReport report_;
};

}  // namespace

ReconstructReport iterate_scan(const Scan& scan, const std::filesystem::path& volume_file,
                               const ReconstructOptions& options, Context& context) {
  const bool writes = !options.ranks || options.ranks->first();
  const auto writer = writes ? create_output(scan, volume_file, options, context) : nullptr;
  const std::filesystem::path output = files_of_volume(volume_file).front();
  ReconstructReport report = iterate_scan(scan, writer.get(), output, options, context);
  if (writes) {
    warn_of_cut_off(*writer, scan.grid, context.progress);
    remove_states(output);
  }
  report.output = volume_file;
  return report;
}

ReconstructReport iterate_scan(const Scan& scan, VolumeWriter* writer, const std::filesystem::path& output,
                               const ReconstructOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  require_volumes(scan);  // before the views are read
  return ScanIteration(scan, output, options, context).run(writer, start);
}

}  // namespace lepus
