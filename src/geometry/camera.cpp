// SPDX-License-Identifier: Apache-2.0
// A projection matrix P = [A | b] read backwards. Cone: the source is where (u*w, v*w, w) = 0, S = -A^-1 b, and the
// point of pixel (u, v) with w = 1 is S + A^-1 (u, v, 1). Parallel: rows 0 and 1 vanish along the ray. Fan: two
// dimensions of the cone, and z from v. (Hartley and Zisserman, Multiple View Geometry, section 6.2.)
#include "geometry/camera.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

// Determinants relative to the lengths of their rows. A usable matrix has (f/u0)^2 or more, f and u0 in pixels.
constexpr double singular_below = 1e-10;

[[noreturn]] void refuse(std::int64_t view, std::string what, std::string why, std::string hint) {
  throw Error(
      ErrorKind::geometry,
      {.what = std::move(what), .where = format("view {}", view), .why = std::move(why), .hint = std::move(hint)});
}

void require_finite(const Matrix34& p, std::int64_t view) {
  for (int i = 0; i < 12; ++i)
    if (const double x = p(i / 4, i % 4); !std::isfinite(x))
      refuse(view, "the projection matrix holds a number that is not finite",
             format("row {}, column {} is {}", i / 4, i % 4, x), "check the file the matrices come from");
}

void require_regular(double determinant_over_norms, std::int64_t view) {
  if (!(std::abs(determinant_over_norms) > singular_below))
    refuse(view, "the projection matrix is singular",
           format("its relative determinant is {:.3g}", determinant_over_norms),
           "check the order of the 12 numbers (row by row) and the kind of beam");
}

double flat_length(const Matrix34& p, int row) { return std::hypot(p(row, 0), p(row, 1)); }

// The determinant that must not vanish, over the lengths of its rows; its sign is the handedness of the detector.
double relative_determinant(const Matrix34& p, Beam beam) {
  switch (beam) {
    case Beam::cone:
      return determinant(left3x3(p)) / (norm(row3(p, 0)) * norm(row3(p, 1)) * norm(row3(p, 2)));
    case Beam::fan:
      // The third row is w, and v turns with -z: the order (u, v, w) has the sign of minus this 2x2 determinant.
      return -(p(0, 0) * p(2, 1) - p(0, 1) * p(2, 0)) / (flat_length(p, 0) * flat_length(p, 2)) * p(1, 2) /
             norm(row3(p, 1));
    case Beam::parallel:
      break;
  }
  return norm(cross(row3(p, 0), row3(p, 1))) / (norm(row3(p, 0)) * norm(row3(p, 1)));
}

void require_shape(const Matrix34& p, Beam beam, std::int64_t view) {
  // Entries that the kind of beam needs to vanish, against the others of their row.
  constexpr double negligible = 1e-9;
  if (beam == Beam::parallel && norm(row3(p, 2)) * 1e3 > negligible * std::abs(p(2, 3)))
    refuse(view, "the matrix is not that of a parallel beam", "its third row must be (0, 0, 0, 1)",
           "set the beam to cone, or check the matrix");
  if (beam == Beam::fan &&
      (std::abs(p(0, 2)) > negligible * flat_length(p, 0) || std::abs(p(2, 2)) > negligible * flat_length(p, 2) ||
       flat_length(p, 1) > negligible * std::abs(p(1, 2))))
    refuse(view, "the matrix is not that of a stack of fans",
           "u and w must not depend on z, and v (the second row) on z alone", "set the beam to cone");
}

Camera cone_camera(const Matrix34& p) {
  const Matrix3 a = inverse(left3x3(p));
  const Vec3 w = row3(p, 2);
  Camera c;
  c.beam = Beam::cone;
  c.source_mm = -(a * Vec3{p(0, 3), p(1, 3), p(2, 3)});
  c.direction = normalized(w);
  c.column_step_mm = {a(0, 0), a(1, 0), a(2, 0)};
  c.row_step_mm = {a(0, 1), a(1, 1), a(2, 1)};
  c.origin_mm = c.source_mm + Vec3{a(0, 2), a(1, 2), a(2, 2)};
  c.principal_column = dot(row3(p, 0), w) / dot(w, w);
  c.principal_row = dot(row3(p, 1), w) / dot(w, w);
  return c;
}

