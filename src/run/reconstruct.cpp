// SPDX-License-Identifier: Apache-2.0
// The whole way of the data: frames on disk -> row band of every view -> corrections -> weights and ramp filter ->
// backprojection -> slab -> volume file. The loop itself is in sweep.cpp.
#include <chrono>
#include <future>

#include "core/format.h"
#include "core/memory.h"
#include "geometry/helix.h"
#include "io/output_values.h"
#include "io/resumable_volume.h"
#include "io/volume_file.h"
#include "run/corrected_frames.h"
#include "run/fdk.h"
#include "run/kept_rows.h"
#include "run/prepass.h"
#include "run/provenance.h"
#include "run/rank_run.h"
#include "run/reconstruct_scan.h"
#include "run/run_keeper.h"
#include "run/scan_reports.h"

namespace lepus {
namespace {

FdkSetup setup_for(const Scan& scan, const ReconstructOptions& options, PixelType type) {
  return {.geometry = scan.geometry,
          .grid = scan.grid,
          .filter = scan.filter,
          .interpolation = scan.interpolation,
          .field_of_view_mask = scan.field_of_view_mask,
          .memory_bytes = options.compute.memory_bytes,
          .still_to_come_bytes = 0,
          .device_memory_bytes = 0,
          .frame_pixel_bytes = bytes_per_pixel(type),
          .frames_in_memory = false,
          .frames_corrected = false,
          .measure_speed = false,
          .largest_slab = 0};
}

void require_disk_space(const std::filesystem::path& file, const VolumeGrid& grid, const OutputValues& stored) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  std::error_code failure;
  const auto space = std::filesystem::space(folder, failure);
  const std::int64_t needed = grid.voxels() * (stored.type == VoxelType::float32 ? 4 : 2);
  if (failure || static_cast<std::uint64_t>(needed) <= space.available) return;
  throw Error(ErrorKind::disk, {.what = "the disk has no space for the volume",
                                .where = file.string(),
                                .why = format("{} are needed, {} are free", format_bytes(needed),
                                              format_bytes(static_cast<std::int64_t>(space.available))),
                                .hint = "write to another disk, or ask for fewer or larger voxels"});
}

// One in ten thousand draws arcs that are seen; corrections replace them where they can, and then what is left counts.
std::string warning_of_dark(const Scan& scan, const PrePass& pre, const RowAudit& audit) {
  const DarkPixels dark = audit.at_dark();
  const double recorded =
      static_cast<double>(dark.pixels) / static_cast<double>(std::max<std::int64_t>(1, audit.pixels()));
  const bool corrected = !pre.chain->empty() && !pre.only_dead_pixels;
  const std::optional<double> after = corrected ? pre.chain->share_at_lowest(recorded) : std::nullopt;
  const double left = after.value_or(recorded);
  if (left < 1e-4) return "";
  return format(
      "{:.3g} % of the pixels are not above the dark{} and were taken for one count, most of them in row {} and "
      "column {} of the detector: bright arcs or noise will be where they are projected to; name them with [[correct]] "
      "kind = \"defect-map\", or add \"hot-pixels\" with below = true{}, and check the darks",
      100 * left,
      after       ? " after the corrections"
      : corrected ? " before the corrections, which this process did not make,"
                  : "",
      scan.selection.first_row + dark.row * scan.selection.row_step, dark.column,
      scan.intensity == Intensity::flats ? " (\"dead-pixels\" where the flats show them, too)" : "");
}

// Half of the memory is for what the corrections need; the plan gets the rest. Null: rows need no other views. On a
// device rows that are filtered are made from corrected ones there.
std::unique_ptr<CorrectedFrames> corrected_frames(const ScanGeometry& geometry, const PrePass& pre, RowAudit& audit,
                                                  const std::filesystem::path& output,
                                                  const ReconstructOptions& options, KeptRows* kept,
                                                  const Devices& devices, Context& context) {
  const bool on_device = devices.front()->corrects_bands();
  if (pre.only_dead_pixels && !(on_device && filtered_rows(geometry).resampler)) return nullptr;
  const std::int64_t limit = host_memory_limit(options.compute);
  return std::make_unique<CorrectedFrames>(
      *pre.frames, *pre.chain, audit,
      CorrectedFramesOptions{.memory_bytes = std::max<std::int64_t>(0, limit - resident_bytes()) / 2,
                             .scratch = output,
                             .force = options.force,
                             .threads = context.threads.size(),
                             .device = on_device ? devices.front().get() : nullptr,
                             .device_bytes = options.compute.device_memory_bytes,
                             .kept = kept},
      context.cancel);
}

}  // namespace

