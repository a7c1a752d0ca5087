// SPDX-License-Identifier: Apache-2.0
#include "simulate/project.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr double smallest_transmission = 1e-300;  // -ln of it is 690: thicker than anything worth a scan

// Points spread evenly over a disk (Vogel's spiral), moved so that their mean is its centre.
template <class Point>
std::vector<Point> disk(double diameter, int samples) {
  std::vector<Point> points(static_cast<std::size_t>(samples));
  Point mean;
  for (int i = 0; i < samples; ++i) {
    const double radius = diameter / 2 * std::sqrt((i + 0.5) / samples), angle = i * pi * (3 - std::sqrt(5.0));
    points[static_cast<std::size_t>(i)] = {radius * std::cos(angle), radius * std::sin(angle)};
    mean.u += radius * std::cos(angle) / samples;
    mean.v += radius * std::sin(angle) / samples;
  }
  for (Point& p : points) p = {p.u - mean.u, p.v - mean.v};
  return points;
}

}  // namespace

std::int64_t recorded_columns(const ScanGeometry& geometry) {
  return geometry.recorded_on_arc ? geometry.recorded_on_arc->columns : geometry.columns;
}

std::int64_t recorded_rows(const ScanGeometry& geometry) {
  return geometry.recorded_on_arc ? geometry.recorded_on_arc->rows : geometry.rows;
}

PhantomProjector::PhantomProjector(const Phantom& phantom, const ScanGeometry& geometry, const PixelRays& options,
                                   const Spectrum& spectrum)
    : phantom_(phantom), geometry_(geometry), options_(options) {
  if (options.subpixels < 1 || options.subpixels > 64)
    throw Error(ErrorKind::usage, {.what = "sub-pixels out of range",
                                   .where = "subpixels",
                                   .why = format("it is {}", options.subpixels),
                                   .hint = "give 1 to 64 rays along each side of a pixel"});
  if (!(options.spot_diameter_mm >= 0 && std::isfinite(options.spot_diameter_mm)) || options.spot_samples < 1 ||
      options.spot_samples > 10000)
    throw Error(ErrorKind::usage,
                {.what = "source spot cannot be used",
                 .where = "spot",
                 .why = format("{} mm with {} samples", options.spot_diameter_mm, options.spot_samples),
                 .hint = "give a diameter that is not negative and 1 to 10000 samples"});
  if (options.spot_diameter_mm > 0) {
    if (geometry.beam == Beam::parallel || !(geometry.source_detector_mm > 0))
      throw Error(ErrorKind::usage, {.what = "a source spot needs a source and a detector",
                                     .where = "spot",
                                     .why = "the beam is parallel, or the source-detector distance is not known",
                                     .hint = "leave the spot out"});
    spot_ = disk<SpotPoint>(options.spot_diameter_mm, options.spot_samples);
  }
  if (geometry.recorded_on_arc) arc_.emplace(geometry);
  const double water_then = attenuation(material_slot("water"), phantom.energy_kev());
  for (const SpectrumBin& bin : spectrum) {
    if (!(bin.weight > 0)) continue;
    weights_.push_back(bin.weight);
    MaterialIntegrals factors{};
    factors[0] = attenuation(material_slot("water"), bin.energy_kev) / water_then;
    for (std::size_t slot = 1; slot < material_slots; ++slot)
      factors[slot] = attenuation(static_cast<std::int32_t>(slot), bin.energy_kev);
    table_.push_back(factors);
  }
  // Of a single line it is the same, and thick ones do not vanish in exp(-p).
  averages_intensity_ = !weights_.empty() || (options.average == PixelAverage::intensity && rays_of_pixel() > 1);
}

Ray PhantomProjector::ray(const Camera& camera, double u, double v) const {
  if (arc_) {
    const PixelPosition flat = arc_->to_flat({u, v});
    u = flat.column;
    v = flat.row;
  }
  Ray r;
  r.origin_mm = camera.ray_origin_mm(u, v);
  r.direction = camera.ray(u, v);
  if (camera.beam != Beam::parallel) r.begin = 0;  // what lies behind the source does not count
  return r;
}

Ray PhantomProjector::ray_from_spot(const Camera& camera, double u, double v, SpotPoint offset) const {
  Ray r = ray(camera, u, v);
  // Where the ray meets the real detector: the plane at the source-detector distance, or the arc of that radius.
  const double forward = arc_ ? std::hypot(r.direction.x, r.direction.y) : dot(r.direction, camera.direction);
  const Vec3 pixel = r.origin_mm + geometry_.source_detector_mm / forward * r.direction;
  r.origin_mm = r.origin_mm + offset.u * normalized(camera.column_step_mm);
  if (camera.beam == Beam::cone) r.origin_mm = r.origin_mm + offset.v * normalized(camera.row_step_mm);
  r.direction = normalized(pixel - r.origin_mm);
  return r;
}

std::int64_t PhantomProjector::rays_of_pixel() const {
  const auto spot = static_cast<std::int64_t>(spot_.empty() ? 1 : spot_.size());
  return std::int64_t{options_.subpixels} * options_.subpixels * spot;
}

double PhantomProjector::contribution(const double* integrals) const {
  if (weights_.empty()) return averages_intensity_ ? std::exp(-integrals[0]) : integrals[0];
  double sum = 0;
  for (std::size_t bin = 0; bin < weights_.size(); ++bin) {
    double p = 0;
    for (std::size_t slot = 0; slot < material_slots; ++slot) p += table_[bin][slot] * integrals[slot];
    sum += weights_[bin] * std::exp(-p);
  }
  return sum;
}

double PhantomProjector::mean(double sum) const {
  const double average = sum / static_cast<double>(rays_of_pixel());
  return averages_intensity_ ? -std::log(std::max(average, smallest_transmission)) : average;
}

double PhantomProjector::measured(const double* integrals) const {
  double sum = 0;
  for (std::int64_t ray = 0; ray < rays_of_pixel(); ++ray)
    sum += contribution(integrals + static_cast<std::size_t>(ray) * groups());
  return mean(sum);
}

double PhantomProjector::at(const Camera& camera, double u, double v, Phantom::Scratch& scratch) const {
  double sum = 0;
  MaterialIntegrals path{};
  each_ray(camera, u, v, [&](const Ray& r) {
    if (weights_.empty())
      path[0] = phantom_.line_integral(r, scratch);
    else
      path = phantom_.material_integrals(r, scratch);
    sum += contribution(path.data());
  });
  return mean(sum);
}

void PhantomProjector::project(std::int64_t view, float* line_integrals, ThreadPool& threads,
                               const CancelFlag* cancel) const {
  const Camera camera = camera_of(geometry_, view);
  const std::int64_t columns = recorded_columns(geometry_), rows = recorded_rows(geometry_);
  std::vector<Phantom::Scratch> scratch(static_cast<std::size_t>(threads.size()));
  threads.parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    auto& mine = scratch[static_cast<std::size_t>(worker)];
    if (cancel) cancel->check();
    for (std::int64_t v = begin; v < end; ++v)
      for (std::int64_t u = 0; u < columns; ++u)
        line_integrals[v * columns + u] =
            static_cast<float>(at(camera, static_cast<double>(u), static_cast<double>(v), mine));
  });
}

}  // namespace lepus
