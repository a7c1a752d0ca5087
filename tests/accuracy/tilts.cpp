// SPDX-License-Identifier: Apache-2.0
#include "tilts.h"

#include <cmath>

#include "core/format.h"
#include "measure.h"
#include "simulate/builtin_phantoms.h"
#include <lepus/reconstruct.h>

namespace lepus::accuracy {
namespace {

constexpr double radius_mm = 32, source_mm = 400, tilt_voxel_mm = 1.2, from_edge_mm = 3 * tilt_voxel_mm;
constexpr std::int64_t tilt_columns = 88, tilt_rows = 30;
constexpr int views_of_full_turn = 180, views_of_short_scan = 100;  // 2 degrees each

ScanGeometry scan_of(const TiltCase& tilt) {
  CircularScan s;
  s.source_axis_mm = source_mm;
  s.source_detector_mm = magnification * source_mm;
  s.columns = tilt_columns;
  s.rows = tilt_rows;
  s.pixel_width_mm = s.pixel_height_mm = magnification * tilt_voxel_mm;
  s.in_plane_rad = radians(tilt.in_plane_deg);
  s.pitch_rad = radians(tilt.pitch_deg);
  s.yaw_rad = radians(tilt.yaw_deg);
  const int views = tilt.full_turn ? views_of_full_turn : views_of_short_scan;
  for (int i = 0; i < views; ++i) s.angles_rad.push_back(2 * pi * i / views_of_full_turn);
  ScanGeometry geometry = build_scan(s);
  // In the frame of a view that looks along y, the world is turned about x.
  const double c = std::cos(radians(tilt.raised_deg)), sine = std::sin(radians(tilt.raised_deg));
  for (std::size_t i = 0; i < geometry.matrices.size(); ++i) {
    const double cb = std::cos(s.angles_rad[i]), sb = std::sin(s.angles_rad[i]);
    const Vec3 across{cb, sb, 0}, along{-sb, cb, 0};
    Matrix34& p = geometry.matrices[i];
    for (int row = 0; row < 3; ++row) {
      const Vec3 a{p(row, 0), p(row, 1), p(row, 2)};
      const double x = dot(a, across), y = dot(a, along), z = a.z;
      const Vec3 turned = x * across + (c * y - sine * z) * along + Vec3{0, 0, sine * y + c * z};
      p(row, 0) = turned.x;
      p(row, 1) = turned.y;
      p(row, 2) = turned.z;
    }
  }
  return geometry;
}

double mid_plane_error(const Phantom& phantom, const ScanGeometry& geometry, ThreadPool& threads) {
  const std::vector<float> lines = projections(phantom, geometry, 3, threads);
  const VolumeGrid g = centred_grid(61, 61, 1, {tilt_voxel_mm, tilt_voxel_mm, tilt_voxel_mm});
  std::vector<float> slice(static_cast<std::size_t>(g.voxels()));
  FdkOptions options;
  options.compute.backend = "cpu";
  options.compute.threads = threads.size();
  fdk(geometry, lines, g, slice, options);
  double sum = 0, count = 0;
  for (std::int64_t j = 0; j < g.ny; ++j)
    for (std::int64_t i = 0; i < g.nx; ++i) {
      if (norm(g.centre(static_cast<double>(i), static_cast<double>(j), 0)) > radius_mm - from_edge_mm) continue;
      sum += static_cast<double>(slice[static_cast<std::size_t>(j * g.nx + i)]);
      ++count;
    }
  return sum / count / body_value - 1;
}

}  // namespace

std::string TiltCase::name() const {
  std::string text;
  const auto add = [&](const char* word, double angle_deg) {
    if (angle_deg != 0) text += format("{}_{}_", word, angle_deg);
  };
  add("in_plane", in_plane_deg);
  add("pitch", pitch_deg);
  add("yaw", yaw_deg);
  add("raised", raised_deg);
  return text + (full_turn ? "full" : "short");
}

std::string TiltCase::geometry() const {
  return format("{} | {:g}° | {:g}° | {:g}° | {:g}°", full_turn ? "full 360°" : "short 200°", in_plane_deg, pitch_deg,
                yaw_deg, raised_deg);
}

double TiltCase::ball_lost_by_fdk() const { return std::cos(radians(raised_deg)) - 1; }

std::vector<TiltCase> tilt_cases() {
  std::vector<TiltCase> all;
  for (const bool full : {true, false}) {
    all.push_back({.full_turn = full});
    for (const double angle : {1.0, 3.0, 5.0, 10.0}) all.push_back({.in_plane_deg = angle, .full_turn = full});
    for (const double angle : {4.0, 10.0}) all.push_back({.pitch_deg = angle, .full_turn = full});
    for (const double angle : {4.0, 10.0}) all.push_back({.yaw_deg = angle, .full_turn = full});
    all.push_back({.in_plane_deg = 5, .pitch_deg = 4, .yaw_deg = 4, .full_turn = full});
    all.push_back({.in_plane_deg = 10, .pitch_deg = 10, .yaw_deg = 10, .full_turn = full});
    all.push_back({.raised_deg = 4, .full_turn = full});
  }
  return all;
}

TiltQuality measure_tilt(const TiltCase& tilt, ThreadPool& threads) {
  const ScanGeometry geometry = scan_of(tilt);
  const Phantom ball = uniform_ball(radius_mm, body_value);
  const Phantom long_cylinder("cylinder", Combine::add, {cylinder({0, 0, 0}, radius_mm, 20 * radius_mm, body_value)});
  return {mid_plane_error(ball, geometry, threads), mid_plane_error(long_cylinder, geometry, threads)};
}

}  // namespace lepus::accuracy
