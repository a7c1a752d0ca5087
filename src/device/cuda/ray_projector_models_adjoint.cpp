// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_models_adjoint.h"

#include <algorithm>

#include "device/cuda/device.h"

namespace lepus::cuda {

template <class Pixel>
PixelAdjoint<Pixel>::PixelAdjoint(const RayViews& job, const ScanGeometry& geometry, const VolumeGrid& grid,
                                  const JosephView* views)
    : grid_(job.grid),
      frame_(picture_frame(geometry)),
      faces_(job, views),
      pictures_(picture_faces(job, faces_.all(), matrices_from_middle(geometry, grid, job.grid), geometry.beam)) {}

template <class Pixel>
std::int64_t PixelAdjoint<Pixel>::work_bytes(std::int64_t views, std::int64_t rows) const {
  return Faces::work_bytes(views, face_bytes(rows));
}

template <class Pixel>
void PixelAdjoint<Pixel>::add(const ViewRows<const float>& lines, const SlabVoxels<float>& slab, Queue& queue) const {
  if (slab.slices.slices() == 0) return;
  faces_.in_batches(lines, face_bytes(lines.rows.size()), [&](const FaceSource& source, int first_face) {
    const ScratchScope scope(queue);
    const std::int64_t in_face = std::int64_t{source.columns} * source.rows;
    auto* const pixels = queue.scratch<Pixel>(source.faces * in_face);
    launch_model_pixels(source, pixels, stream_of(queue));
    for (int first = 0; first < source.faces; first += pictures_per_launch) {
      ModelAdjoint<Pixel> job{};
      job.faces = std::min(pictures_per_launch, source.faces - first);
      std::copy_n(pictures_.begin() + first_face + first, job.faces, job.face);
      job.frame = frame_;
      job.frame.first_row = source.first_row;
      job.frame.rows = source.rows;
      job.pixels = pixels + first * in_face;
      job.grid = grid_;
      job.voxels = slab.voxels;
      job.z0 = static_cast<int>(slab.slices.z0);
      job.z1 = static_cast<int>(slab.slices.z1);
      launch_model_adjoint(job, stream_of(queue));
    }
  });
}

template class PixelAdjoint<SiddonPixel>;
template class PixelAdjoint<FootprintPixel>;

}  // namespace lepus::cuda