Camera fan_camera(const Matrix34& p) {
  // In the plane: (u*w, w) = B (x, y) + (p03, p23).
  const double det = p(0, 0) * p(2, 1) - p(0, 1) * p(2, 0);
  const auto solve = [&](double uw, double w) {
    return Vec3{(uw * p(2, 1) - w * p(0, 1)) / det, (w * p(0, 0) - uw * p(2, 0)) / det, 0};
  };
  Camera c;
  c.beam = Beam::fan;
  c.source_mm = solve(-p(0, 3), -p(2, 3));
  c.direction = normalized({p(2, 0), p(2, 1), 0});
  c.column_step_mm = solve(1, 0);
  c.row_step_mm = {0, 0, 1 / p(1, 2)};
  c.origin_mm = c.source_mm + solve(0, 1);
  c.origin_mm.z = -p(1, 3) / p(1, 2);
  c.principal_column = (p(0, 0) * p(2, 0) + p(0, 1) * p(2, 1)) / (p(2, 0) * p(2, 0) + p(2, 1) * p(2, 1));
  c.principal_row = p(1, 3);
  return c;
}

Camera parallel_camera(const Matrix34& p) {
  const Vec3 u = row3(p, 0), v = row3(p, 1), n = cross(u, v);
  Camera c;
  c.beam = Beam::parallel;
  c.direction = normalized(n);
  // The dual basis of (u, v) across the beam: u.column_step = 1, v.column_step = 0, and the other way round.
  c.column_step_mm = cross(v, n) / dot(n, n);
  c.row_step_mm = cross(n, u) / dot(n, n);
  c.origin_mm = -p(0, 3) * c.column_step_mm - p(1, 3) * c.row_step_mm;
  c.principal_column = p(0, 3);
  c.principal_row = p(1, 3);
  return c;
}

// Of view `view`, already known to be finite, of the right shape and regular.
void require_normalised(const Matrix34& p, std::int64_t view) {
  if (!(p(2, 3) > 0))
    refuse(view, "the rotation centre is behind the source",
           format("the depth w of the origin is {:.6g}, it must be 1", p(2, 3)),
           "check the sign and the scaling of the matrix");
  if (std::abs(p(2, 3) - 1) > 1e-6)
    refuse(view, "the projection matrix is not scaled to w = 1 at the rotation centre",
           format("the depth w of the origin is {:.9g}", p(2, 3)), "bring it to scale with normalised()");
}

}  // namespace

Vec3 Camera::ray(double u, double v) const {
  return beam == Beam::parallel ? direction : normalized(pixel_mm(u, v) - ray_origin_mm(u, v));
}

Vec3 Camera::ray_origin_mm(double u, double v) const {
  if (beam == Beam::cone) return source_mm;
  if (beam == Beam::parallel) return pixel_mm(u, v);
  return {source_mm.x, source_mm.y, origin_mm.z + v * row_step_mm.z};
}

Camera camera_of(const ScanGeometry& geometry, std::int64_t view) {
  if (view < 0 || view >= geometry.views())
    throw Error(ErrorKind::internal, {.what = "no such view",
                                      .where = format("view {}", view),
                                      .why = format("the scan has {}", geometry.views()),
                                      .hint = {}});
  const Matrix34& p = geometry.matrices[static_cast<std::size_t>(view)];
  require_finite(p, view);
  require_regular(relative_determinant(p, geometry.beam), view);
  require_shape(p, geometry.beam, view);
  require_normalised(p, view);
  return geometry.beam == Beam::cone ? cone_camera(p) : geometry.beam == Beam::fan ? fan_camera(p) : parallel_camera(p);
}

PixelPitch pitch_at_axis(const Camera& camera) { return {norm(camera.column_step_mm), norm(camera.row_step_mm)}; }

PixelPitch pixel_size_mm(const Camera& camera, double source_detector_mm) {
  const PixelPitch at_axis = pitch_at_axis(camera);
  if (camera.beam == Beam::parallel) return at_axis;
  const double magnification = source_detector_mm / -dot(camera.direction, camera.source_mm);
  return {at_axis.width_mm * magnification,
          camera.beam == Beam::fan ? at_axis.height_mm : at_axis.height_mm * magnification};
}

double source_axis_mm(const Camera& camera) {
  return camera.beam == Beam::parallel ? 0 : std::hypot(camera.source_mm.x, camera.source_mm.y);
}

double view_angle_rad(const Camera& camera) {
  return camera.beam == Beam::parallel ? std::atan2(-camera.direction.x, camera.direction.y)
                                       : std::atan2(camera.source_mm.x, -camera.source_mm.y);
}

