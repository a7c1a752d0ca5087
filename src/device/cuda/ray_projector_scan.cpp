// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_scan.h"

#include "geometry/camera.h"

namespace lepus::cuda {

std::vector<Face> faces_of(const ForwardJob& job) {
  std::vector<Face> faces;
  ForwardJob one;
  one.grid = job.grid;
  one.columns = job.columns;
  one.rows = job.rows;
  for (std::size_t view = 0; view < job.views.size(); ++view) {
    one.views = {job.views[view]};
    for (const int axis : axes_of(one)) faces.push_back({static_cast<int>(view), axis});
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

std::vector<PictureFace> picture_faces(const ForwardJob& job, const std::vector<Face>& faces,
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

}  // namespace lepus::cuda
