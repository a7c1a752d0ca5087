// SPDX-License-Identifier: Apache-2.0
#include "run/fdk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check_numbers.h"
#include "core/format.h"
#include "core/memory.h"
#include "core/overlap.h"
#include "geometry/camera.h"
#include "geometry/check_scan.h"
#include "geometry/helix.h"
#include "run/corrected_frames.h"
#include "run/memory_io.h"
#include "scan/scan.h"
#include <lepus/error.h>
#include <lepus/reconstruct.h>

namespace lepus {
namespace {

double corner_radius_mm(const VolumeGrid& grid) {
  const auto farthest = [](double origin, double step, std::int64_t n) {
    return std::max(std::abs(origin), std::abs(origin + step * static_cast<double>(n - 1)));
  };
  return std::hypot(farthest(grid.origin_mm.x, grid.step_mm.x, grid.nx),
                    farthest(grid.origin_mm.y, grid.step_mm.y, grid.ny));
}

// Voxels beyond the field of view are kept where the user wants them, but not those that come near the source.
double reconstructed_radius_mm(const FdkSetup& setup, double field_of_view_mm) {
  double radius = corner_radius_mm(setup.grid);
  if (setup.field_of_view_mask) radius = std::min(radius, field_of_view_mm);
  if (setup.geometry.beam == Beam::parallel) return radius;
  for (std::int64_t view = 0; view < setup.geometry.views(); ++view)
    radius = std::min(radius, 0.9 * source_axis_mm(camera_of(setup.geometry, view)));
  return radius;
}

void require_size(const char* what, std::int64_t given, std::int64_t needed) {
  if (given == needed) return;
  throw Error(ErrorKind::usage, {.what = format("an array of {} {}", given, what),
                                 .where = "fdk",
                                 .why = format("the geometry and the grid make it {}", needed),
                                 .hint = {}});
}

// A device makes the rows that are filtered from recorded ones.
bool resampled_there(const ScanGeometry& geometry, const Devices& devices) {
  return devices.front()->corrects_bands() && filtered_rows(geometry).resampler != nullptr;
}

FdkSetup setup_of(const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options,
                  const Devices& devices, bool frames_in_memory) {
  refuse_helix(geometry, "");
  return {.geometry = geometry,
          .grid = grid,
          .filter = options.filter,
          .interpolation = options.interpolation,
          .field_of_view_mask = options.field_of_view_mask,
          .memory_bytes = options.compute.memory_bytes > 0 ? options.compute.memory_bytes
                                                           : std::numeric_limits<std::int64_t>::max(),
          .still_to_come_bytes = 0,
          .device_memory_bytes = 0,
          .frame_pixel_bytes = sizeof(float),
          .frames_in_memory = frames_in_memory,
          .frames_corrected = resampled_there(geometry, devices),
          .measure_speed = false,
          .largest_slab = 0};
}

}  // namespace

Fdk::Fdk(const FdkSetup& setup, const Devices& devices, ThreadPool& threads)
    : devices_(devices),
      grid_(setup.grid),
      rows_(filtered_rows(setup.geometry)),
      flat_(rows_.geometry),
      weights_(flat_),
      field_of_view_mm_(field_of_view_radius_mm(flat_)),
      cylinder_mm_(reconstructed_radius_mm(setup, field_of_view_mm_)),
      wide_(padded(flat_, weights_.padding())) {
  SweepJob job;
  job.wide = &wide_;
  job.weights = &weights_;
  job.ramp = setup.filter;
  job.interpolation = setup.interpolation;
  job.grid = setup.grid;
  job.cylinder_mm = cylinder_mm_;
  job.columns = flat_.columns;
  job.columns_before = weights_.padding().left;
  job.resampler = rows_.resampler.get();
  job.frame_pixel_bytes = setup.frames_corrected ? static_cast<std::int64_t>(sizeof(float)) : setup.frame_pixel_bytes;
  job.from_memory = setup.frames_in_memory;
  job.by_bands = setup.frames_corrected;
  job.memory_bytes = setup.memory_bytes;
  job.still_to_come_bytes = setup.still_to_come_bytes;
  job.device_memory_bytes = setup.device_memory_bytes;
  job.measure_speed = setup.measure_speed;
  job.largest_slab = setup.largest_slab;
  sweep_ = std::make_unique<Sweep>(job, devices, threads);
}

RowBand Fdk::recorded_rows() const {
  RowBand all;
  for (std::int64_t view = 0; view < flat_.views(); ++view)
    if (const RowBand rows = recorded_rows(view, {0, grid_.nz}); rows.size() > 0) all = joined_rows(all, rows);
  return all;
}

RowBand Fdk::recorded_rows(std::int64_t view, SlabRange slices) const {
  const RowBand rows = slices.slices() > 0 ? sweep_->bands().band(view, slices) : RowBand{};
  return rows.size() > 0 && rows_.resampler ? rows_.resampler->recorded_rows(view, rows) : rows;
}

void fdk(const ScanGeometry& geometry, std::span<const float> line_integrals, const VolumeGrid& grid,
         std::span<float> volume, const FdkOptions& options) {
  check_grid(grid);
  check_scan(geometry, "fdk");
  check_named(options.filter.window, Window::hann, "Window");
  check_named(options.interpolation, Interpolation::cubic, "Interpolation");
  const auto& arc = geometry.recorded_on_arc;
  const std::int64_t pixels = arc ? arc->columns * arc->rows : geometry.columns * geometry.rows;
  require_size("line integrals", std::ssize(line_integrals), geometry.views() * pixels);
  require_size("voxels", std::ssize(volume), grid.voxels());
  if (overlap(line_integrals, volume))
    throw Error(ErrorKind::usage, {.what = "the two arrays of fdk overlap",
                                   .where = {},
                                   .why = "line integrals would be written over while they are read",
                                   .hint = "hand over two arrays"});
  const MemoryFrames frames(geometry, line_integrals.data());
  MemoryVolume writer(grid, volume.data());
  fdk(geometry, frames, grid, writer, options);
}

void require_fdk_memory(const ScanGeometry& geometry, const VolumeGrid& grid, const FdkOptions& options) {
  ThreadPool threads(options.compute.threads);
  const Devices devices = open_devices(options.compute, threads);
  const Fdk planned(setup_of(geometry, grid, options, devices, false), devices, threads);
}

void fdk(const ScanGeometry& geometry, const FrameSource& frames, const VolumeGrid& grid, VolumeWriter& writer,
         const FdkOptions& options) {
  const CancelFlag never;
  const CancelFlag& cancel = options.cancel ? *options.cancel : never;
  ThreadPool threads(options.compute.threads, &cancel);
  Progress silent;
  Context context{threads, cancel, options.progress ? *options.progress : silent};
  const Devices devices = open_devices(options.compute, threads);
  const bool resampled = resampled_there(geometry, devices);
  Fdk run(setup_of(geometry, grid, options, devices, frames.in_memory(0, 0) != nullptr), devices, threads);
  for (const std::string& warning : run.weights().warnings()) context.progress.warning(warning);
  if (const std::string warning = part_not_seen(geometry, grid); !warning.empty()) context.progress.warning(warning);
  RowAudit audit(frames, {.maximum_fraction = 0, .saturation_level = 0});
  if (!resampled) {
    run.run({.source = &frames, .audit = &audit}, writer, context);
    return;
  }
  // From rows that lie on the device, as a chain of no corrections leaves them.
  Scan scan;
  scan.geometry = geometry;
  CorrectionChain chain(scan, frames, nullptr, context);
  const CorrectedFrames there(frames, chain, audit,
                              {.memory_bytes = std::numeric_limits<std::int64_t>::max(),
                               .scratch = {},
                               .force = false,
                               .threads = options.compute.threads,
                               .device = devices.front().get(),
                               .device_bytes = options.compute.device_memory_bytes},
                              cancel);
  run.run({.source = &there, .corrected = &there}, writer, context);
}

}  // namespace lepus
