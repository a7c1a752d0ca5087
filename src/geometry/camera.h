// SPDX-License-Identifier: Apache-2.0
// What a projection matrix says: where the source is, where each pixel looks, how large a pixel is at the axis.
#pragma once

#include <lepus/geometry.h>

namespace lepus {

struct Camera {
  Beam beam = Beam::cone;
  Vec3 source_mm;       // cone and fan; for parallel beam unused
  Vec3 direction;       // unit vector along the principal ray (the detector's normal), away from the source
  Vec3 origin_mm;       // position of pixel (0, 0) on the virtual detector through the rotation centre (w = 1)
  Vec3 column_step_mm;  // from one column to the next on that virtual detector (v constant)
  Vec3 row_step_mm;     // from one row to the next
  double principal_column = 0, principal_row = 0;  // where the principal ray meets the detector; parallel: the axis

  Vec3 pixel_mm(double u, double v) const { return origin_mm + u * column_step_mm + v * row_step_mm; }
  // Unit vector from the source through a pixel. (Beam::fan: within the horizontal plane of the row.)
  Vec3 ray(double u, double v) const;
  // A point on that ray: the source, or for parallel and fan beams a point in the ray's plane.
  Vec3 ray_origin_mm(double u, double v) const;
};

Camera camera_of(const ScanGeometry& geometry, std::int64_t view);

// Pixel width and height at the rotation axis; times magnification = source_detector / source_axis they are the pixel's
// size.
struct PixelPitch {
  double width_mm, height_mm;
};
PixelPitch pitch_at_axis(const Camera& camera);

// The pixel's size on a detector `source_detector_mm` away from the source along its normal (ScanGeometry holds that
// distance). A fan beam's rows are not magnified; a parallel beam's pixels are those at the axis.
PixelPitch pixel_size_mm(const Camera& camera, double source_detector_mm);

// Distance of the source from the axis and its angle (see lepus/geometry.h); parallel: angle of the rays.
double source_axis_mm(const Camera& camera);
double view_angle_rad(const Camera& camera);

// Brings a matrix in any scaling to ours (w = 1 at the origin, w > 0 in front of the source). Throws Error(geometry)
// where it is singular or the rotation centre lies beside the source, on the plane that no ray leaves through.
Matrix34 normalised(const Matrix34& matrix, Beam beam, std::int64_t view);

// Checks every view: matrices that can be used, normalised, and of one handedness (a view that differs from the others
// has the rotation centre behind its source, or a mirrored detector). Throws Error(geometry) naming the view.
void check_views(const ScanGeometry& geometry);
// Throws Error(usage) for a grid without voxels, with more than can be counted, or whose size or place is no number.
void check_grid(const VolumeGrid& grid);

// A matrix that maps voxel indices (i, j, k) of a grid, instead of millimetres.
Matrix34 in_voxel_indices(const Matrix34& matrix, const VolumeGrid& grid);
Matrix34 from_voxel_indices(const Matrix34& matrix, const VolumeGrid& grid);

}  // namespace lepus
