// SPDX-License-Identifier: Apache-2.0
#include "run/fdk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/memory.h"
#include "geometry/camera.h"
#include "run/corrected_frames.h"
#include "run/memory_io.h"
#include "run/speed.h"
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

}  // namespace

Fdk::Fdk(FdkSetup setup, ThreadPool& threads)
    : setup_(std::move(setup)),
      rows_(filtered_rows(setup_.geometry)),
      flat_(rows_.geometry),
      weights_(flat_),
      field_of_view_mm_(field_of_view_radius_mm(flat_)),
      cylinder_mm_(reconstructed_radius_mm(setup_, field_of_view_mm_)),
      wide_(padded(flat_, weights_.padding())),
      ramp_(wide_.columns, setup_.filter) {
  if (setup_.frames_corrected) setup_.frame_pixel_bytes = sizeof(float);
  if (setup_.backend == "auto") setup_.backend = why_no_device().empty() ? "cuda" : "cpu";
  if (setup_.backend == "cuda") {
    plan_on_device();
    return;
  }
  backend_ = make_backend(setup_.backend);
  backprojector_ = backend_->make_backprojector(wide_, setup_.grid, setup_.interpolation);
  const PlanRequest planned = request(threads);
  bands_.emplace(planned);
  plan_ = make_plan(planned, *bands_);
}

void Fdk::plan_on_device() {
  PlanRequest bands;
  bands.geometry = &wide_;
  bands.grid = setup_.grid;
  bands.cylinder_mm = cylinder_mm_;
  bands.interpolation = setup_.interpolation;
  bands_.emplace(bands);
  plan_.memory_limit = setup_.memory_bytes > 0 ? setup_.memory_bytes : available_memory_bytes() * 6 / 10;
  plan_.fixed_bytes = resident_bytes() + setup_.still_to_come_bytes;
  DeviceJob job;
  job.wide = &wide_;
  job.weights = &weights_;
  job.bands = &*bands_;
  job.filter = setup_.filter;
  job.interpolation = setup_.interpolation;
  job.grid = setup_.grid;
  job.cylinder_mm = cylinder_mm_;
  job.columns = job.sent_columns = flat_.columns;
  job.columns_before = weights_.padding().left;
  job.sent_rows = flat_.rows;
  job.sent_pixel_bytes = rows_.resampler ? static_cast<std::int64_t>(sizeof(float)) : setup_.frame_pixel_bytes;
  job.from_memory = setup_.frames_in_memory;
  job.by_bands = setup_.frames_corrected;
  job.host_bytes = plan_.memory_limit - plan_.fixed_bytes;
  device_ = std::make_unique<DeviceSweep>(job, setup_.device);
  const DevicePlan& device = device_->plan();
  plan_.kind = device.resident ? PlanKind::rolling_window : PlanKind::streamed_views;
  plan_.slabs = device.slabs;
  plan_.slab_slices = device.slab_slices;
  plan_.slab_buffers = device.slab_buffers;
  plan_.wedge_views = device.wedge_views;
  plan_.row_stride = device.held_rows;
  plan_.queue_bytes = device.staging_bytes;
  plan_.updates = updates_in_cylinder(setup_.grid, cylinder_mm_, flat_.views());
  constexpr double start_of_device_seconds = 0.8;  // until a card takes work: measured on an H200, driver 580
  plan_.seconds = start_of_device_seconds + opening_seconds(flat_.views()) + device.seconds;
}

RowBand Fdk::recorded_rows() const {
  RowBand all;
  for (std::int64_t view = 0; view < flat_.views(); ++view) {
    RowBand rows = bands_->band(view, {0, setup_.grid.nz});
    if (rows.size() == 0) continue;
    if (rows_.resampler) rows = rows_.resampler->recorded_rows(view, rows);
    all = all.size() == 0 ? rows : RowBand{std::min(all.first, rows.first), std::max(all.last, rows.last)};
  }
  return all;
}

std::string Fdk::plan_description() const { return device_ ? describe(device_->plan()) : describe(plan_); }
std::string Fdk::device() const { return device_ ? device_->device() : backend_->device(); }
std::string Fdk::kernel() const { return device_ ? device_->description() : backprojector_->description(); }

