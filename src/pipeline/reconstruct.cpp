// SPDX-License-Identifier: Apache-2.0
// The whole way of the data: frames on disk -> row band of every view -> corrections -> weights and ramp filter ->
// backprojection -> slab -> volume file. The loop itself is in sweep.cpp.
#include <chrono>

#include "core/format.h"
#include "core/memory.h"
#include "io/volume_file.h"
#include "pipeline/fdk.h"
#include "pipeline/prepass.h"
#include "pipeline/provenance.h"
#include "pipeline/reconstruct_scan.h"

namespace lepus {
namespace {

FdkSetup setup_for(const Scan& scan, const ReconstructOptions& options, PixelType type) {
  return {.geometry = scan.geometry,
          .grid = scan.grid,
          .filter = scan.filter,
          .interpolation = scan.interpolation,
          .field_of_view_mask = scan.field_of_view_mask,
          .backend = options.backend,
          .device = {.devices = options.device,
                     .memory_bytes = options.device_memory_bytes,
                     .precision = options.precision},
          .memory_bytes = options.memory_bytes,
          .still_to_come_bytes = 0,
          .frame_pixel_bytes = bytes_per_pixel(type),
          .frames_in_memory = false,
          .measure_speed = false};
}

void require_room_on_disk(const std::filesystem::path& file, const VolumeGrid& grid) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  std::error_code failure;
  const auto space = std::filesystem::space(folder, failure);
  const auto needed = grid.voxels() * static_cast<std::int64_t>(sizeof(float));
  if (failure || static_cast<std::uint64_t>(needed) <= space.available) return;
  throw Error(ErrorKind::disk, {.what = "the disk has no room for the volume",
                                .where = file.string(),
                                .why = format("{} are needed, {} are free", format_bytes(needed),
                                              format_bytes(static_cast<std::int64_t>(space.available))),
                                .hint = "write to another disk, or ask for fewer or larger voxels"});
}

std::vector<std::string> audit_warnings(const RowAudit& audit) {
  std::vector<std::string> warnings;
  if (audit.not_finite() > 0)
    warnings.push_back(format("{} pixels were not numbers and were replaced by their neighbours", audit.not_finite()));
  if (audit.saturated() > 0)
    warnings.push_back(format("{} of {} pixels are saturated", audit.saturated(), audit.pixels()));
  return warnings;
}

}  // namespace

ReconstructReport reconstruct_scan(const Scan& scan, const std::filesystem::path& volume_file,
                                   const ReconstructOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  require_room_on_disk(volume_file, scan.grid);
  const auto writer =
      create_volume(volume_file, scan.grid, {.force = options.force, .unit = "1/mm", .provenance_room = 0});

  const PrePass pre = pre_pass(scan, context);
  Fdk fdk(setup_for(scan, options, pre.frames->pixel_type()), context.threads);
  RowAudit audit(*pre.frames, {scan.maximum_bad_fraction, scan.saturation_level});

  ReconstructReport report;
  report.output = volume_file;
  report.grid = scan.grid;
  report.plan = fdk.plan_description();
  report.backend = fdk.backend();
  report.device = fdk.device();
  report.kernel = fdk.kernel();
  report.memory_limit_bytes = fdk.plan().memory_limit;
  report.updates = fdk.plan().updates;
  report.warnings = scan.warnings;
  for (const auto& list : {pre.warnings, fdk.weights().warnings()})
    report.warnings.insert(report.warnings.end(), list.begin(), list.end());
  for (const auto& warning : report.warnings) context.progress.warning(warning);
  if (options.backend == "auto" && report.backend == "cpu" && this_build_has_cuda())
    context.progress.note(format("no GPU can be used ({}): the CPU computes", why_no_device()));

  const SweepTimes times = fdk.run(*pre.frames, audit, pre.normalisation ? &*pre.normalisation : nullptr,
                                   &pre.corrections, *writer, context);

  for (const auto& warning : audit_warnings(audit)) {
    report.warnings.push_back(warning);
    context.progress.warning(warning);
  }
  report.filter_seconds = times.filter_s;
  report.backproject_seconds = times.backproject_s;
  report.write_wait_seconds = times.write_wait_s;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_memory_bytes = peak_resident_bytes();
  report.provenance = provenance(scan, pre, fdk, audit, report);
  writer->finish(report.provenance);
  return report;
}

ReconstructReport reconstruct(const std::filesystem::path& scan_file, const std::filesystem::path& volume_file,
                              const ReconstructOptions& options) {
  ThreadPool threads(options.threads);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  return reconstruct_scan(read_scan(scan_file), volume_file, options, context);
}

PlanReport plan_scan(const Scan& scan, const ReconstructOptions& options, Context& context) {
  const auto frames = select_frames(open_frames(scan.frames), scan.selection);
  FdkSetup setup = setup_for(scan, options, frames->pixel_type());
  // Mean flat and dark, which the reconstruction holds and a plan does not load.
  setup.measure_speed = true;
  setup.still_to_come_bytes = 2 * frames->columns() * frames->rows() * static_cast<std::int64_t>(sizeof(float));
  const Fdk fdk(setup, context.threads);
  return {plan_text(scan, fdk), plan_json(scan, fdk)};
}

}  // namespace lepus
