// SPDX-License-Identifier: Apache-2.0
#include "project/faces.h"

#include <cmath>

#include "geometry/camera.h"

namespace lepus {
namespace {

double along(const float* row, const double (&at)[3]) {
  double sum = static_cast<double>(row[3]);
  for (int k = 0; k < 3; ++k) sum += static_cast<double>(row[k]) * at[k];
  return sum;
}

double term_at(const PassTerm& term, double plane, double axis) {
  return static_cast<double>(term.constant) + static_cast<double>(term.per_plane) * plane +
         static_cast<double>(term.per_axis) * axis;
}

// Whether a number is above `least` in magnitude and always on the same side; `side` is 0 at first.
bool keeps_side(double number, double least, int& side) {
  const int here = number > least ? 1 : number < -least ? -1 : 0;
  if (here == 0 || (side != 0 && here != side)) return false;
  side = here;
  return true;
}

}  // namespace

std::vector<Face> faces_of(const RayViews& job) {
  std::vector<Face> faces;
  for (std::size_t view = 0; view < job.views.size(); ++view) {
    const std::array<bool, 3> axes = axes_along(job.views[view], job.columns, job.rows);
    for (int axis = 0; axis < 3; ++axis)
      if (axes[static_cast<std::size_t>(axis)]) faces.push_back({static_cast<int>(view), axis});
  }
  return faces;
}

std::vector<Matrix34> matrices_from_middle(const ScanGeometry& geometry, const VolumeGrid& grid,
                                           const JosephGrid& joseph) {
  std::vector<Matrix34> matrices;
  matrices.reserve(geometry.matrices.size());
  for (const Matrix34& matrix : geometry.matrices) {
    Matrix34 m = in_voxel_indices(matrix, grid);
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 3; ++k) m(row, 3) += m(row, k) * static_cast<double>(joseph.middle[k]);
    matrices.push_back(m);
  }
  return matrices;
}

PictureFrame picture_frame(const ScanGeometry& geometry) {
  const auto columns = static_cast<int>(geometry.columns), rows = static_cast<int>(geometry.rows);
  return {geometry.beam, columns, 0, rows, columns / 2, rows / 2, rows};
}

std::vector<PictureFace> picture_faces(const RayViews& job, const std::vector<Face>& faces,
                                       const std::vector<Matrix34>& matrices, Beam beam) {
  std::vector<PictureFace> pictures;
  const double middle_u = static_cast<double>(job.columns / 2), middle_v = static_cast<double>(job.rows / 2);
  const auto single = [](double x) { return static_cast<float>(x); };
  for (const Face& face : faces) {
    const JosephView& view = job.views[static_cast<std::size_t>(face.view)];
    const Matrix34& m = matrices[static_cast<std::size_t>(face.view)];
    const auto& p = view.point;
    const auto& d = view.direction;
    PictureFace picture{};
    picture.axis = face.axis;
    const int k = face.axis, a = joseph_axis_a(k), b = joseph_axis_b(k), order[4] = {k, a, b, 3};
    for (int i = 0; i < 4; ++i) {
      const int j = order[i];
      const double one = beam == Beam::fan ? (j == 3 ? 1.0 : 0.0) : m(2, j);  // what v is divided by
      picture.matrix[i] = single(m(0, j) - middle_u * m(2, j));
      picture.matrix[4 + i] = single(m(1, j) - middle_v * one);
      picture.matrix[8 + i] = single(m(2, j));
    }
    for (int i = 0; i < 3; ++i) {
      const int j = order[i];
      picture.direction[i][0] = single(d[j][0] + middle_u * d[j][1] + middle_v * d[j][2]);
      picture.direction[i][1] = single(d[j][1]);
      picture.direction[i][2] = single(d[j][2]);
      // Rays start where t = -1; those of a fan in the plane of their row.
      if (beam != Beam::parallel && !(beam == Beam::fan && j == 2)) picture.source[i] = single(p[j][0] - d[j][0]);
    }
    picture.slope_a = single(largest_slope(view, job.columns, job.rows, k, a));
    picture.slope_b = single(largest_slope(view, job.columns, job.rows, k, b));
    const auto term = [&](int axis, int change) -> PassTerm {
      if (beam == Beam::parallel) return {single(p[axis][change] - p[k][change] * d[axis][0] / d[k][0]), 0.0f, 0.0f};
      if (beam == Beam::fan && axis == 2) return {single(p[axis][change]), 0.0f, 0.0f};
      return {0.0f, single(d[axis][change]), single(-d[k][change])};
    };
    picture.a_u = term(a, 1);
    picture.a_v = term(a, 2);
    picture.b_u = term(b, 1);
    picture.b_v = term(b, 2);
    pictures.push_back(picture);
  }
  return pictures;
}

// All that is asked of a face is a quotient of what is affine over the grid or the rows, and whose lower part changes
// no sign there: its largest value lies at a corner.
bool serves_voxel_columns(const JosephGrid& grid, const PictureFrame& frame, std::vector<PictureFace>& faces) {
  constexpr double surely_in_front = 0.01;  // of the distance from source to axis
  constexpr double steepest = 0.45;         // a row may rise by less than half a voxel, with half of one to spare
  constexpr double fastest = 0.5;           // of a ray's depth, over the pixels that see a voxel
  const bool parallel = frame.beam == Beam::parallel;
  for (PictureFace& face : faces) {
    if (face.axis == 2) return false;
    int side = 0, way = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const auto on_grid = [&](int k, bool upper) -> double { return (upper ? grid.size[k] : -1) - grid.middle[k]; };
      const double at[3] = {on_grid(face.axis, (corner & 1) != 0), on_grid(joseph_axis_a(face.axis), (corner & 2) != 0),
                            on_grid(2, (corner & 4) != 0)};
      if (!parallel && !(along(face.matrix + 8, at) > surely_in_front)) return false;
      double from_source[3];
      for (int k = 0; k < 3; ++k) from_source[k] = at[k] - static_cast<double>(face.source[k]);
      const double a_u = term_at(face.a_u, from_source[0], from_source[1]),
                   b_u = term_at(face.b_u, from_source[0], from_source[2]);
      const double depth_u = parallel ? 0 : static_cast<double>(face.direction[0][1]);
      if (!keeps_side(a_u, 1e-9, side)) return false;
      // Rows of fans are flat, and their b has no depth.
      if (!(std::abs(b_u) <= (frame.beam == Beam::fan ? 0 : steepest) * std::abs(a_u))) return false;
      if (!(std::abs(depth_u) <= fastest * std::abs(a_u))) return false;
    }
    for (const int row : {-frame.middle_row - 1, frame.detector_rows - frame.middle_row}) {
      const double per_z = frame.beam == Beam::cone ? static_cast<double>(face.matrix[10]) : 0;
      if (!keeps_side(static_cast<double>(face.matrix[6]) - row * per_z, 1e-4, way)) return false;
    }
    face.rows_rise = way > 0 ? 1 : 0;
  }
  return true;
}

}  // namespace lepus
