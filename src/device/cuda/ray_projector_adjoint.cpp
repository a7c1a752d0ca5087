// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_adjoint.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"

namespace lepus::cuda {
namespace {

// Where the ray of a pixel passes plane i on `axis`.
struct Passing {
  double a, b;
};
Passing passing(const JosephView& view, int axis, double u, double v, double plane) {
  double p[3], d[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = view.point[k][0] + u * view.point[k][1] + v * view.point[k][2];
    d[k] = view.direction[k][0] + u * view.direction[k][1] + v * view.direction[k][2];
  }
  const double t = (plane - p[axis]) / d[axis];
  const int a = joseph_axis_a(axis), b = joseph_axis_b(axis);
  return {p[a] + t * d[a], p[b] + t * d[b]};
}

// The columns [first, last) between which a face has rays, by its middle row.
struct ColumnRange {
  std::int64_t first = 0, last = 0;
};
ColumnRange columns_of(const RayViews& job, const JosephView& view, int axis) {
  ColumnRange range{job.columns, 0};
  const auto v = static_cast<double>(job.rows / 2);
  for (std::int64_t u = 0; u < job.columns; ++u) {
    if (main_axis_ray(view, static_cast<double>(u), v).axis != axis) continue;
    range.first = std::min(range.first, u);
    range.last = u + 1;
  }
  return range;
}

}  // namespace

JosephAdjoint::JosephAdjoint(const RayViews& job, const ScanGeometry& geometry, const VolumeGrid& grid,
                             const JosephView* views)
    : grid_(job.grid), frame_(picture_frame(geometry)), columns_(job.columns), rows_(job.rows), faces_(job, views) {
  const std::vector<Matrix34> matrices = matrices_from_middle(geometry, grid, job.grid);
  by_columns_ = look_for_columns(job, matrices);
  if (by_columns_) return;
  pictures_ = picture_faces(job, faces_.all(), matrices, geometry.beam);
  by_voxel_columns_ = serves_voxel_columns(grid_, frame_, pictures_);
}

// Detector columns are parallel to z where the place that a ray passes a plane at does not change along them, and the
// matrix sees nothing of z in u and w. Lanes run along z, so there must be slices for them.
bool JosephAdjoint::look_for_columns(const RayViews& job, const std::vector<Matrix34>& matrices) {
  constexpr int enough_slices = 12;
  constexpr double negligible = 1e-6;       // of a voxel
  constexpr double surely_in_front = 0.01;  // of the distance from source to axis
  if (job.grid.size[2] < enough_slices) return false;
  double smallest_da = 1e300, smallest_step = 1e300;
  int forward = 0;
  std::vector<ColumnMap> maps;
  for (const Face& face : faces_.all()) {
    if (face.axis == 2) return false;
    const JosephView& view = job.views[static_cast<std::size_t>(face.view)];
    const Matrix34& m = matrices[static_cast<std::size_t>(face.view)];
    ColumnMap map{};
    for (int k = 0; k < 3; ++k) {
      const int from = k < 2 ? k : 3;
      map.u[k] = static_cast<float>(m(0, from));
      map.w[k] = static_cast<float>(m(2, from));
    }
    maps.push_back(map);
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner % 2 ? job.grid.size[0] : -1) - job.grid.middle[0];
      const double y = (corner / 2 ? job.grid.size[1] : -1) - job.grid.middle[1];
      const double w = m(2, 0) * x + m(2, 1) * y + m(2, 3);
      if (!(w > surely_in_front)) return false;
      if (std::abs(m(0, 2)) * job.grid.size[2] > negligible * w || std::abs(m(2, 2)) * job.grid.size[2] > negligible)
        return false;
    }
    const ColumnRange range = columns_of(job, view, face.axis);
    for (const std::int64_t column : {range.first, range.last - 1}) {
      if (range.first >= range.last) break;
      for (const int i : {0, job.grid.size[face.axis] - 1}) {
        const auto u = static_cast<double>(column), plane = static_cast<double>(i - job.grid.middle[face.axis]);
        const auto last_row = static_cast<double>(job.rows - 1);
        const Passing top = passing(view, face.axis, u, 0, plane),
                      bottom = passing(view, face.axis, u, last_row, plane);
        const Passing next = passing(view, face.axis, u, 1, plane), side = passing(view, face.axis, u + 1, 0, plane);
        if (!(std::abs(top.a - bottom.a) < negligible)) return false;
        const double step = next.b - top.b;
        const int way = step > 0 ? 1 : -1;
        if (forward != 0 && way != forward) return false;
        forward = way;
        smallest_da = std::min(smallest_da, std::abs(side.a - top.a));
        smallest_step = std::min(smallest_step, std::abs(step));
      }
    }
  }
  constexpr double rounding = 0.05;  // of a column or row: that many more may lie within
  const double across = 2 / smallest_da + 1 + rounding, along = std::ceil(1 / smallest_step + rounding);
  if (!(across < maximum_slots) || !(along <= maximum_rows_per_cell)) return false;
  slots_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(across)));
  rows_per_cell_ = static_cast<int>(along);
  forward_ = forward < 0 ? -1 : 1;
  maps_ = on_device(maps.data(), static_cast<std::int64_t>(maps.size()), "copy maps of columns to the device");
  return true;
}

