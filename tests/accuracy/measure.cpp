// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <cmath>

#include "simulate/builtin_phantoms.h"
#include "simulate/project.h"
#include "simulate/voxelise.h"
#include <lepus/reconstruct.h>

namespace lepus::accuracy {
namespace {

constexpr int rays_per_pixel_side = 3, samples_per_voxel_side = 5;
constexpr double edge_voxels = 3;

std::vector<float> reconstruct(const Phantom& phantom, PhantomKind kind, const ScanCase& scan, ThreadPool& threads) {
  const ScanGeometry geometry = build_scan(circular_scan(scan, kind));
  const std::vector<float> lines = projections(phantom, geometry, rays_per_pixel_side, threads);
  const VolumeGrid voxels = grid(scan, kind);
  std::vector<float> volume(static_cast<std::size_t>(voxels.voxels()));
  FdkOptions options;
  options.compute.backend = "cpu";
  options.compute.threads = threads.size();
  fdk(geometry, lines, voxels, volume, options);
  return volume;
}

// Calls body(index, centre) for every voxel of the compared cylinder.
template <class Body>
void for_each_voxel(const VolumeGrid& g, Body&& body) {
  for (std::int64_t k = 0; k < g.nz; ++k)
    for (std::int64_t j = 0; j < g.ny; ++j)
      for (std::int64_t i = 0; i < g.nx; ++i) {
        const Vec3 x = g.centre(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
        if (std::hypot(x.x, x.y) <= measured_radius_mm) body(static_cast<std::size_t>((k * g.ny + j) * g.nx + i), x);
      }
}

struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / count; }
};

// Which shapes contain a point, as bits. All are ellipsoids.
class Labels {
public:
  explicit Labels(const Phantom& phantom) : shapes_(phantom.shapes()) {
    for (const Shape& shape : shapes_) prepared_.emplace_back(shape);
  }
  unsigned at(Vec3 point) const {
    unsigned bits = 0;
    for (std::size_t s = 0; s < prepared_.size(); ++s) bits |= prepared_[s].contains(point) ? 1U << s : 0U;
    return bits;
  }
  // No surface is as near as that: where an ellipsoid is mapped onto the unit ball, lengths grow by one over its
  // smallest half axis at most.
  bool surely_same_within(Vec3 point, double distance) const {
    return std::all_of(shapes_.begin(), shapes_.end(), [&](const Shape& s) {
      const Vec3 a = s.half_axes_mm, q = transposed(s.axes) * (point - s.centre_mm);
      const double radius = norm({q.x / a.x, q.y / a.y, q.z / a.z});
      return std::abs(radius - 1) > distance / std::min({a.x, a.y, a.z}) + 1e-9;
    });
  }

private:
  std::vector<Shape> shapes_;
  std::vector<PreparedShape> prepared_;
};

// Points on a sphere (circle, where there is one slice) of three voxels around a point.
std::vector<Vec3> around(bool three_dimensional) {
  std::vector<Vec3> points;
  constexpr int n = 162;
  const double radius = edge_voxels * voxel_mm;
  for (int i = 0; i < n; ++i) {
    const double z = three_dimensional ? 1 - 2 * (i + 0.5) / n : 0;
    const double turn = three_dimensional ? i * pi * (3 - std::sqrt(5.0)) : 2 * pi * i / n;
    const double r = std::sqrt(1 - z * z);
    points.push_back({radius * r * std::cos(turn), radius * r * std::sin(turn), radius * z});
  }
  return points;
}

// Integral over the volume, or over the slice z = 0 (times its thickness). Shapes are turned about z only.
double true_integral(const Phantom& phantom, bool three_dimensional) {
  double sum = 0;
  for (const Shape& s : phantom.shapes()) {
    const Vec3 a = s.half_axes_mm;
    if (three_dimensional) {
      sum += s.value * 4 / 3 * pi * a.x * a.y * a.z;
    } else {
      const double height = s.centre_mm.z / a.z;
      sum += s.value * pi * a.x * a.y * std::max(0.0, 1 - height * height) * voxel_mm;
    }
  }
  return sum;
}

}  // namespace