std::vector<std::string> audit_warnings(const Scan& scan, const PrePass& pre, const RowAudit& audit) {
  std::vector<std::string> warnings;
  if (audit.not_finite() > 0)
    warnings.push_back(format("{} pixels were not numbers and were replaced by their neighbours", audit.not_finite()));
  if (audit.saturated() > 0)
    warnings.push_back(format("{} of {} pixels are saturated", audit.saturated(), audit.pixels()));
  if (std::string dark = warning_of_dark(scan, pre, audit); !dark.empty()) warnings.push_back(std::move(dark));
  return warnings;
}

std::vector<std::string> correction_lines(const PrePass& pre, const CorrectedFrames* corrected) {
  std::vector<std::string> lines;
  for (const CorrectionReport& c : pre.chain->reports()) {
    std::string line = format("{}: {}", c.kind, c.found);
    if (corrected && !c.seen) line += "; no row was corrected here";
    if (corrected && c.seen)
      line += format("; values changed by {:.3g} rms, rings {:.3g} before, {:.3g} after", c.rms_change, c.rings_before,
                     c.rings_after);
    lines.push_back(line);
  }
  if (corrected)
    lines.push_back(format("corrections took {:.2f} s: {}", corrected->seconds(), corrected->description()));
  return lines;
}

namespace {

VolumeWriterOptions writer_options(const ReconstructOptions& options, Context& context) {
  VolumeWriterOptions writing{
      .force = options.force, .unit = "1/mm", .provenance_room = 0, .threads = context.threads.size()};
  set_output_values(writing, options.output);
  return writing;
}

// Equal numbers of blocks that slabs may be cut into; a share of a small volume may be empty.
VolumeSlices slices_of_share(std::int64_t slices, std::int64_t share, std::int64_t shares) {
  const std::int64_t blocks = (slices + slab_alignment - 1) / slab_alignment;
  const auto first = [&](std::int64_t number) { return std::min(slices, blocks * number / shares * slab_alignment); };
  return {first(share - 1), first(share)};
}

// Of a volume of which parts may be there, what is missing.
SweepWork missing_work(const ResumableVolume* unfinished) {
  if (!unfinished) return {};
  const auto hand_out = [&gaps = unfinished->missing(), next = std::size_t{0}]() mutable -> std::optional<SlabRange> {
    if (next == gaps.size()) return std::nullopt;
    const VolumeSlices gap = gaps[next++];
    return SlabRange{gap.z0, gap.z1};
  };
  return {.parts = hand_out, .slices = count_slices(unfinished->missing()), .wedge = 0, .wedges = 1};
}

// unfinished: the writer, where it is a volume of which parts may be there; null where it is not.
ReconstructReport make_volume(const Scan& scan, VolumeWriter& writer, ResumableVolume* unfinished,
                              const std::filesystem::path& output, const ReconstructOptions& options,
                              Context& context) {
  const auto start = std::chrono::steady_clock::now();
  refuse_helix(scan.geometry, scan.file.string());
  TraceLog trace;
  // A GPU's driver starts while the frames are looked at.
  std::future<Devices> opening =
      std::async(std::launch::async, [&] { return open_devices(options.compute, context.threads); });
  KeptResults* const results = unfinished ? &unfinished->results() : nullptr;
  const PrePass pre = TraceLog::around(&trace, "pre-pass", "program", "whole scan",
                                       [&] { return checked_pre_pass(scan, context, results); });
  RowAudit audit(*pre.frames, {scan.maximum_bad_fraction, scan.saturation_level});
  if (pre.normalisation)
    audit.watch_dark(*pre.normalisation, pre.only_dead_pixels ? *pre.only_dead_pixels : pre.normalisation->unusable);
  FdkSetup setup = setup_for(scan, options, pre.frames->pixel_type());
  setup.still_to_come_bytes = writer.memory_bytes();
  RankRun ranks(options.ranks, scan, output, options);
  const Devices devices = opening.get();
  setup.largest_slab = ranks.largest_slab(devices.front()->info().host);
  std::optional<KeptRows> kept;
  if (unfinished) kept.emplace(*unfinished);
  const auto corrected =
      corrected_frames(scan.geometry, pre, audit, output, options, kept ? &*kept : nullptr, devices, context);
  if (corrected) {
    setup.frames_corrected = true;
    setup.still_to_come_bytes += corrected->memory_bytes();
    setup.device_memory_bytes = corrected->device_bytes_left();
  }
  Fdk fdk(setup, devices, context.threads);
  if (unfinished) {
    unfinished->require_same({"what computes", format("{}, {}", fdk.backend(), fdk.kernel())});
    if (ranks.alone()) audit.go_on_from(earlier_audit(*unfinished, output.string()));
  }
  if (corrected) corrected->expect(fdk.recorded_rows());
  if (!ranks.alone()) {
    std::vector<SlabRange> missing;
    for (const VolumeSlices& slices : unfinished->missing()) missing.push_back({slices.z0, slices.z1});
    ranks.share_out(fdk, missing);
    ranks.divide(audit, fdk, corrected.get(), *unfinished);
  }

  ReconstructReport report;
  report.grid = scan.grid;
  report.plan = describe(fdk.plan());
  report.backend = fdk.backend();
  report.device = fdk.device();
  report.kernel = fdk.kernel();
  report.memory_limit_bytes = fdk.plan().host.limit;
  report.updates = fdk.plan().updates;
  report.warnings = scan.warnings;
  for (const auto& list : {pre.warnings, fdk.weights().warnings()})
    report.warnings.insert(report.warnings.end(), list.begin(), list.end());
  for (const auto& warning : report.warnings) context.progress.warning(warning);
  if (const std::string why = why_the_host_computes(options.compute); !why.empty())
    context.progress.note(format("no GPU can be used ({}): the CPU computes", why));

  const SweepFrames recorded{pre.frames.get(), &audit, pre.normalisation.get(),
                             pre.only_dead_pixels ? &*pre.only_dead_pixels : nullptr};
  const SweepFrames frames =
      corrected ? SweepFrames{.source = corrected.get(), .corrected = corrected.get()} : recorded;
  RunKeeper keeper(scan, output, options, fdk.plan(), audit, corrected.get(), ranks.alone() ? unfinished : nullptr);
  SlabAccount account = ranks.account(keeper.account());
  if (!options.trace.empty()) account.trace = &trace;
  const SweepTimes times =
      fdk.run(frames, writer, context, account, ranks.alone() ? missing_work(unfinished) : ranks.work());
  if (corrected) corrected->finish();
  keeper.finish(*pre.chain);
  if (!ranks.alone()) unfinished->stop_recording();  // before rank 0 looks whether all is there
  report.ranks =
      ranks.collect(*pre.frames, audit, fdk, corrected.get(),
                    {.node = {},
                     .slices = 0,
                     .rows = 0,
                     .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                     .filter_seconds = times.filter_s,
                     .backproject_seconds = times.backproject_s,
                     .write_wait_seconds = times.write_wait_s,
                     .peak_memory_bytes = 0});
  if (!options.trace.empty()) ranks.write_trace(trace, options.trace, options.force);
  if (!ranks.first()) return report;
  report.corrections = correction_lines(pre, corrected.get());
  for (const auto& line : report.corrections) context.progress.note(line);

  for (const auto& list : {pre.chain->warnings_of_work(), audit_warnings(scan, pre, audit)})
    for (const auto& warning : list) {
      report.warnings.push_back(warning);
      context.progress.warning(warning);
    }
  report.filter_seconds = times.filter_s;
  report.backproject_seconds = times.backproject_s;
  report.write_wait_seconds = times.write_wait_s;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_memory_bytes = peak_resident_bytes();
  if (ranks.alone() && (options.shares > 0 || (unfinished && unfinished->with_others())))
    report.warnings.emplace_back(
        "several processes made this volume: what is said of the frames is of those rows that the last one read");
  report.provenance = provenance(scan, pre, &fdk, audit, report);
  writer.finish(report.provenance);
  if (!ranks.alone() && !unfinished->complete())
    throw Error(ErrorKind::disk, {.what = "not all slices are in the volume",
                                  .where = output.string(),
                                  .why = "what a rank wrote was not recorded as safe on the disk",
                                  .hint = "the same command makes what is missing"});
  report.complete = !unfinished || unfinished->complete();
  if (report.complete) warn_of_cut_off(writer, scan.grid, context.progress);
  return report;
}

}  // namespace

