// SPDX-License-Identifier: Apache-2.0
// A scan's geometry: one 3x4 projection matrix per view. docs/geometry.md draws the axes.
//
// World: right-handed, millimetres, the rotation axis is z, the rotation centre is the origin. At angle 0 the source is
// at (0, -source_axis, 0) and looks along +y; angles turn source and detector counter-clockwise seen from +z:
//   source(beta) = R_z(beta) (0, -source_axis, 0).
// Detector: a frame as the source sees it, upright: column u grows to the right (+x at angle 0), row v grows downwards
// (-z); row 0 is the top. Pixel centres are at integers; the detector's middle is ((columns-1)/2, (rows-1)/2).
// A matrix maps (x, y, z, 1) to (u*w, v*w, w) and is scaled so that w = 1 at the origin; then 1/w^2 is the FDK weight.
// Beam::parallel: w = 1 everywhere. Beam::fan: a stack of planar fans; u = (row 0)/w as in cone beam, but the second
// row of the matrix gives v itself, undivided (it depends on z alone).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <lepus/export.h>
#include <lepus/math.h>

namespace lepus {

enum class Beam { cone, fan, parallel };

// A detector bent around the source (radius = source-detector distance), as the frames were recorded; its columns are
// equally spaced in angle. lepus resamples such frames onto the flat detector that ScanGeometry describes.
struct ArcDetector {
  std::int64_t columns = 0, rows = 0;
  double radius_mm = 0;
  double pixel_width_mm = 0;   // along the arc
  double pixel_height_mm = 0;  // along the axis
  double central_column = 0;   // where the central ray meets the detector, in recorded pixels
  double central_row = 0;
};

struct ScanGeometry {
  Beam beam = Beam::cone;
  std::int64_t columns = 0, rows = 0;  // of the flat detector that the matrices map to
  std::vector<Matrix34> matrices;      // one per view
  double source_detector_mm = 0;       // along the detector's normal; 0: unknown (matrices do not tell) or parallel
  std::optional<ArcDetector> recorded_on_arc;

  std::int64_t views() const { return static_cast<std::int64_t>(matrices.size()); }
};

// The voxels: centre of voxel (i, j, k) = origin + (i, j, k) * step. A negative step mirrors that axis.
struct VolumeGrid {
  std::int64_t nx = 0, ny = 0, nz = 0;
  Vec3 origin_mm;
  Vec3 step_mm{1, 1, 1};

  std::int64_t voxels() const { return nx * ny * nz; }
  Vec3 centre(double i, double j, double k) const {
    return {origin_mm.x + i * step_mm.x, origin_mm.y + j * step_mm.y, origin_mm.z + k * step_mm.z};
  }
  friend bool operator==(const VolumeGrid&, const VolumeGrid&) = default;
};

// A grid of n voxels centred on the rotation centre.
LEPUS_API VolumeGrid centred_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz, Vec3 step_mm);

// What one view deviates from the ideal orbit by; all in the view's own frame (u right, v down, depth away from the
// source).
struct ViewPerturbation {
  Vec3 source_mm;                                       // (u, v, depth)
  Vec3 detector_mm;                                     // (u, v, depth)
  double in_plane_rad = 0, pitch_rad = 0, yaw_rad = 0;  // added to the detector's tilts
  double angle_rad = 0;                                 // added to the view's angle
};

// A circular scan as its operator would describe it. build_scan turns it into matrices.
struct CircularScan {
  Beam beam = Beam::cone;
  bool arc = false;               // the detector is bent around the source (no tilts then)
  double source_axis_mm = 0;      // ignored for Beam::parallel
  double source_detector_mm = 0;  // ignored for Beam::parallel
  std::int64_t columns = 0, rows = 0;
  double pixel_width_mm = 0, pixel_height_mm = 0;
  double detector_shift_u_mm = 0;       // of the detector's middle from the central ray, along +u
  double detector_shift_v_mm = 0;       // along +v (down)
  double axis_offset_mm = 0;            // tau: how far along +u the rotation axis lies from the central ray
  double in_plane_rad = 0;              // rotation about the detector's normal
  double pitch_rad = 0;                 // rotation about the u axis
  double yaw_rad = 0;                   // rotation about the v axis
  bool mirror_columns = false;          // column 0 is on the right
  bool mirror_rows = false;             // row 0 is at the bottom
  std::vector<double> angles_rad = {};  // one per view, counter-clockwise
  std::vector<ViewPerturbation> perturbations = {};  // empty, or one per view
};

LEPUS_API ScanGeometry build_scan(const CircularScan& scan);

}  // namespace lepus