std::int64_t JosephAdjoint::work_bytes(std::int64_t views, std::int64_t rows) const {
  return Faces::work_bytes(views, columns_ * rows * 4) +
         (by_columns_ ? Faces::work_bytes(views, columns_ * std::int64_t{sizeof(ColumnRays)}) : 0);
}

void JosephAdjoint::add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const {
  if (slab.slices.slices() == 0) return;
  faces_.in_batches(lines, columns_ * lines.rows.size() * 4, [&](const FaceSource& source, int first_face) {
    if (by_columns_)
      add_columns(source, first_face, slab, queue);
    else
      add_pictures(source, first_face, slab, queue);
  });
}

void JosephAdjoint::add_columns(const FaceSource& source, int first_face, const SlabVoxels<float>& slab,
                                Queue& queue) const {
  const ScratchScope scope(queue);
  const std::int64_t columns = std::int64_t{source.faces} * source.columns;
  auto* const values = queue.scratch<float>(columns * source.rows);
  auto* const rays = queue.scratch<ColumnRays>(columns);
  const int middle = static_cast<int>(rows_ / 2), low = source.first_row - middle;
  ColumnRows rows{.middle = middle, .forward = forward_, .low = low, .high = low + source.rows};
  if (forward_ < 0) {
    rows.low = 1 - low - source.rows;
    rows.high = 1 - low;
  }
  launch_face_columns(source, rows, values, stream_of(queue));
  launch_column_rays(source, rows, rays, stream_of(queue));
  launch_column_adjoint({.face = source.face,
                         .map = maps_.data() + first_face,
                         .rays = rays,
                         .values = values,
                         .rows = rows,
                         .faces = source.faces,
                         .columns = source.columns,
                         .slots = slots_,
                         .rows_per_cell = rows_per_cell_,
                         .grid = grid_,
                         .voxels = slab.voxels,
                         .z0 = static_cast<int>(slab.slices.z0),
                         .z1 = static_cast<int>(slab.slices.z1)},
                        stream_of(queue));
}

void JosephAdjoint::add_pictures(const FaceSource& source, int first_face, const SlabVoxels<float>& slab,
                                 Queue& queue) const {
  const ScratchScope scope(queue);
  const std::int64_t pixels = std::int64_t{source.columns} * source.rows;
  auto* const values = queue.scratch<float>(source.faces * pixels);
  launch_face_pictures(source, values, stream_of(queue));
  for (int first = 0; first < source.faces; first += pictures_per_launch) {
    PictureAdjoint job{};
    job.faces = std::min(pictures_per_launch, source.faces - first);
    std::copy_n(pictures_.begin() + first_face + first, job.faces, job.face);
    job.values = values + first * pixels;
    job.frame = frame_;
    job.frame.first_row = source.first_row;
    job.frame.rows = source.rows;
    job.grid = grid_;
    job.voxels = slab.voxels;
    job.z0 = static_cast<int>(slab.slices.z0);
    job.z1 = static_cast<int>(slab.slices.z1);
    if (by_voxel_columns_)
      launch_picture_columns(job, stream_of(queue));
    else
      launch_picture_adjoint(job, stream_of(queue));
  }
}

}  // namespace lepus::cuda
