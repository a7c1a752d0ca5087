// SPDX-License-Identifier: Apache-2.0
#include <lepus/plan.h>

#include <algorithm>

#include "api/cluster_machine.h"
#include "api/compute_of_call.h"
#include "core/format.h"
#include "job/method_choices.h"
#include "job/plan_iterations.h"
#include "run/correction_chain.h"
#include "run/reconstruct_scan.h"
#include <lepus/error.h>

namespace lepus {
namespace {

void require_fdk(const MethodSettings& method) {
  if (!method.iterative()) return;
  throw Error(ErrorKind::usage, {.what = "clusters are planned for fdk alone",
                                 .where = format("method {}", method.name),
                                 .why = "what its processes exchange in an iteration is not modelled",
                                 .hint = "leave --nodes out for the plan of one machine, or add --method fdk"});
}

ClusterPlan plan_with_text(const PlanRequest& request, const ClusterMachine& machine) {
  ClusterPlan plan = plan_cluster(request, machine);
  plan.text = format("cluster   {} nodes, {}\n{}", machine.nodes, machine.rates_from, describe(plan));
  return plan;
}

// A detector twice as far as the axis, seen under 11 degrees.
ScanGeometry circle_of(const CircularProblem& problem) {
  CircularScan scan;
  scan.source_axis_mm = 500;
  scan.source_detector_mm = 1000;
  scan.columns = problem.columns;
  scan.rows = problem.rows;
  scan.pixel_width_mm = scan.pixel_height_mm = 200.0 / static_cast<double>(std::max(scan.columns, scan.rows));
  for (std::int64_t i = 0; i < problem.views; ++i)
    scan.angles_rad.push_back(2 * pi * static_cast<double>(i) / static_cast<double>(problem.views));
  return build_scan(scan);
}

}  // namespace

PlanReport plan_reconstruction(const std::filesystem::path& scan_file, const PlanOptions& options) {
  if (options.cluster) check_cluster(*options.cluster);
  CallContext working(options.call);
  ReconstructOptions reconstruction;
  reconstruction.compute = compute_of_call(options.compute, options.call, working);
  Scan scan = read_scan(scan_file);
  choose_method(scan, options.method);
  if (options.cluster) require_fdk(scan.method);
  check_corrections(scan);
  if (scan.method.iterative()) return plan_iterations(scan, reconstruction, working.context());
  ScanPlan plan = plan_scan(scan, reconstruction, working.context());
  if (!options.cluster) return plan.report;
  PlanRequest request;
  request.geometry = &scan.geometry;
  request.grid = scan.grid;
  request.cylinder_mm = plan.cylinder_mm;
  request.interpolation = scan.interpolation;
  request.frame_pixel_bytes = plan.frame_pixel_bytes;
  plan.report.cluster = plan_with_text(request, machine_of(*options.cluster, plan.speed, plan.on_host));
  return plan.report;
}

ClusterPlan plan_problem(const CircularProblem& problem, const PlanOptions& options) {
  if (options.cluster) check_cluster(*options.cluster);
  Scan without_file;
  if (!options.method.name.empty()) without_file.method.name = options.method.name;
  require_fdk(without_file.method);
  choose_method(without_file, options.method);  // fdk has none of its options
  if (!options.cluster)
    throw Error(ErrorKind::usage, {.what = "how large is the cluster?",
                                   .where = "option --problem",
                                   .why = "a problem without a scan is planned for a cluster",
                                   .hint = "give --nodes and --gups, too"});
  if (std::min({problem.columns, problem.rows, problem.views, problem.voxels}) < 1)
    throw Error(
        ErrorKind::usage,
        {.what = "a problem has at least one of each", .where = "problem", .why = {}, .hint = "give its sizes"});
  constexpr std::int64_t most = 1'000'000;  // of each: the views are made one by one
  if (std::max({problem.columns, problem.rows, problem.views, problem.voxels}) > most)
    throw Error(ErrorKind::usage, {.what = format("a problem of {} x {} pixels, {} views and {} voxels along a side",
                                                  problem.columns, problem.rows, problem.views, problem.voxels),
                                   .where = "problem",
                                   .why = format("at most {} of each are planned", most),
                                   .hint = "give its sizes"});
  const ScanGeometry geometry = circle_of(problem);
  const double step = 95.0 / static_cast<double>(problem.voxels);
  PlanRequest request;
  request.geometry = &geometry;
  request.grid = centred_grid(problem.voxels, problem.voxels, problem.voxels, {step, step, step});
  request.cylinder_mm = 1e9;  // the whole cube, as papers count it
  return plan_with_text(request, machine_of(*options.cluster, {}, false));
}

}  // namespace lepus
