// SPDX-License-Identifier: Apache-2.0
// Views as vectors. A point X on the ray of pixel offset (p, q) from the middle C: X - S = lambda (C - S + p a + q b)
// for a source S, X = C + p a + q b + lambda d for parallel rays d; one 3x3 inverse gives the matrix.
#include "geometry/view_vectors.h"

#include <cmath>

#include "core/format.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

Matrix3 with_columns(Vec3 a, Vec3 b, Vec3 c) { return {{a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}}; }

[[noreturn]] void refuse(std::int64_t view, std::string what, std::string why) {
  throw Error(ErrorKind::geometry, {.what = std::move(what),
                                    .where = format("view {}", view),
                                    .why = std::move(why),
                                    .hint = "check this view in the geometry file"});
}

double half(std::int64_t n) { return 0.5 * static_cast<double>(n - 1); }

}  // namespace

Matrix34 matrix_of(const ViewVectors& vectors, Beam beam, std::int64_t columns, std::int64_t rows, std::int64_t view) {
  const bool parallel = beam == Beam::parallel;
  const Vec3 a = vectors.column_step_mm, b = vectors.row_step_mm;
  const Vec3 along = parallel ? vectors.source_mm : vectors.middle_mm - vectors.source_mm;
  const Matrix3 basis = with_columns(a, b, along);
  const double volume = determinant(basis), size = norm(a) * norm(b) * norm(along);
  if (!std::isfinite(volume) || !(std::abs(volume) > 1e-10 * size))
    refuse(view, "the detector cannot be seen from the source",
           "the column step, the row step and the direction to the detector lie in one plane, or one is zero");
  const Matrix3 dual = inverse(basis);
  const Vec3 start = parallel ? vectors.middle_mm : vectors.source_mm;
  Matrix34 p;
  const double centre[2] = {half(columns), half(rows)};
  for (int row = 0; row < 3; ++row) {
    const Vec3 g{dual(row, 0), dual(row, 1), dual(row, 2)}, depth{dual(2, 0), dual(2, 1), dual(2, 2)};
    const Vec3 whole = parallel || row == 2 ? g : g + centre[row] * depth;
    p(row, 0) = whole.x;
    p(row, 1) = whole.y;
    p(row, 2) = whole.z;
    p(row, 3) = -dot(whole, start) + (parallel && row < 2 ? centre[row] : 0);
  }
  if (parallel) {
    p(2, 0) = p(2, 1) = p(2, 2) = 0;
    p(2, 3) = 1;
  } else if (!(p(2, 3) > 0)) {
    refuse(view, "the rotation centre is behind the source",
           "the source lies between the rotation centre and the detector, or beside them");
  }
  return normalised(p, beam, view);
}

ViewVectors vectors_of(const ScanGeometry& geometry, std::int64_t view, const std::string& tool) {
  if (geometry.beam == Beam::fan)
    throw Error(ErrorKind::unsupported, {.what = format("a fan-beam scan cannot be written for {}", tool),
                                         .where = "beam",
                                         .why = "it has no stack of planar fans, only cones and parallel beams",
                                         .hint = "write it as \"matrices\""});
  const Camera c = camera_of(geometry, view);
  const Vec3 middle = c.pixel_mm(half(geometry.columns), half(geometry.rows));
  if (geometry.beam == Beam::parallel) return {c.direction, middle, c.column_step_mm, c.row_step_mm};
  const double to_centre = -dot(c.direction, c.source_mm);
  const double scale = geometry.source_detector_mm > 0 ? geometry.source_detector_mm / to_centre : 1;
  return {c.source_mm, c.source_mm + scale * (middle - c.source_mm), scale * c.column_step_mm, scale * c.row_step_mm};
}

RigidScan rigid_scan_of(const ScanGeometry& geometry, const std::string& tool, double pixel_width_mm) {
  const auto unsupported = [&](std::int64_t view, std::string why) {
    throw Error(ErrorKind::unsupported, {.what = format("{} cannot describe this detector", tool),
                                         .where = format("view {}", view),
                                         .why = std::move(why),
                                         .hint = "write it as \"astra\" or \"matrices\""});
  };
  constexpr double tolerance = 1e-7;  // of a pixel per pixel: 1e-4 pixels over a frame
  const bool parallel = geometry.beam == Beam::parallel;
  RigidScan scan;
  for (std::int64_t view = 0; view < geometry.views(); ++view) {
    const ViewVectors v = vectors_of(geometry, view, tool);
    const double width = norm(v.column_step_mm), height = norm(v.row_step_mm);
    if (view == 0) {
      scan.pixel_width_mm = pixel_width_mm > 0 && !parallel ? pixel_width_mm : width;
      scan.pixel_height_mm = scan.pixel_width_mm / width * height;
    }
    if (std::abs(dot(v.column_step_mm, v.row_step_mm)) > tolerance * width * height)
      unsupported(view, "its rows and columns are not perpendicular");
    const double scale = parallel ? 1 : scan.pixel_width_mm / width;
    if (std::abs(scale * height - scan.pixel_height_mm) > tolerance * scan.pixel_height_mm ||
        std::abs(scale * width - scan.pixel_width_mm) > tolerance * scan.pixel_width_mm)
      unsupported(view, "its pixels have another shape than those of view 0");
    RigidView r;
    r.source_mm = v.source_mm;
    r.middle_mm = parallel ? v.middle_mm : v.source_mm + scale * (v.middle_mm - v.source_mm);
    r.across = normalized(v.column_step_mm);
    const Vec3 away = parallel ? v.source_mm : v.middle_mm - v.source_mm;
    // columns x rows points away from the source for a frame that is not mirrored: up is then against the rows.
    const bool on_top = dot(cross(v.column_step_mm, v.row_step_mm), away) > 0;
    if (view == 0) scan.first_row_on_top = on_top;
    if (on_top != scan.first_row_on_top) unsupported(view, "it is mirrored and view 0 is not");
    r.up = on_top ? -normalized(v.row_step_mm) : normalized(v.row_step_mm);
    scan.views.push_back(r);
  }
  return scan;
}

}  // namespace lepus
