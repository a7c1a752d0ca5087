// SPDX-License-Identifier: Apache-2.0
// The scans of the accuracy table: beam x coverage x alignment. docs/accuracy.md.
#pragma once

#include <string>
#include <vector>

#include <lepus/geometry.h>

namespace lepus::accuracy {

enum class BeamKind { cone, fan_flat, fan_arc, parallel };
enum class CoverageKind { full, short_scan, half_fan };
enum class Alignment { aligned, shifted_detector, displaced_axis, tilted_detector, jittered_views };

struct ScanCase {
  BeamKind beam = BeamKind::cone;
  CoverageKind coverage = CoverageKind::full;
  Alignment alignment = Alignment::aligned;
  double cone_source_axis_mm = 400;  // fans: 200 mm

  bool three_dimensional() const { return beam == BeamKind::cone; }
  std::string name() const;      // "cone_short_tilted": for tests
  std::string geometry() const;  // "cone, 212 degrees, detector tilted ...": for readers
};

// Every combination that makes sense; tilts and jitter are for the cone beam.
std::vector<ScanCase> scan_cases();

// The aligned full scan of a cone at several distances of the source.
std::vector<ScanCase> cones_by_distance();

enum class PhantomKind { ball, ellipsoids };

// Detector rows and slices are as many as the phantom needs.
CircularScan circular_scan(const ScanCase& scan, PhantomKind phantom);
VolumeGrid grid(const ScanCase& scan, PhantomKind phantom);

// Lengths in mm. Pixels are given at the rotation axis: there they are as large as the voxels.
inline constexpr double voxel_mm = 0.6, magnification = 1.5;
inline constexpr double measured_radius_mm = 46;  // what is compared: a cylinder inside every field of view
// The fan is wide. The cone is not: FDK's own error in the ellipsoids grows with the cone angle (wider_cones).
inline double source_axis_mm(const ScanCase& scan) { return scan.three_dimensional() ? scan.cone_source_axis_mm : 200; }
inline double ball_radius_mm(const ScanCase& scan) { return 0.08 * source_axis_mm(scan); }

}  // namespace lepus::accuracy