std::unique_ptr<VolumeWriter> create_output(const Scan& scan, const std::filesystem::path& volume_file,
                                            const ReconstructOptions& options, Context& context) {
  require_disk_space(volume_file, scan.grid, options.output);
  return create_volume(volume_file, scan.grid, writer_options(options, context));
}

std::unique_ptr<ResumableVolume> open_output(const Scan& scan, const std::filesystem::path& volume_file,
                                             const ReconstructOptions& options, bool keep_journals, Context& context) {
  if (options.ranks && !options.ranks->alone())
    return join_volume(*options.ranks, volume_file, scan, options, writer_options(options, context), keep_journals,
                       context.progress);
  if (!unfinished_exists(volume_file)) require_disk_space(volume_file, scan.grid, options.output);
  ResumableRun run{.header = {"reconstruct", facts_of(scan)},
                   .restart = options.restart,
                   .part = {},
                   .block = slab_alignment,
                   .own = {},
                   .turn = {},
                   .keep_journals = keep_journals};
  if (options.shares > 0) {
    run.part = format("share-{}-of-{}", options.share, options.shares);
    run.own = slices_of_share(scan.grid.nz, options.share, options.shares);
  }
  return std::make_unique<ResumableVolume>(volume_file, scan.grid, writer_options(options, context), run,
                                           context.progress);
}

