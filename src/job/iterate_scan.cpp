// SPDX-License-Identifier: Apache-2.0
#include "job/iterate_scan.h"

#include <chrono>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/format.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "iterative/iterate.h"
#include "iterative/state_file.h"
#include "job/choose_strength.h"
#include "job/scan_problem.h"
#include "run/provenance.h"
#include "run/reconstruct_scan.h"
#include "run/run_state.h"
#include "run/sweep.h"

namespace lepus {
namespace {

using Json = nlohmann::ordered_json;

// The scan but for its method: how long to iterate may change from one run to the next.
std::string scan_of_state(const Scan& scan) {
  Scan without = scan;
  without.resolved = with_method(scan.resolved, MethodSettings{});
  const ScanIdentity identity = identity_of(without);
  return identity.resolved + " " + identity.inputs;
}

[[noreturn]] void say_how_to_go_on(const std::filesystem::path& state, std::int64_t iteration) {
  throw Error(ErrorKind::cancelled,
              {.what = format("interrupted after iteration {}", iteration),
               .where = state.string(),
               .why = "the state of that iteration is kept there",
               .hint = format("give the same command with --resume to go on, or with --resume --iterations {} to write "
                              "what is there as a volume",
                              iteration)});
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

class ScanIteration {
public:
  ScanIteration(const Scan& scan, const std::filesystem::path& output, const ReconstructOptions& options,
                Context& context)
      : scan_(scan),
        context_(context),
        output_(output),
        state_(state_file_of(output)),
        solved_(scan, output, options, context) {
    const Devices devices = open_devices(options.compute, context.threads);
    report_.grid = scan.grid;
    report_.backend = devices.front()->info().kind;
    report_.device = description(devices);
    report_.kernel = scan.method.model + "'s operator";
    report_.memory_limit_bytes = host_memory_limit(options.compute);
    report_.corrections = solved_.lines().finish();
    for (const auto& line : report_.corrections) context.progress.note(line);
    for (const auto& list : {scan.warnings, solved_.lines().pre_pass().warnings, solved_.lines().warnings()})
      for (const auto& warning : list) warn(warning);
    if (const auto negative = solved_.problem().negative_values; negative > 0)
      context.progress.note(format("{} line integrals below zero were taken for zero", negative));
  }

  ReconstructReport run(VolumeWriter& writer, std::chrono::steady_clock::time_point start) {
    if (scan_.method.choose_strength) find_strength();
    const auto method = make_method(solved_.problem(), solved_.options());
    const IterateReport done = iterate(*method, solved_.problem(), solved_.options(), hooks());
    if (done.cancelled) say_how_to_go_on(state_, done.iterations);
    if (done.diverged)
      warn(format(
          "{}: {}; the volume of the smallest residual is written. Try a smaller relaxation, fewer subsets, or a "
          "model with an exact transpose",
          solved_.options().method, done.stopped));
    else
      context_.progress.note(done.stopped);
    solved_.write(method->volume(), writer);
    report_.plan = describe_method(solved_.options(), done);
    report_.backproject_seconds = done.seconds;
    report_.updates = static_cast<double>(scan_.grid.voxels()) * static_cast<double>(scan_.geometry.views()) *
                      static_cast<double>(done.residuals.size());
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.peak_memory_bytes = peak_resident_bytes();
    Json all = Json::parse(provenance(scan_, solved_.lines().pre_pass(), nullptr, solved_.lines().audit(), report_));
    all["method"] = method_json(solved_.options(), done, solved_.noise());
    report_.provenance = all.dump();
    writer.finish(report_.provenance);
    std::error_code ignored;
    std::filesystem::remove(state_, ignored);
    return report_;
  }

private:
  void warn(const std::string& message) {
    report_.warnings.push_back(message);
    context_.progress.warning(message);
  }

  void find_strength() {
    Problem& problem = solved_.problem();
    const StrengthChoice choice =
        choose_strength(problem, solved_.options(), solved_.noise(), context_.progress, context_.cancel);
    solved_.set_strength(choice.strength);
    const double norm = std::sqrt(std::max(1e-300, Algebra(*problem.map).squared(problem.data)));
    std::filesystem::path picture = output_;
    picture += ".l-curve.svg";
    write_file(picture,
               l_curve_svg(choice, solved_.noise() * std::sqrt(static_cast<double>(problem.data.size())) / norm), true);
    context_.progress.note(format("{}; {} shows the curve", choice.why, picture.string()));
  }

  IterateHooks hooks() {
    const StateHeader header{scan_of_state(scan_), resumable_options(scan_.method, solved_.options().subsets), 0};
    IterateHooks hooks;
    hooks.progress = &context_.progress;
    hooks.cancel = &context_.cancel;
    hooks.save_every = scan_.method.save_every;
    hooks.save = [this, header](Method& method) { save_state(state_, header, method); };
    std::error_code ignored;
    const bool there = std::filesystem::exists(state_, ignored);
    if (scan_.method.resume)
      hooks.restore = [this, header](Method& method) {
        load_state(state_, header, method);
        context_.progress.note(format("going on after iteration {} of {}", method.iteration(), state_.string()));
      };
    else if (there)
      context_.progress.note(
          format("{} is the state of a run that was not finished; --resume goes on from it", state_.string()));
    return hooks;
  }

  const Scan& scan_;
  Context& context_;
  std::filesystem::path output_, state_;
  ScanProblem solved_;
  ReconstructReport report_;
};

}  // namespace

std::filesystem::path state_file_of(const std::filesystem::path& output) {
  std::filesystem::path state = output;
  return state += ".state";
}

ReconstructReport iterate_scan(const Scan& scan, const std::filesystem::path& volume_file,
                               const ReconstructOptions& options, Context& context) {
  const auto writer = create_output(scan, volume_file, options, context);
  ReconstructReport report = iterate_scan(scan, *writer, files_of_volume(volume_file).front(), options, context);
  report.output = volume_file;
  return report;
}

ReconstructReport iterate_scan(const Scan& scan, VolumeWriter& writer, const std::filesystem::path& output,
                               const ReconstructOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  if (scan.method.resume && !std::filesystem::exists(state_file_of(output)))
    throw Error(ErrorKind::input, {.what = "there is no state to go on from",
                                   .where = state_file_of(output).string(),
                                   .why = "no such file",
                                   .hint = "leave --resume out"});
  return ScanIteration(scan, output, options, context).run(writer, start);
}

}  // namespace lepus
