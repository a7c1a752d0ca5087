// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_scan.h"

#include <algorithm>

#include "core/format.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/queue_share.h"
#include "geometry/camera.h"
#include "project/ray_views.h"
#include <lepus/error.h>

namespace lepus::cuda {

namespace {

constexpr std::int64_t batch_bytes = std::int64_t{512} << 20;

void require_texture_size(const JosephGrid& grid) {
  constexpr int maximum = layers_per_sheet * maximum_sheets;
  for (int k = 0; k < 3; ++k)
    if (grid.size[k] > maximum)
      throw Error(ErrorKind::unsupported,
                  {.what = "the volume is too large for a texture",
                   .where = {},
                   .why = format("{} voxels along {}, at most {}", grid.size[k], "xyz"[k], maximum),
                   .hint = "use the backend cpu, or --precision exact"});
}

}  // namespace

Faces::Faces(const RayViews& job, const JosephView* views) : views_(views), grid_(job.grid), columns_(job.columns) {
  for (std::size_t view = 0; view < job.views.size(); ++view) {
    const std::array<bool, 3> along = axes_along(job.views[view], job.columns, job.rows);
    for (int axis = 0; axis < 3; ++axis)
      if (along[static_cast<std::size_t>(axis)]) faces_.push_back({static_cast<int>(view), axis});
  }
  on_device_ = on_device(faces_.data(), static_cast<std::int64_t>(faces_.size()), "copy faces to the device");
}

void Faces::in_batches(const ViewRows<const float>& lines, std::int64_t bytes_per_face,
                       const std::function<void(const FaceSource&, int)>& work) const {
  if (lines.views == 0 || lines.rows.size() == 0) return;
  const auto by_view = [](const Face& face, std::int64_t view) { return face.view < view; };
  const auto end = std::lower_bound(faces_.begin(), faces_.end(), lines.first_view + lines.views, by_view);
  auto first = std::lower_bound(faces_.begin(), faces_.end(), lines.first_view, by_view);
  const std::ptrdiff_t at_once = std::max<std::int64_t>(1, batch_bytes / bytes_per_face);
  for (; first != end; first += std::min(at_once, end - first)) {
    const auto number = static_cast<int>(first - faces_.begin());
    work({.face = on_device_.data() + number,
          .view = views_,
          .grid = grid_,
          .values = lines.values,
          .faces = static_cast<int>(std::min(at_once, end - first)),
          .first_view = static_cast<int>(lines.first_view),
          .columns = static_cast<int>(columns_),
          .first_row = static_cast<int>(lines.rows.first),
          .rows = static_cast<int>(lines.rows.size())},
         number);
  }
}

std::int64_t Faces::work_bytes(std::int64_t views, std::int64_t bytes_per_face) {
  constexpr std::int64_t faces_per_view = 3;  // at most
  return std::min(std::max(batch_bytes, bytes_per_face), views * faces_per_view * bytes_per_face);
}

ScanRays::ScanRays(const RayProjectorSetup& setup, Weights weights)
    : weights_(weights),
      job_(ray_views(*setup.geometry, setup.grid)),
      axes_(axes_of(job_)),
      views_(on_device(job_.views.data(), static_cast<std::int64_t>(job_.views.size()), "copy views to the device")) {
  if (weights == Weights::texture) require_texture_size(job_.grid);
}

void ScanRays::project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue,
                       const std::function<void(const RaysOnDevice&, const PlanesOnDevice&)>& launch) {
  if (lines.views == 0 || lines.rows.size() == 0) return;
  const std::int64_t slices = slab.slices.slices();
  if (slices == 0) {  // no ray of the piece meets the volume
    const std::int64_t bytes = lines.views * lines.rows.size() * job_.columns * std::int64_t{sizeof(float)};
    check(cudaMemsetAsync(lines.values, 0, static_cast<std::size_t>(bytes), stream_of(queue)), "clear line integrals");
    return;
  }
  bool filled = slab.as_before;
  const auto fits = [&](const VolumePlanes& planes) { return planes.fits(job_.grid, axes_, weights_, slices); };
  if (!planes_ || planes_queue_ != queue.id() || !fits(*planes_)) {
    static QueueShare<VolumePlanes> share;
    filled = false;
    queue.wait();  // kernels that read the old ones
    planes_.reset();
    planes_queue_ = queue.id();
    planes_ =
        share.get(queue.id(), fits, [&] { return std::make_shared<VolumePlanes>(job_.grid, axes_, weights_, slices); });
  }
  launch({.view = views_.data() + lines.first_view,
          .views = static_cast<int>(lines.views),
          .columns = static_cast<int>(job_.columns),
          .first_row = static_cast<int>(lines.rows.first),
          .rows = static_cast<int>(lines.rows.size()),
          .sums = lines.values},
         filled ? planes_->filled() : planes_->fill(slab.voxels, slab.slices, stream_of(queue)));
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

}  // namespace lepus::cuda
