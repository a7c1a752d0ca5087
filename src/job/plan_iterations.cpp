// SPDX-License-Identifier: Apache-2.0
#include "job/plan_iterations.h"

#include <limits>
#include <optional>

#include "core/format.h"
#include "core/json.h"
#include "core/memory.h"
#include "filter/weights.h"
#include "geometry/helix.h"
#include "job/line_integrals.h"
#include "job/map_filters.h"
#include "job/method_input.h"
#include "job/method_memory.h"
#include "job/operator_time.h"
#include "operators/scan_map.h"
#include "operators/scan_operator.h"
#include "operators/vector_memory.h"
#include "run/float_bytes.h"
#include "run/provenance.h"
#include "run/sweep.h"
#include <lepus/text.h>

namespace lepus {
namespace {

using Json = nlohmann::ordered_json;

struct MethodCost {
  MethodUses before, each;  // before the first iteration, and in every one
  std::int64_t state_bytes = 0;
};

// How the operator works on one subset; nothing: in one piece, where the vectors lie.
struct OperatorCuts {
  std::optional<OperatorPlan> forward, adjoint;
};

struct IterationTimes {
  OperatorTime once;  // all views
  double fdk = 0, ramp = 0, vectors = 0;
  double before = 0, each = 0;
  std::vector<std::string> not_counted;
};

struct IterationPlan {
  const MethodKind& kind;
  MethodOptions options;
  TrialProblem whole = {};
  std::int64_t bytes = 0, limit_bytes = 0;  // where the vectors lie
  bool on_host = true, host_computes = true;
  std::optional<files::Setup> files = {};  // of what the host's memory does not hold
  std::string vectors_text = {};           // where some of them lie
  std::string model = {}, backend = {}, device = {};
  MethodCost cost = {};
  OperatorCuts cuts = {};
  IterationTimes times = {};