Matrix34 normalised(const Matrix34& matrix, Beam beam, std::int64_t view) {
  require_finite(matrix, view);
  require_regular(relative_determinant(matrix, beam), view);
  require_shape(matrix, beam, view);
  Matrix34 p = matrix;
  const double w = p(2, 3);
  if (beam != Beam::parallel) {
    // |w at the origin| / |its gradient| is the distance of the origin from the plane through the source.
    const double gradient = norm(row3(p, 2));
    const double distance = std::abs(w) / gradient;
    const double source = beam == Beam::cone ? norm(inverse(left3x3(p)) * Vec3{p(0, 3), p(1, 3), p(2, 3)})
                                             : norm(fan_camera(p).source_mm);
    if (!(distance > 1e-9 * source))
      refuse(view, "the rotation centre is not in front of the source",
             format("it lies {:.3g} mm from the plane through the source that is parallel to the detector", distance),
             "check that the matrix maps world millimetres with the origin on the rotation axis");
  } else if (w == 0) {
    refuse(view, "the matrix is not that of a parallel beam", "its third row must be (0, 0, 0, 1)",
           "set the beam to cone, or check the matrix");
  }
  for (int row = 0; row < 3; ++row) {
    if (beam == Beam::fan && row == 1) continue;  // it gives v itself
    for (int column = 0; column < 4; ++column) p(row, column) /= w;
  }
  if (beam == Beam::parallel) p(2, 0) = p(2, 1) = p(2, 2) = 0;
  if (beam == Beam::fan) p(0, 2) = p(2, 2) = p(1, 0) = p(1, 1) = 0;
  p(2, 3) = 1;
  return p;
}

void check_grid(const VolumeGrid& grid) {
  const auto refuse = [](const char* what, std::string why) {
    throw Error(ErrorKind::usage, {.what = what, .where = "volume", .why = std::move(why), .hint = {}});
  };
  constexpr std::int64_t most = std::int64_t{1} << 48;  // of one axis, and of all voxels
  const std::string size = format("it has {} x {} x {}", grid.nx, grid.ny, grid.nz);
  if (grid.nx < 1 || grid.ny < 1 || grid.nz < 1) refuse("a volume needs voxels", size);
  if (grid.nx > most || grid.ny > most / grid.nx || grid.nz > most / grid.nx / grid.ny)
    refuse("a volume of too many voxels", size);
  const auto usable = [](double step) { return std::isfinite(step) && step != 0; };
  const Vec3& step = grid.step_mm;
  if (!usable(step.x) || !usable(step.y) || !usable(step.z))
    refuse("voxels need a size", format("their steps are {}, {} and {} mm", step.x, step.y, step.z));
  const Vec3& origin = grid.origin_mm;
  if (!std::isfinite(origin.x) || !std::isfinite(origin.y) || !std::isfinite(origin.z))
    refuse("a volume needs a place", format("its first voxel lies at {}, {}, {} mm", origin.x, origin.y, origin.z));
}

void check_views(const ScanGeometry& geometry) {
  double first = 0;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    camera_of(geometry, view);
    const double handedness = relative_determinant(geometry.matrices[static_cast<std::size_t>(view)], geometry.beam);
    if (view == 0) first = handedness;
    if ((handedness > 0) != (first > 0))
      refuse(view, "the view has another handedness than view 0",
             "the rotation centre is behind its source, or its detector is mirrored and that of view 0 is not",
             "check the signs of this view's matrix");
  }
}

Matrix34 in_voxel_indices(const Matrix34& matrix, const VolumeGrid& grid) {
  Matrix34 p = matrix;
  for (int row = 0; row < 3; ++row) {
    p(row, 0) = matrix(row, 0) * grid.step_mm.x;
    p(row, 1) = matrix(row, 1) * grid.step_mm.y;
    p(row, 2) = matrix(row, 2) * grid.step_mm.z;
    p(row, 3) = matrix(row, 3) + dot(row3(matrix, row), grid.origin_mm);
  }
  return p;
}

Matrix34 from_voxel_indices(const Matrix34& matrix, const VolumeGrid& grid) {
  Matrix34 p = matrix;
  for (int row = 0; row < 3; ++row) {
    p(row, 0) = matrix(row, 0) / grid.step_mm.x;
    p(row, 1) = matrix(row, 1) / grid.step_mm.y;
    p(row, 2) = matrix(row, 2) / grid.step_mm.z;
    p(row, 3) = matrix(row, 3) - dot(row3(p, row), grid.origin_mm);
  }
  return p;
}

}  // namespace lepus
