// SPDX-License-Identifier: Apache-2.0
#include "simulate/traced_views.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"

namespace lepus {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{64} << 20;  // of rays: some milliseconds of work, none of memory

SurfaceTracerSetup setup_of(const PhantomProjector& projector) {
  const Phantom& phantom = projector.phantom();
  const bool by_material = projector.groups() > 1;
  SurfaceTracerSetup setup;
  setup.groups = static_cast<std::int32_t>(projector.groups());
  setup.last_counts = phantom.combine() == Combine::replace;
  for (std::size_t i = 0; i < phantom.shapes().size(); ++i)
    setup.surfaces.push_back(phantom.prepared(i).traced(
        by_material ? phantom.material_of(i) : 0,
        by_material ? phantom.shapes()[i].value : phantom.value_of(static_cast<std::int32_t>(i))));
  return setup;
}

}  // namespace

std::string TracedViews::why_not(const Phantom& phantom) {
  const auto& shapes = phantom.shapes();
  if (shapes.empty() || std::ranges::any_of(shapes, [](const Shape& s) { return s.kind != ShapeKind::mesh; }))
    return "devices trace rays through surfaces (.stl) alone";
  if (phantom.combine() == Combine::replace && shapes.size() > maximum_overlapping_surfaces)
    return format("devices know which of {} surfaces lies on top, there are {}", maximum_overlapping_surfaces,
                  shapes.size());
  return {};
}

std::unique_ptr<TracedViews> TracedViews::make(const PhantomProjector& projector, Devices& devices) {
  const SurfaceTracerSetup setup = setup_of(projector);
  std::vector<std::unique_ptr<SurfaceTracer>> tracers;
  for (const auto& device : devices) {
    tracers.push_back(device->make_surface_tracer(setup));
    if (!tracers.back()) return nullptr;
  }
  return std::unique_ptr<TracedViews>(new TracedViews(projector, std::move(tracers), devices));
}

TracedViews::TracedViews(const PhantomProjector& projector, std::vector<std::unique_ptr<SurfaceTracer>> tracers,
                         Devices& devices)
    : projector_(projector),
      columns_(recorded_columns(projector.geometry())),
      rows_(recorded_rows(projector.geometry())),
      tracers_(std::move(tracers)) {
  const std::int64_t rays_of_row = columns_ * projector.rays_of_pixel();
  rows_at_once_ =
      std::clamp<std::int64_t>(part_bytes / (rays_of_row * static_cast<std::int64_t>(sizeof(Ray))), 1, rows_);
  const std::int64_t rays = rows_at_once_ * rays_of_row;
  const std::int64_t ray_bytes = rays * static_cast<std::int64_t>(sizeof(Ray)),
                     sum_bytes = rays * static_cast<std::int64_t>(projector.groups() * sizeof(double));
  for (int turn = 0; turn < 2; ++turn)
    for (std::size_t i = 0; i < devices.size(); ++i) {
      Device& device = *devices[i];
      Part part;
      part.device = &device;
      part.tracer = tracers_[i].get();
      part.queue = device.make_queue();
      part.done = device.make_event();
      part.rays = device.allocate(ray_bytes, Place::host);
      part.sums = device.allocate(sum_bytes, Place::host);
      part.rays_there = device.allocate(ray_bytes);
      part.sums_there = device.allocate(sum_bytes);
      parts_.push_back(std::move(part));
    }
}

void TracedViews::begin(Part& part, const Camera& camera, ThreadPool& threads) {
  const std::int64_t rays_of_pixel = projector_.rays_of_pixel();
  Ray* const rays = reinterpret_cast<Ray*>(part.rays.get());
  threads.parallel_for(part.first, part.last, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      Ray* next = rays + (v - part.first) * columns_ * rays_of_pixel;
      for (std::int64_t u = 0; u < columns_; ++u)
        projector_.each_ray(camera, static_cast<double>(u), static_cast<double>(v),
                            [&](const Ray& ray) { *next++ = ray; });
    }
  });
  const std::int64_t count = (part.last - part.first) * columns_ * rays_of_pixel;
  part.device->copy(part.rays_there.get(), rays, count * static_cast<std::int64_t>(sizeof(Ray)), *part.queue);
  part.tracer->trace(reinterpret_cast<const Ray*>(part.rays_there.get()),
                     reinterpret_cast<double*>(part.sums_there.get()), count, *part.queue);
  part.device->copy(part.sums.get(), part.sums_there.get(),
                    count * static_cast<std::int64_t>(projector_.groups() * sizeof(double)), *part.queue);
  part.done->mark(*part.queue);
}

void TracedViews::finish(Part& part, float* line_integrals, ThreadPool& threads) {
  part.done->wait();
  const auto sums_of_pixel = projector_.rays_of_pixel() * static_cast<std::int64_t>(projector_.groups());
  const double* const sums = reinterpret_cast<const double*>(part.sums.get());
  threads.parallel_for(part.first, part.last, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin * columns_; i < end * columns_; ++i) {
      const double value = projector_.measured(sums + (i - part.first * columns_) * sums_of_pixel);
      if (std::isnan(value)) ClosedMesh::untraceable();
      line_integrals[i] = static_cast<float>(value);
    }
  });
  part.first = part.last = 0;
}

void TracedViews::project(std::int64_t view, float* line_integrals, ThreadPool& threads, const CancelFlag* cancel) {
  const Camera camera = camera_of(projector_.geometry(), view);
  std::size_t turn = 0;
  const auto take_turn = [&]() -> Part& {
    Part& part = parts_[turn++ % parts_.size()];
    if (part.first < part.last) finish(part, line_integrals, threads);
    return part;
  };
  for (std::int64_t row = 0; row < rows_; row += rows_at_once_) {
    if (cancel) cancel->check();
    Part& part = take_turn();
    part.first = row;
    part.last = std::min(rows_, row + rows_at_once_);
    begin(part, camera, threads);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) take_turn();
}

}  // namespace lepus
