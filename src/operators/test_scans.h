// SPDX-License-Identifier: Apache-2.0
// Small scans of every kind that operators are tested with.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <lepus/operator.h>

namespace lepus::operator_cases {

struct Case {
  std::string name;
  ScanGeometry geometry;
  VolumeGrid grid;
};

inline CircularScan circle(Beam beam) {
  CircularScan scan;
  scan.beam = beam;
  scan.source_axis_mm = 60;
  scan.source_detector_mm = 90;
  scan.columns = 24;
  scan.rows = 18;
  scan.pixel_width_mm = scan.pixel_height_mm = beam == Beam::cone ? 1.6 : 1.1;
  for (int i = 0; i < 6; ++i) scan.angles_rad.push_back(i * pi / 4 + (i == 5 ? 0.3 : 0.0));  // 45 degrees among them
  return scan;
}

inline std::vector<Case> cases() {
  const VolumeGrid cube = centred_grid(18, 18, 16, {1, 1, 1});
  std::vector<Case> all;
  all.push_back({"cone", build_scan(circle(Beam::cone)), cube});
  all.push_back({"fan", build_scan(circle(Beam::fan)), cube});
  all.push_back({"parallel", build_scan(circle(Beam::parallel)), cube});
  CircularScan scan = circle(Beam::cone);
  scan.arc = true;
  all.push_back({"arc", build_scan(scan), cube});
  scan = circle(Beam::cone);
  scan.pitch_rad = 0.2;
  scan.in_plane_rad = 0.4;
  all.push_back({"tilted", build_scan(scan), cube});
  scan = circle(Beam::cone);
  std::mt19937 random(11);
  const auto about = [&](double size) { return size * (static_cast<double>(random() % 2001) / 1000.0 - 1); };
  for (std::size_t i = 0; i < scan.angles_rad.size(); ++i) {
    ViewPerturbation p;
    p.source_mm = {about(1.5), about(1.5), about(3)};
    p.detector_mm = {about(1.5), about(1.5), about(3)};
    p.in_plane_rad = about(0.03);
    p.pitch_rad = about(0.03);
    p.yaw_rad = about(0.03);
    p.angle_rad = about(0.02);
    scan.perturbations.push_back(p);
  }
  all.push_back({"wobbling", build_scan(scan), cube});
  VolumeGrid aside = cube;
  aside.origin_mm = aside.origin_mm + Vec3{5.3, -3.7, 2.1};
  all.push_back({"off-centre grid", build_scan(circle(Beam::cone)), aside});
  all.push_back({"flat voxels, mirrored", build_scan(circle(Beam::cone)), centred_grid(14, 21, 9, {1.5, -0.7, -2.0})});
  scan = circle(Beam::cone);
  scan.source_axis_mm = 20;
  scan.source_detector_mm = 26;
  scan.rows = 40;
  all.push_back({"steep: main axis z as well", build_scan(scan), centred_grid(14, 14, 30, {1, 1, 1})});
  scan = circle(Beam::cone);
  scan.source_axis_mm = 24;
  scan.source_detector_mm = 48;
  all.push_back({"source inside the volume", build_scan(scan), centred_grid(60, 60, 8, {1, 1, 1})});
  scan = circle(Beam::cone);
  scan.pixel_width_mm = 4.5;
  scan.pixel_height_mm = 4.1;
  all.push_back({"large pixels", build_scan(scan), cube});
  scan.pitch_rad = -0.15;
  scan.in_plane_rad = 0.3;
  all.push_back({"large pixels, tilted", build_scan(scan), cube});
  scan = circle(Beam::parallel);
  scan.pitch_rad = 0.25;
  scan.in_plane_rad = 1.3;
  all.push_back({"parallel, on its side", build_scan(scan), cube});
  all.push_back({"large voxels, odd sizes", build_scan(circle(Beam::cone)), centred_grid(7, 5, 3, {3, 3, 3})});
  return all;
}

inline std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 20001) / 10000.0F - 1;
  return values;
}

inline double dot(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

inline OperatorOptions on(const char* backend, RayModel model) {
  OperatorOptions options;
  options.model = model;
  options.compute.backend = backend;
  options.compute.threads = 2;
  options.compute.precision = Precision::exact;
  return options;
}

inline const char* name_of(RayModel model) {
  switch (model) {
    case RayModel::joseph:
      return "joseph";
    case RayModel::siddon:
      return "siddon";
    case RayModel::footprint:
      return "footprint";
    case RayModel::voxel:
      break;
  }
  return "voxel";
}

inline constexpr RayModel matched_models[] = {RayModel::joseph, RayModel::siddon, RayModel::footprint};
inline constexpr RayModel all_models[] = {RayModel::joseph, RayModel::siddon, RayModel::footprint, RayModel::voxel};

}  // namespace lepus::operator_cases