ReconstructReport reconstruct_scan(const Scan& scan, const std::filesystem::path& volume_file,
                                   const ReconstructOptions& options, Context& context) {
  const auto volume = open_output(scan, volume_file, options, false, context);
  ReconstructReport report = reconstruct_scan(scan, *volume, files_of_volume(volume_file).front(), options, context);
  report.output = volume_file;
  return report;
}

ReconstructReport reconstruct_scan(const Scan& scan, VolumeWriter& writer, const std::filesystem::path& output,
                                   const ReconstructOptions& options, Context& context) {
  if (options.ranks && !options.ranks->alone())
    throw Error(ErrorKind::internal,
                {.what = "ranks write volume files alone", .where = output.string(), .why = {}, .hint = {}});
  return make_volume(scan, writer, nullptr, output, options, context);
}

ReconstructReport reconstruct_scan(const Scan& scan, ResumableVolume& volume, const std::filesystem::path& output,
                                   const ReconstructOptions& options, Context& context) {
  return make_volume(scan, volume, &volume, output, options, context);
}

ScanPlan plan_scan(const Scan& scan, const ReconstructOptions& options, Context& context) {
  const auto frames = select_frames(open_frames(scan.frames), scan.selection);
  FdkSetup setup = setup_for(scan, options, frames->pixel_type());
  setup.frames_corrected = !scan.corrections.empty();
  setup.measure_speed = true;
  // Mean flat and dark, which the reconstruction holds and a plan does not load.
  setup.still_to_come_bytes = 2 * frames->columns() * frames->rows() * static_cast<std::int64_t>(sizeof(float));
  const Devices devices = open_devices(options.compute, context.threads);
  const Fdk fdk(setup, devices, context.threads);
  const CountFigures counts = look_at_counts(scan, context.cancel);
  for (const auto& list : {scan.warnings, counts.warnings, fdk.weights().warnings()})
    for (const auto& warning : list) context.progress.warning(warning);
  const Plan& plan = fdk.plan();
  return {.report = {.text = plan_text(scan, fdk, counts),
                     .json = plan_json(scan, fdk, counts),
                     .grid = scan.grid,
                     .memory_bytes = plan.memory().total(),
                     .memory_limit_bytes = plan.memory().limit,
                     .seconds = plan.seconds,
                     .cluster = {}},
          .speed = plan.speed,
          .on_host = plan.on_host(),
          .cylinder_mm = fdk.cylinder_mm(),
          .frame_pixel_bytes = bytes_per_pixel(frames->pixel_type())};
}

}  // namespace lepus