  double seconds() const { return times.before + static_cast<double>(options.iterations) * times.each; }
};

MethodUses difference(const MethodUses& a, const MethodUses& b) {
  return {a.forward - b.forward, a.adjoint - b.adjoint, a.fdk - b.fdk, a.ramp - b.ramp, a.subsets - b.subsets};
}

// By a trial on a problem of few values, with as many subsets as the whole.
MethodCost cost_of(const MethodOptions& options, const TrialProblem& whole, LinearMap& home) {
  TrialProblem small = whole;
  small.values_per_view = 1;
  small.shape = {1, 1, whole.views + 1};  // another size than that of the line integrals
  small.spare_bytes =
      static_cast<std::int64_t>(static_cast<double>(whole.spare_bytes) * static_cast<double>(small.shape.voxels()) /
                                static_cast<double>(whole.shape.voxels()));
  MethodTrial trial(options, small, home.home(), home.queue());
  trial.step();
  const MethodUses first = trial.uses();
  trial.step();
  MethodCost cost;
  cost.each = difference(trial.uses(), first);
  cost.before = difference(first, cost.each);  // the first iteration makes what later ones keep
  cost.state_bytes = (trial.kept(small.shape.voxels()) * whole.shape.voxels() +
                      trial.kept(small.views) * whole.views * whole.values_per_view) *
                     float_bytes;
  return cost;
}

std::vector<std::int64_t> largest_subset(std::int64_t views, std::int64_t subsets) {
  std::vector<std::int64_t> first;
  for (std::int64_t view = 0; view < views; view += subsets) first.push_back(view);
  return first;
}

// Both from the speed that a plan of FDK finds for the scan.
void time_filters(const Scan& scan, const ReconstructOptions& options, const VolumeGrid& grid, Context& context,
                  IterationTimes& times) {
  Progress silent;  // the same warnings are given once
  Context quiet{context.threads, context.cancel, silent};
  const ScanPlan fdk = plan_scan(scan, options, quiet);
  const ScanGeometry& geometry = scan.geometry;
  times.ramp = static_cast<double>(geometry.views() * geometry.rows * geometry.columns) / fdk.speed.filtered_pixels;
  times.fdk =
      (fdk.on_host ? summed_updates : updates_in_cylinder)(grid, fdk.cylinder_mm, geometry.views()) / fdk.speed.updates;
  if (fdk.on_host)
    times.fdk += times.ramp;
  else
    times.not_counted.emplace_back("FDK's filter and copies to the device");
}

IterationTimes times_of(const Scan& scan, const ReconstructOptions& options, const VolumeGrid& grid,
                        const IterationPlan& plan, const ScanPiece& piece, LinearMap& map, Context& context) {
  const MethodCost& cost = plan.cost;
  IterationTimes times;
  times.once = time_operator(piece, map);
  times.vectors = time_vectors(plan.options, plan.whole, cost.each.subsets, map);
  const double fdk_at_start = scan.method.start == "fdk" ? 1 : 0;
  if (cost.each.fdk + fdk_at_start > 0) refuse_helix(scan.geometry, scan.file.string());
  if (cost.each.fdk + cost.each.ramp + fdk_at_start > 0) time_filters(scan, options, grid, context, times);
  const auto seconds = [&](const MethodUses& uses) {
    return uses.forward * times.once.forward + uses.adjoint * times.once.adjoint + uses.fdk * times.fdk +
           uses.ramp * times.ramp;
  };
  times.before = seconds(cost.before) + fdk_at_start * times.fdk;
  times.each = seconds(cost.each) + times.vectors;
  times.not_counted.emplace_back(scan.corrections.empty() ? "reading the views" : "reading and correcting the views");
  times.not_counted.emplace_back("saving states");
  if (plan.files) times.not_counted.emplace_back("reading and writing the files of vectors");
  if (!plan.files && !plan.vectors_text.empty()) times.not_counted.emplace_back("reaching the vectors on the host");
  if (scan.method.choose_strength) times.not_counted.emplace_back("the runs that find the strength");
  if (!scan.post.empty()) times.not_counted.emplace_back("the steps on the volume");
  return times;
}

// 1 chunk of rows, 2 chunks of rows
std::string number_of(std::size_t count, const char* one, const char* of = "") {
  return format("{} {}{}{}", count, one, count == 1 ? "" : "s", of);
}

std::string cut_text(const std::optional<OperatorPlan>& cut, const char* chunk, const char* of, bool subsets,
                     bool on_device) {
  const std::string each = subsets ? "each subset " : "";
  if (!cut) return each + "in one piece, where the vectors lie";
  return each + format("in {}, {}, {} {}", number_of(cut->chunks.size(), chunk, of),
                       number_of(cut->wedges.size(), "wedge", " of views"), format_bytes(cut->bytes),
                       on_device ? "on a device" : "in memory");
}

std::string saved_text(const MethodSettings& method) {
  if (method.save_every > 0 && method.save_minutes > 0)
    return format("after every {} iterations and every {:.3g} minutes", method.save_every, method.save_minutes);
  if (method.save_every > 0)
    return format("after every {}", number_of(static_cast<std::size_t>(method.save_every), "iteration"));
  if (method.save_minutes > 0) return format("every {:.3g} minutes", method.save_minutes);
  return "as often as it takes a hundredth of the time, not more than once a minute";
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return all;
}

std::string text_of(const Scan& scan, const IterationPlan& plan) {
  const IterationTimes& times = plan.times;
  const std::int64_t volume = plan.whole.shape.voxels() * float_bytes,
                     lines = plan.whole.views * plan.whole.values_per_view * float_bytes;
  const bool subsets = plan.cost.each.subsets > 1;
  std::string text = format("method    {}", plan.kind.name);
  if (subsets) text += format(", {} subsets", plan.cost.each.subsets);
  text += format(", at most {}\n", number_of(static_cast<std::size_t>(plan.options.iterations), "iteration"));
  text += format("operator  {}\n", plan.model);
  const std::string of_limit =
      plan.files ? "of vectors"
                 : format("of {} in the {}'s memory", format_bytes(plan.limit_bytes), plan.on_host ? "host" : "device");
  text += format("memory    {} {}: {} volumes of {}, {} sets of line integrals of {}\n", format_bytes(plan.bytes),
                 of_limit, plan.kind.volumes, format_bytes(volume), plan.kind.data, format_bytes(lines));
  if (!plan.vectors_text.empty()) text += format("vectors   {}\n", plan.vectors_text);
  text += format("A         {}\n", cut_text(plan.cuts.forward, "chunk", " of rows", subsets, !plan.host_computes));
  text += format("A'        {}\n", cut_text(plan.cuts.adjoint, "slab", "", subsets, !plan.host_computes));
  text += format("state     {} on disk, beside the one before it; saved {}\n", format_bytes(plan.cost.state_bytes),
                 saved_text(scan.method));
  text +=
      format("iteration {}: A {:.2g} s, A' {:.2g} s, vectors {:.2g} s", expected_time(times.each),
             plan.cost.each.forward * times.once.forward, plan.cost.each.adjoint * times.once.adjoint, times.vectors);
  if (plan.cost.each.fdk > 0) text += format(", FDK {:.2g} s", plan.cost.each.fdk * times.fdk);
  if (plan.cost.each.ramp > 0) text += format(", ramp filter {:.2g} s", plan.cost.each.ramp * times.ramp);
  text += format("\ntime      {}, {:.2g} s of it before the first iteration; not counted: {}",
                 expected_time(plan.seconds()), times.before, joined(times.not_counted));
  return text;
}

Json cut_json(const std::optional<OperatorPlan>& cut) {
  if (!cut) return {{"in_place", true}, {"chunks", 1}, {"wedges", 1}};
  return {{"in_place", false},
          {"chunks", cut->chunks.size()},
          {"wedges", cut->wedges.size()},
          {"device_bytes", cut->bytes}};
}

void add_json(const Scan& scan, const IterationPlan& plan, Json& json) {
  const IterationTimes& times = plan.times;
  const MethodCost& cost = plan.cost;
  json["backend"] = plan.backend;
  json["device"] = plan.device;
  json["kernel"] = plan.model;
  json["method"] = {{"name", plan.kind.name},
                    {"iterations", plan.options.iterations},
                    {"subsets", cost.each.subsets},
                    {"model", scan.method.model}};
  json["memory"] = {{"where", plan.on_host ? "host" : "device"},
                    {"bytes", plan.bytes},
                    {"limit_bytes", plan.limit_bytes},
                    {"volumes", plan.kind.volumes},
                    {"volume_bytes", plan.whole.shape.voxels() * float_bytes},
                    {"line_integrals", plan.kind.data},
                    {"line_integrals_bytes", plan.whole.views * plan.whole.values_per_view * float_bytes}};
  json["memory"]["file_bytes"] = plan.files ? plan.files->bytes - plan.files->memory_bytes : 0;
  json["forward"] = cut_json(plan.cuts.forward);
  json["adjoint"] = cut_json(plan.cuts.adjoint);
  json["forward"]["per_iteration"] = cost.each.forward;
  json["adjoint"]["per_iteration"] = cost.each.adjoint;
  json["forward"]["seconds"] = times.once.forward;
  json["adjoint"]["seconds"] = times.once.adjoint;
  json["state"] = {{"bytes", cost.state_bytes},
                   {"files", 2},
                   {"save_every_iterations", scan.method.save_every},
                   {"save_every_minutes", scan.method.save_minutes},
                   {"saved", saved_text(scan.method)}};
  json["time"] = {{"before_seconds", times.before},
                  {"iteration_seconds", times.each},
                  {"vectors_seconds", times.vectors},
                  {"fdk_seconds", cost.each.fdk * times.fdk},
                  {"ramp_seconds", cost.each.ramp * times.ramp},
                  {"expected_seconds", plan.seconds()},
                  {"not_counted", times.not_counted}};
}

}  // namespace

PlanReport plan_iterations(const Scan& scan, const ReconstructOptions& options, Context& context) {
  const ScanGeometry geometry = without_arc(scan.geometry);
  const VolumeGrid grid = extended_grid(scan.grid, scan.method.extend).grid;
  require_volumes(scan);
  IterationPlan plan{.kind = method_kind(scan.method.name),
                     .options = method_options(scan.method, geometry.views(), 1)};
  if (scan.method.choose_strength && plan.options.strength == 0) plan.options.strength = 1e-3;  // it will have some
  OperatorOptions operators;
  operators.model = ray_model(scan.method.model);
  operators.compute = options.compute;
  operators.compute.threads = context.threads.size();
  const ScanOperator scan_operator(geometry, grid, operators);
  const Devices& devices = scan_operator.machines().devices;
  plan.model = scan_operator.description();
  plan.backend = devices.front()->info().kind;
  plan.device = description(devices);
  plan.host_computes = devices.front()->info().host;

  plan.whole = {.shape = {grid.nx, grid.ny, grid.nz},
                .views = geometry.views(),
                .values_per_view = geometry.rows * geometry.columns};
  plan.whole.weighted = scan.method.weights == "counts" ||
                        (scan.geometry.recorded_on_arc && plan.kind.weights != MethodKind::Weights::refused);
  plan.whole.masked = !scan.method.mask.empty();
  plan.whole.has_prior = !scan.method.prior.empty();
  plan.whole.has_start = scan.method.start != "zero";
  plan.whole.exact_transpose = operators.model != RayModel::voxel;
  const VectorNeeds needs =
      vector_needs(plan.kind, plan.options, plan.whole.views, plan.whole.values_per_view, grid.voxels());
  plan.bytes = needs.bytes;
  const bool in_place = holds_vectors(scan_operator, plan.bytes);
  plan.on_host = !in_place || devices.front()->info().host;
  plan.limit_bytes = plan.on_host ? host_memory_limit(options.compute) : devices.front()->memory_limit_bytes();
  if (plan.on_host)
    plan.files = files_for_vectors(plan.bytes, plan.whole.views, plan.whole.values_per_view, operators.compute, {});
  if (plan.files) {
    require_pieces(plan.kind, plan.whole.shape, *plan.files, operators.compute);
    FdkOptions fdk;
    fdk.compute = operators.compute;
    if (uses_fdk(scan.method)) require_fdk_beside(*plan.files, geometry, grid, fdk);
    plan.vectors_text = describe(*plan.files, operators.compute);
  }
  std::unique_ptr<VectorMemory> spread;
  if (!plan.files && spreads_vectors(scan_operator, needs)) {
    spread = make_vector_memory(geometry, grid, operators, devices.front()->memory_limit_bytes(), needs.part_bytes,
                                scan_operator.shared_machines());
    const auto volumes = static_cast<std::size_t>(spread->volumes_on_device());
    plan.vectors_text = (volumes > 0 ? number_of(volumes, "volume") + " and parts" : "at most parts") +
                        std::string(" of the line integrals on the device, the others on the host, within its reach");
  }

  // A piece's vectors lie where those of the whole do; where these are spread, on the device.
  const std::int64_t beyond_any_device = std::numeric_limits<std::int64_t>::max() / 2;
  const auto map_of = [&](const ScanPiece& piece) {
    return make_scan_map(piece.geometry, piece.grid, operators, {.bytes = in_place || spread ? 0 : beyond_any_device});
  };
  {
    const auto home = map_of(piece_of(geometry, grid, 1, 1));
    plan.whole.spare_bytes = plan.files ? 0 : spare_bytes(plan.bytes, plan.on_host, home->home(), operators.compute);
    plan.cost = cost_of(plan.options, plan.whole, *home);
  }
  const std::int64_t subsets = plan.cost.each.subsets;
  const std::vector<std::int64_t> views = largest_subset(geometry.views(), subsets);
  if (!in_place || plan.files) {
    ForcedCut cut{.device_bytes = plan.files && plan.host_computes ? plan.files->work_bytes : 0};
    cut.vectors = spread.get();
    const auto subset = ScanOperator(geometry, grid, operators, cut, scan_operator.shared_machines()).subset(views);
    plan.cuts = {subset->forward_plan(spread && spread->volumes_on_device() > 0), subset->adjoint_plan()};
  }
  const std::int64_t updates = plan.host_computes ? std::int64_t{1} << 25 : std::int64_t{1} << 31;
  const ScanPiece piece = piece_of(geometry, grid, std::ssize(views), updates);
  plan.times = times_of(scan, options, grid, plan, piece, *map_of(piece), context);

  const CountFigures counts = look_at_counts(scan, context.cancel);
  const FdkWeights weights(scan.geometry);
  for (const auto& list : {scan.warnings, counts.warnings})
    for (const auto& warning : list) context.progress.warning(warning);
  const double field_of_view_mm = field_of_view_radius_mm(geometry);
  PlanReport report;
  report.grid = scan.grid;
  report.memory_bytes = plan.bytes;
  report.memory_limit_bytes = plan.limit_bytes;
  report.seconds = plan.seconds();
  report.text = scan_text(scan, weights, field_of_view_mm, counts) + text_of(scan, plan);
  Json json = parse_ordered_json(scan_json(scan, weights, field_of_view_mm, counts));
  add_json(scan, plan, json);
  report.json = json_text(json, 2);
  return report;
}

}  // namespace lepus