PlanRequest Fdk::request(ThreadPool& threads) const {
  constexpr std::int64_t slack = std::int64_t{12} << 20;  // stacks, libraries' buffers, the allocator's own
  PlanRequest r;
  r.geometry = &wide_;
  r.grid = setup_.grid;
  r.cylinder_mm = cylinder_mm_;
  r.interpolation = setup_.interpolation;
  r.view_block = backprojector_->view_block();
  r.memory_bytes = setup_.memory_bytes > 0 ? setup_.memory_bytes : available_memory_bytes() * 6 / 10;
  const std::int64_t block_floats =
      RowFilter::rows_at_once * wide_.columns * (rows_.resampler ? 3 : 1) + ramp_.scratch_floats();
  r.fixed_bytes = resident_bytes() + slack + setup_.still_to_come_bytes +
                  block_floats * static_cast<std::int64_t>(sizeof(float)) * threads.size();
  r.frame_pixel_bytes = setup_.frame_pixel_bytes;
  if (setup_.measure_speed) {
    r.speed =
        measured_speed({&flat_, &wide_, &weights_, &ramp_, backend_.get(), setup_.grid, setup_.interpolation}, threads);
  } else {  // the ratios choose the plan, and they are much the same everywhere
    r.speed.updates *= threads.size();
    r.speed.filtered_pixels *= threads.size();
  }
  return r;
}

SweepTimes Fdk::run(const Frames& frames, VolumeWriter& writer, Context& context) {
  const RowFilter filter({&frames.source, frames.audit, frames.normalisation, frames.dead_pixels, rows_.resampler.get(),
                          &weights_, &ramp_, flat_.columns, weights_.padding().left});
  if (device_) {
    DeviceSweep::Frames given{
        &frames.source, frames.audit,     frames.normalisation, {}, std::numeric_limits<double>::infinity(),
        nullptr,        frames.corrected, rows_.resampler.get()};
    if (frames.audit) given.saturation_level = frames.audit->saturation_level();
    if (rows_.resampler) given.prepare = &filter;
    if (frames.dead_pixels && !rows_.resampler) given.dead_pixels = *frames.dead_pixels;
    return device_->run(given, writer, context);
  }
  const SweepParts parts{&plan_, &*bands_,    &frames.source, &filter, backprojector_.get(),
                         &wide_, setup_.grid, cylinder_mm_,   &writer};
  return sweep(parts, context);
}

void fdk(const ScanGeometry& geometry, const float* line_integrals, const VolumeGrid& grid, float* volume,
         const FdkOptions& options) {
  ThreadPool threads(options.threads);
  CancelFlag never;
  Progress silent;
  Context context{threads, never, silent};
  const bool resampled = filtered_rows(geometry).resampler != nullptr;
  Fdk run({.geometry = geometry,
           .grid = grid,
           .filter = options.filter,
           .interpolation = options.interpolation,
           .field_of_view_mask = options.field_of_view_mask,
           .backend = options.backend,
           .device = {.devices = options.device, .memory_bytes = 0, .precision = options.precision},
           .memory_bytes = std::numeric_limits<std::int64_t>::max(),
           .still_to_come_bytes = 0,
           .frame_pixel_bytes = sizeof(float),
           .frames_in_memory = true,
           .frames_corrected = resampled,
           .measure_speed = false},
          threads);
  const MemoryFrames frames(geometry, line_integrals);
  MemoryVolume writer(grid, volume);
  RowAudit audit(frames, {.maximum_fraction = 0, .saturation_level = 0});
  if (!run.device_plan() || !resampled) {
    run.run({frames, &audit}, writer, context);
    return;
  }
  // A device makes the rows that are filtered from recorded ones that lie there, as a chain of no corrections leaves
  // them.
  Scan scan;
  scan.geometry = geometry;
  CorrectionChain chain(scan, frames, nullptr, context);
  const CorrectedFrames there(frames, chain, audit,
                              {.memory_bytes = std::numeric_limits<std::int64_t>::max(),
                               .scratch = {},
                               .force = false,
                               .threads = options.threads,
                               .devices = options.device,
                               .device_bytes = 0},
                              never);
  run.run({.source = there, .corrected = &there}, writer, context);
}

}  // namespace lepus
