// SPDX-License-Identifier: Apache-2.0
// All that is asked of a face is a quotient of what is affine over the grid or the rows, and whose lower part changes
// no sign there: its largest value lies at a corner.
#include <cmath>

#include "device/cuda/ray_projector_faces.h"

namespace lepus::cuda {
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
    face.rows_rise = way > 0;
  }
  return true;
}

}  // namespace lepus::cuda