Phantom ellipsoids() {
  const auto turned = [](Vec3 centre, Vec3 half_axes, double angle_deg, double value) {
    Shape shape = ellipsoid(centre, half_axes, value);
    shape.axes = rotation(0, 0, radians(angle_deg));
    return shape;
  };
  return Phantom(
      "ellipsoids", Combine::add,
      {turned({1, -1, 0}, {42, 35, 12}, 20, body_value), turned({-19, 6, 1}, {11, 8, 6}, 70, 0.5 * body_value),
       turned({14, 12, -2}, {9, 13, 7}, -30, -0.4 * body_value), turned({12, -14, 1.5}, {10, 7, 6}, 10, body_value),
       turned({-8, -18, -1}, {7, 6, 5}, 0, -body_value), turned({-1, 1, 0}, {5, 5, 5}, 0, 0.2 * body_value)});
}

std::vector<float> projections(const Phantom& phantom, const ScanGeometry& geometry, int subpixels,
                               ThreadPool& threads) {
  const PhantomProjector projector(
      phantom, geometry,
      {.subpixels = subpixels, .average = PixelAverage::line_integral, .spot_diameter_mm = 0, .spot_samples = 1});
  const std::int64_t pixels = recorded_columns(geometry) * recorded_rows(geometry);
  std::vector<float> lines(static_cast<std::size_t>(pixels * geometry.views()));
  for (std::int64_t view = 0; view < geometry.views(); ++view)
    projector.project(view, lines.data() + view * pixels, threads);
  return lines;
}

BallQuality measure_ball(const ScanCase& scan, ThreadPool& threads) {
  const double radius = ball_radius_mm(scan), inside = radius - edge_voxels * voxel_mm;
  const std::vector<float> volume = reconstruct(uniform_ball(radius, body_value), PhantomKind::ball, scan, threads);
  Mean plane, centre, ring, whole;
  for_each_voxel(grid(scan, PhantomKind::ball), [&](std::size_t index, Vec3 x) {
    const double r = norm(x), value = static_cast<double>(volume[index]) / body_value;
    if (r > inside) return;
    whole.add(value);
    if (std::abs(x.z) > 1e-6) return;
    plane.add(value);
    if (r < 0.3 * radius) centre.add(value);
    if (r > 0.7 * radius) ring.add(value);
  });
  return {plane.value() - 1, ring.value() - centre.value(), whole.value() - 1};
}

EllipsoidQuality measure_ellipsoids(const ScanCase& scan, ThreadPool& threads) {
  const Phantom phantom = ellipsoids();
  const std::vector<float> volume = reconstruct(phantom, PhantomKind::ellipsoids, scan, threads);
  const VolumeGrid voxels = grid(scan, PhantomKind::ellipsoids);
  std::vector<float> truth(volume.size());
  // The slice of a planar scan has no thickness: its truth is sampled in the plane.
  VolumeGrid sampled = voxels;
  if (!scan.three_dimensional()) sampled.step_mm.z = 1e-6;
  voxelise(phantom, sampled, 0, sampled.nz, samples_per_voxel_side, truth.data(), threads);

  const Labels labels(phantom);
  const std::vector<Vec3> sphere = around(scan.three_dimensional());
  double interior_plane = 0, interior_plane_count = 0;
  double sum = 0, interior = 0, interior_count = 0, error = 0, energy = 0, plane = 0, plane_count = 0, peak = 0;
  for_each_voxel(voxels, [&](std::size_t index, Vec3 x) {
    const double difference = static_cast<double>(volume[index]) - static_cast<double>(truth[index]);
    sum += static_cast<double>(volume[index]);
    error += difference * difference;
    energy += static_cast<double>(truth[index]) * static_cast<double>(truth[index]);
    if (std::abs(x.z) < 1e-6) {
      plane += difference * difference;
      ++plane_count;
      peak = std::max(peak, static_cast<double>(truth[index]));
    }
    const unsigned label = labels.at(x);
    if (label == 0) return;
    if (!labels.surely_same_within(x, edge_voxels * voxel_mm))
      for (const Vec3& offset : sphere)
        if (labels.at(x + offset) != label) return;
    interior += difference * difference;
    ++interior_count;
    if (std::abs(x.z) > 1e-6) return;
    interior_plane += difference * difference;
    ++interior_plane_count;
  });
  EllipsoidQuality q;
  q.integral_error = sum * voxel_mm * voxel_mm * voxel_mm / true_integral(phantom, scan.three_dimensional()) - 1;
  q.interior_rms = std::sqrt(interior / interior_count) / body_value;
  q.interior_rms_mid_plane = std::sqrt(interior_plane / interior_plane_count) / body_value;
  q.whole_error = std::sqrt(error / energy);
  q.mid_plane_psnr = 10 * std::log10(peak * peak * plane_count / plane);
  return q;
}

}  // namespace lepus::accuracy
